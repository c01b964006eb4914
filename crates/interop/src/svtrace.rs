//! svtrace's record files. Each line is an integer of microseconds: the time of a sample from reception to hand-over inside one kernel. A file has no
//! time, no stream, no smpCnt and no mark of a loss, so a whole file is one window.

use crate::logger::lines::Lines;
use model::{Counter, Event, EventKind, SeriesSpec, kind};
use run::{ReadSeries, Thresholds};
use std::io::Read;
use store::{Batch, RunWriter, StoreError};

/// Reasons why a file cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum SvtraceError {
    /// The file cannot be read.
    #[error("{0}: {1}")]
    Io(String, String),
    /// A line that is not a number.
    #[error("{file}: line {line} is not a whole number of microseconds")]
    Line {
        /// The file.
        file: String,
        /// Number of the line.
        line: u64,
    },
    /// The file is empty.
    #[error("{0}: no latency in it")]
    Empty(String),
    /// Error of the run file.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// True if a text starts like a record file.
pub fn is_record(text: &[u8]) -> bool {
    let mut lines = text.split(|octet| *octet == b'\n');
    lines.next().is_some_and(|line| microseconds(line).is_some())
}

/// Imports the file as the series `hop/svtrace` of `run`; returns the number of samples.
///
/// # Errors
/// The file cannot be read, a line is not a number, or the run cannot be written.
pub fn import<R: Read>(
    file: &str,
    source: R,
    thresholds: &Thresholds,
    run: &mut RunWriter,
) -> Result<u64, SvtraceError> {
    let mut open = ReadSeries::open(run, spec(file), thresholds, 0)?;
    let series = open.series();
    let mut lines = Lines::new(source);
    let mut samples = 0;
    while let Some(line) = lines
        .next()
        .map_err(|error| SvtraceError::Io(file.into(), error.to_string()))?
    {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let Some(us) = microseconds(line) else {
            return Err(SvtraceError::Line {
                file: file.into(),
                line: lines.number,
            });
        };
        // svtrace truncates to whole microseconds: this is the largest possible value.
        open.sample(0, us * 1_000 + 999, samples);
        samples += 1;
    }
    if samples == 0 {
        return Err(SvtraceError::Empty(file.into()));
    }
    let mut batch = Batch::default();
    open.close(1, &mut batch);
    batch.events.push(Event {
        at_ns: 0,
        since_ns: None,
        kind: EventKind::Note,
        series: Some(series),
        text: format!(
            "imported from {file}: svtrace, {samples} samples in whole microseconds, each counted as the longest that \
             it can have been. Such a file does not say when they were taken, of which stream they are, or how many \
             were lost"
        ),
    });
    batch.events.push(Event {
        at_ns: 0,
        since_ns: None,
        kind: EventKind::Incomplete,
        series: Some(series),
        text:
            "svtrace's files do not show losses; one frame lost at the wrap of smpCnt shifts every later value by a turn"
                .into(),
    });
    run.write(&batch)?;
    Ok(samples)
}

fn spec(file: &str) -> SeriesSpec {
    let spec = SeriesSpec {
        settings: vec![
            ("tool".into(), "svtrace --record".into()),
            ("file".into(), file.into()),
            ("resolution".into(), "1 us".into()),
        ],
        ..SeriesSpec::of(
            &kind::HOP,
            "svtrace",
            "tpacket_rcv -> consume_skb of the thread that hands over, measured by svtrace",
        )
    };
    spec.not_counting(&[Counter::Lost, Counter::Duplicate, Counter::Reordered])
}

fn microseconds(line: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(line).ok()?.trim_ascii();
    text.parse::<i64>()
        .ok()
        .filter(|us| (-1_000_000_000_000..1_000_000_000_000).contains(us))
}

#[cfg(test)]
mod tests {
    use super::{SvtraceError, import, is_record};
    use model::{RunInfo, RunState};
    use run::Thresholds;
    use store::{RunFile, RunWriter};
    use units::Realtime;

    fn imported(text: &str) -> Result<(u64, RunFile), SvtraceError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.triptime");
        let info = RunInfo {
            id: "1".into(),
            command: "import".into(),
            arguments: Vec::new(),
            tool_version: "0.1.0".into(),
            started: Realtime::from_ns(0),
            window_ns: 1,
        };
        let mut run = RunWriter::create(&path, &info, None).unwrap();
        let samples = import(
            "x.record",
            text.as_bytes(),
            &Thresholds::new(|name| (name == "hop/svtrace").then_some(30_000)),
            &mut run,
        )?;
        run.finish(RunState::Complete, 1).unwrap();
        Ok((samples, RunFile::open(&path).unwrap()))
    }

    #[test]
    fn every_line_is_a_sample() {
        let (samples, run) = imported("20\n35\n1000020\n\n21\n").unwrap();
        assert_eq!(samples, 4);
        let series = run.series().unwrap();
        let totals = run.totals(series[0].0).unwrap();
        assert_eq!((totals.min_ns, totals.max_ns), (Some(20_999), Some(1_000_020_999)));
        assert_eq!(series[0].1.threshold_ns, Some(30_000));
        assert_eq!(totals.counters.overflow, 2, "over the threshold of its name");
    }

    #[test]
    fn a_line_that_is_no_number_is_named() {
        let error = imported("20\nBPF\n").unwrap_err().to_string();
        assert!(error.contains("line 2"), "{error}");
        assert!(imported("").is_err());
        assert!(is_record(b"17\n18\n") && !is_record(b"000001 000002\n") && !is_record(b"{"));
    }
}
