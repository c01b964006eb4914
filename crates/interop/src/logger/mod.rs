//! sv_timestamp_logger's text (`iteration:svID:smpCnt:timestamp_us`), alone or in pairs, as a recording of ours.
//!
//! The logger's pass number is not used: it is one for all streams and goes up at any step back. Samples are numbered by their own
//! streams' counters. Stamps are in microseconds, as the file has them; a difference of two is known to a microsecond.
//!
//! A publisher's and a subscriber's file give the latency of every sample, found in both by stream, count and time. Whether that
//! difference is a latency depends on the clocks: it is judged only when their relation was stated.

pub(crate) mod lines;
mod log;
mod pair;
#[cfg(test)]
mod tests;
pub(crate) mod windows;

use log::{Log, Logged};
use pair::{Pairing, Publisher};
use recording::{Record, SegmentError, SegmentWriter, StreamInfo};
use std::io::Read;
use store::model::{Event, EventKind, SeriesClock, SeriesSpec};
use store::{Batch, RunWriter, SealedSegment, StoreError};
use units::format_ns;
use windows::Open;

/// Records of a segment: what a packed column holds best.
const RECORDS: usize = 1 << 18;

/// How the clocks of the two files relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// One clock.
    SameHost,
    /// Two clocks that agree to this many ns.
    Synchronised(u64),
    /// Not stated.
    Unknown,
}

/// How a file is to be taken.
#[derive(Debug, Clone)]
pub struct LoggerOptions {
    /// Samples a second of every stream; learned where not given.
    pub rate: Option<u32>,
    /// Relation of the clocks.
    pub clock: Relation,
    /// Longest time between a sample's two stamps.
    pub within_ns: u64,
    /// Start of the run in ns since 1970.
    pub started_ns: i64,
    /// Length of a window.
    pub window_ns: u64,
}

/// Why files cannot be made a recording.
#[derive(Debug, thiserror::Error)]
pub enum LoggerError {
    /// A file cannot be read.
    #[error("{0}: {1}")]
    Io(String, String),
    /// Nothing in it.
    #[error("{0}: no line of sv_timestamp_logger (iteration:svID:smpCnt:timestamp_us) in it; {1} other lines")]
    Empty(String, u64),
    /// More streams than a recording can have.
    #[error("{0}: more than 4096 svIDs: is it the right file?")]
    TooManyStreams(String),
    /// No sample was found in both files.
    #[error(
        "no sample of {subscriber} is in {publisher} within {}: {why}", format_ns(*within_ns as f64)
    )]
    NoPairs {
        /// The subscriber's file.
        subscriber: String,
        /// The publisher's file.
        publisher: String,
        /// The window.
        within_ns: u64,
        /// What to look at.
        why: String,
    },
    /// The run file.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A segment.
    #[error("cannot pack the samples: {0}")]
    Segment(#[from] SegmentError),
}

/// A file and its name.
pub struct LoggerFile<R> {
    /// Its name, for messages.
    pub name: String,
    /// Its content.
    pub source: R,
}

/// What was made of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Imported {
    /// Length of the run in ns.
    pub duration_ns: u64,
    /// Samples in the recording.
    pub samples: u64,
    /// Samples of the subscriber's file that are not in the publisher's.
    pub unpaired: u64,
    /// Samples that the subscriber's file has again.
    pub duplicates: u64,
}

/// When the first sample of a logger's text was stamped, in ns since 1970; `None` when it is no such text.
pub fn first_stamp_ns(text: &[u8]) -> Option<i64> {
    let mut lines = text.split(|octet| *octet == b'\n');
    lines.find_map(lines::parse).map(|line| line.at_us * 1_000)
}

/// Makes one logger's file a recording in `run`.
///
/// # Errors
/// When the file cannot be read or has no line, or the run cannot be written.
pub fn import<R: Read>(
    file: LoggerFile<R>,
    options: &LoggerOptions,
    run: &mut RunWriter,
) -> Result<Imported, LoggerError> {
    let mut log = Log::new(file.name, file.source, options.rate);
    let mut maker = Maker::new(&["application"], "spacing", options);
    while let Some(logged) = log.next()? {
        let stamps = [Some(logged.at_ns), None, None, None];
        maker.sample(&log, &logged, (logged.number, logged.flags), stamps, run)?;
    }
    if log.samples == 0 {
        return Err(LoggerError::Empty(log.file, log.malformed));
    }
    maker.note(
        EventKind::Note,
        format!(
            "imported from {}: sv_timestamp_logger, stamps in whole microseconds, read by the application",
            log.file
        ),
    );
    maker.malformed(&log);
    maker.finish(run)
}

/// Makes a publisher's and a subscriber's file one recording in `run`.
///
/// # Errors
/// When a file cannot be read or has no line, no sample is in both, or the run cannot be written.
pub fn import_pair<R: Read>(
    publisher: LoggerFile<R>,
    subscriber: LoggerFile<R>,
    options: &LoggerOptions,
    run: &mut RunWriter,
) -> Result<Imported, LoggerError> {
    let mut log = Log::new(subscriber.name, subscriber.source, options.rate);
    let window_ns = i64::try_from(options.within_ns).unwrap_or(i64::MAX);
    let mut sent = Publisher::new(Log::new(publisher.name, publisher.source, options.rate), window_ns);
    let family = if options.clock == Relation::Unknown {
        ""
    } else {
        "latency"
    };
    let mut maker = Maker::new(&["publisher", "subscriber"], family, options);
    let mut streams: Vec<Option<usize>> = Vec::new();
    let mut first_ns = None;
    while let Some(logged) = log.next()? {
        first_ns.get_or_insert(logged.at_ns);
        sent.read_to(logged.at_ns)?;
        if streams.len() <= logged.stream {
            streams.resize(logged.stream + 1, None);
        }
        if streams[logged.stream].is_none() {
            let name = &log.streams[logged.stream].name;
            streams[logged.stream] = sent.log.streams.iter().position(|stream| stream.name == *name);
        }
        match sent.pair(streams[logged.stream], logged.smp_cnt, logged.at_ns) {
            Pairing::Sent {
                at_ns,
                number,
                flags,
                is_first,
            } => {
                maker.imported.duplicates += u64::from(!is_first);
                let stamps = [Some(at_ns), Some(logged.at_ns), None, None];
                maker.sample(&log, &logged, (number, flags), stamps, run)?;
            }
            Pairing::Unpaired => maker.imported.unpaired += 1,
        }
    }
    if log.samples == 0 {
        return Err(LoggerError::Empty(log.file, log.malformed));
    }
    sent.read_to(i64::MAX)?;
    if maker.imported.samples == 0 {
        return Err(no_pairs(&log, &sent, first_ns, options));
    }
    maker.said_of_pair(&log, &sent, options);
    maker.finish(run)
}

fn no_pairs<R: Read>(log: &Log<R>, sent: &Publisher<R>, first_ns: Option<i64>, options: &LoggerOptions) -> LoggerError {
    let common = log
        .streams
        .iter()
        .filter(|stream| sent.log.streams.iter().any(|other| other.name == stream.name));
    let why = if sent.log.samples == 0 {
        format!("{} has no line of sv_timestamp_logger", sent.log.file)
    } else if common.count() == 0 {
        "they have no svID in common".to_owned()
    } else {
        let apart = first_ns
            .zip(sent.first_ns)
            .map_or(0, |(ours, theirs)| ours.saturating_sub(theirs));
        format!(
            "the first sample of one is {} after that of the other: do the clocks differ (TAI and UTC: 37 s)?",
            format_ns(apart as f64)
        )
    };
    LoggerError::NoPairs {
        subscriber: log.file.clone(),
        publisher: sent.log.file.clone(),
        within_ns: options.within_ns,
        why,
    }
}

/// Makes records, segments and windows of samples.
struct Maker<'a> {
    options: &'a LoggerOptions,
    family: &'static str,
    segment: SegmentWriter,
    /// Rates as the segments have them.
    rates: Vec<Option<u32>>,
    series: Vec<Open>,
    last_ns: Vec<Option<i64>>,
    /// Highest number of each stream, for what is missing.
    next_number: Vec<Option<u64>>,
    window_end_ns: u64,
    batch: Batch,
    imported: Imported,
}

impl<'a> Maker<'a> {
    fn new(points: &[&str], family: &'static str, options: &'a LoggerOptions) -> Self {
        Self {
            options,
            family,
            segment: SegmentWriter::new(points),
            rates: Vec::new(),
            series: Vec::new(),
            last_ns: Vec::new(),
            next_number: Vec::new(),
            window_end_ns: options.window_ns,
            batch: Batch::default(),
            imported: Imported::default(),
        }
    }

    fn sample<R: Read>(
        &mut self,
        log: &Log<R>,
        logged: &Logged,
        (number, flags): (u64, u8),
        stamps: [Option<i64>; recording::MAX_POINTS],
        run: &mut RunWriter,
    ) -> Result<(), LoggerError> {
        self.know(log, logged.stream, run)?;
        // The logger's streams are fewer than a recording can have, which fits.
        let stream = logged.stream as u16;
        self.segment.push(&Record {
            stream,
            samples: 1,
            flags,
            number,
            stamps,
        })?;
        self.imported.samples += 1;
        if self.segment.records() >= RECORDS {
            self.seal(run)?;
        }
        let at_ns = u64::try_from(logged.at_ns.saturating_sub(self.options.started_ns)).unwrap_or(0);
        self.imported.duration_ns = self.imported.duration_ns.max(at_ns);
        if at_ns >= self.window_end_ns {
            self.close_windows(at_ns, run)?;
        }
        self.window(logged, number, flags, stamps, at_ns);
        Ok(())
    }

    /// Adds the sample to its stream's series.
    fn window(
        &mut self,
        logged: &Logged,
        number: u64,
        flags: u8,
        stamps: [Option<i64>; recording::MAX_POINTS],
        at_ns: u64,
    ) {
        let last = self.last_ns[logged.stream].replace(logged.at_ns);
        let next = self.next_number[logged.stream];
        let Some(open) = self.series.get_mut(logged.stream) else {
            return;
        };
        let value_ns = match (stamps[0], stamps[1]) {
            (Some(before), Some(after)) => Some(after - before),
            _ => last.map(|last| logged.at_ns - last),
        };
        let missing = next.map_or(0, |next| number.saturating_sub(next));
        if flags == 0 && missing > 0 {
            let counters = open.counters();
            counters.lost += missing;
            counters.expected += missing;
        }
        if flags == 0 && next.is_some_and(|next| number < next) {
            // Late or double: the recording tells which.
            open.counters().reordered += 1;
        }
        if let Some(value_ns) = value_ns {
            open.sample(at_ns, value_ns, u64::from(logged.smp_cnt));
        }
        let after = number.saturating_add(1);
        self.next_number[logged.stream] = Some(if flags == 0 {
            after.max(next.unwrap_or(0))
        } else {
            after
        });
    }

    /// Makes a stream known that is new, or whose rate was just learned.
    fn know<R: Read>(&mut self, log: &Log<R>, stream: usize, run: &mut RunWriter) -> Result<(), LoggerError> {
        let rate = log.streams[stream].sequence.rate();
        if self.segment.knows(stream as u16) && self.rates[stream] == rate {
            return Ok(());
        }
        while self.rates.len() < log.streams.len() {
            let name = log.name(self.rates.len());
            self.rates.push(None);
            self.last_ns.push(None);
            self.next_number.push(None);
            if !self.family.is_empty() {
                let series = run.add_series(&self.spec(&name, &log.file))?;
                self.series.push(Open::new(series));
            }
        }
        self.rates[stream] = rate;
        let info = StreamInfo {
            rate,
            ..StreamInfo::named(stream as u16, log.name(stream))
        };
        Ok(self.segment.set_stream(info)?)
    }

    fn spec(&self, name: &str, file: &str) -> SeriesSpec {
        let what = match self.family {
            "latency" => "publisher's stamp -> subscriber's stamp",
            _ => "application's stamp of one sample -> that of the next",
        };
        SeriesSpec {
            name: format!("{}/{name}", self.family),
            what: what.into(),
            clock: SeriesClock::Realtime,
            interval_ns: None,
            threshold_ns: None,
            settings: vec![
                ("tool".into(), "sv_timestamp_logger".into()),
                ("file".into(), file.into()),
                ("resolution".into(), "1 us".into()),
                ("clock".into(), clock_words(self.options.clock)),
                (
                    "uncertainty".into(),
                    format!("{} ns", uncertainty_ns(self.options.clock)),
                ),
            ],
        }
    }

    fn close_windows(&mut self, at_ns: u64, run: &mut RunWriter) -> Result<(), LoggerError> {
        let end_ns = self.window_end_ns;
        self.series
            .iter_mut()
            .for_each(|open| open.close(end_ns, &mut self.batch));
        let windows = at_ns / self.options.window_ns;
        if windows * self.options.window_ns > end_ns {
            // Nothing came for whole windows: the next one starts where something did.
            let start_ns = windows * self.options.window_ns;
            self.series
                .iter_mut()
                .for_each(|open| open.close(start_ns, &mut self.batch));
        }
        self.window_end_ns = (windows + 1) * self.options.window_ns;
        Ok(run.write(&std::mem::take(&mut self.batch))?)
    }

    fn seal(&mut self, run: &mut RunWriter) -> Result<(), LoggerError> {
        if self.segment.records() == 0 {
            return Ok(());
        }
        let (first_ns, last_ns) = self.segment.span_ns().unwrap_or_default();
        let samples = self.segment.samples();
        let octets = self.segment.seal()?;
        Ok(run.add_segment(&SealedSegment {
            first_ns,
            last_ns,
            samples,
            octets,
        })?)
    }

    fn note(&mut self, kind: EventKind, text: String) {
        self.batch.events.push(Event {
            at_ns: 0,
            kind,
            series: None,
            text,
        });
    }

    fn malformed<R: Read>(&mut self, log: &Log<R>) {
        if log.malformed > 0 {
            let text = format!(
                "{}: {} lines are none of sv_timestamp_logger, the first is line {}",
                log.file, log.malformed, log.first_malformed
            );
            self.note(EventKind::Incomplete, text);
        }
    }

    fn said_of_pair<R: Read>(&mut self, log: &Log<R>, sent: &Publisher<R>, options: &LoggerOptions) {
        let within = format_ns(options.within_ns as f64);
        self.note(
            EventKind::Note,
            format!(
                "imported from {} and {}: {} samples found in both by stream, count and a time within {within}; clocks: {}",
                sent.log.file,
                log.file,
                self.imported.samples - self.imported.duplicates,
                clock_words(options.clock)
            ),
        );
        if options.clock == Relation::Unknown {
            let text = "the relation of the clocks was not stated (--clock): the recording shows the difference of the two stamps, \
                        and nothing is judged by it";
            self.note(EventKind::Note, text.into());
        }
        if self.imported.unpaired > 0 {
            let text = format!(
                "{}: {} samples are not in {} within {within}: they have no latency",
                log.file, self.imported.unpaired, sent.log.file
            );
            self.note(EventKind::Incomplete, text);
        }
        let missing: u64 = sent
            .log
            .streams
            .iter()
            .map(|stream| u64::from(stream.sequence.counters().lost > 0))
            .sum();
        if missing > 0 {
            let text = format!(
                "{}: {missing} streams miss samples there already: they count as lost, too",
                sent.log.file
            );
            self.note(EventKind::Note, text);
        }
        self.malformed(log);
        self.malformed(&sent.log);
    }

    fn finish(mut self, run: &mut RunWriter) -> Result<Imported, LoggerError> {
        self.seal(run)?;
        let end_ns = self.imported.duration_ns + 1;
        self.series
            .iter_mut()
            .for_each(|open| open.close(end_ns, &mut self.batch));
        run.write(&self.batch)?;
        Ok(self.imported)
    }
}

/// How well a difference of two stamps is known: both were cut to whole microseconds, and the clocks may differ.
fn uncertainty_ns(clock: Relation) -> u64 {
    match clock {
        Relation::SameHost | Relation::Unknown => 1_000,
        Relation::Synchronised(ns) => ns.saturating_add(1_000),
    }
}

fn clock_words(clock: Relation) -> String {
    match clock {
        Relation::SameHost => "one clock".into(),
        Relation::Synchronised(ns) => format!("two clocks that agree to {}", format_ns(ns as f64)),
        Relation::Unknown => "relation not stated".into(),
    }
}
