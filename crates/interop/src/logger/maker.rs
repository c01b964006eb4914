//! Converts a logger's samples to records, segments and windows.

use super::log::{Log, Logged};
use super::pair::Publisher;
use super::{Imported, LoggerError, LoggerOptions, Relation};
use model::{Counter, Event, EventKind, Kind, SeriesClock, SeriesSpec, kind};
use recording::{Record, SegmentWriter, StreamInfo, flag};
use run::ReadSeries;
use run::sealing;
use std::io::Read;
use store::{Batch, RunWriter};
use units::Ns;
use wire::sequence::{Accounting, Settled};

/// Converts samples to records, segments and windows.
pub(super) struct Maker<'a> {
    options: &'a LoggerOptions,
    /// Kind of its series; `None` if no duration can be computed.
    kind: Option<&'static Kind>,
    segment: SegmentWriter,
    /// Rates for the segments.
    rates: Vec<Option<u32>>,
    series: Vec<ReadSeries>,
    last_ns: Vec<Option<i64>>,
    /// Highest number of each stream, to find missing samples.
    next_number: Vec<Option<u64>>,
    /// Counts of each stream of a single file.
    accounts: Vec<Accounting>,
    window_end_ns: u64,
    batch: Batch,
    pub(super) imported: Imported,
}

impl<'a> Maker<'a> {
    pub(super) fn new(points: &[&str], kind: Option<&'static Kind>, options: &'a LoggerOptions) -> Self {
        Self {
            options,
            kind,
            segment: SegmentWriter::new(points),
            rates: Vec::new(),
            series: Vec::new(),
            last_ns: Vec::new(),
            next_number: Vec::new(),
            accounts: Vec::new(),
            window_end_ns: options.window_ns,
            batch: Batch::default(),
            imported: Imported::default(),
        }
    }

    pub(super) fn sample<R: Read>(
        &mut self,
        log: &Log<R>,
        logged: &Logged,
        (number, flags): (u64, u8),
        stamps: recording::Instants,
        run: &mut RunWriter,
    ) -> Result<(), LoggerError> {
        self.know(log, logged.stream, run)?;
        // The logger has fewer streams than a recording can have.
        let stream = logged.stream as u16;
        let record = Record {
            stream,
            samples: 1,
            flags,
            number,
            stamps,
        };
        sealing::push::<LoggerError>(&mut self.segment, &record, run)?;
        self.imported.samples += 1;
        let at_ns = u64::try_from(logged.at_ns.saturating_sub(self.options.started_ns)).unwrap_or(0);
        self.imported.duration_ns = self.imported.duration_ns.max(at_ns);
        if at_ns >= self.window_end_ns {
            self.close_windows(at_ns, run)?;
        }
        self.window(logged, number, flags, stamps, at_ns);
        Ok(())
    }

    /// Adds the sample to its stream's series.
    fn window(&mut self, logged: &Logged, number: u64, flags: u8, stamps: recording::Instants, at_ns: u64) {
        let flags = flags & !flag::UNRATED;
        let last = self.last_ns[logged.stream].replace(logged.at_ns);
        let next = self.next_number[logged.stream];
        let by_number = self.is_of_a_pair();
        let Some(open) = self.series.get_mut(logged.stream) else {
            return;
        };
        let value_ns = match (stamps[0], stamps[1]) {
            (Some(before), Some(after)) => Some(after - before),
            _ => last.map(|last| logged.at_ns - last),
        };
        let missing = next.map_or(0, |next| number.saturating_sub(next));
        if by_number && flags == 0 && missing > 0 {
            let counters = open.counters();
            counters.lost += missing;
            counters.expected += missing;
        }
        if by_number && flags == 0 && next.is_some_and(|next| number < next) {
            // Late or duplicate: the recording shows which.
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

    /// Adds the outcomes of a stream's samples in one file, as decided by its sequence.
    pub(super) fn settle<R: Read>(&mut self, log: &Log<R>, stream: usize) {
        let counters = log.streams[stream].samples.sequence().counters();
        let accounting = &mut self.accounts[stream];
        if accounting.is_due(counters) {
            let settled = accounting.look(counters);
            self.count(stream, settled);
        }
    }

    /// The same at the end of the file.
    pub(super) fn settle_rest<R: Read>(&mut self, log: &Log<R>, stream: usize) {
        let counters = log.streams[stream].samples.sequence().counters();
        let settled = self.accounts[stream].last_look(counters);
        self.count(stream, settled);
    }

    fn count(&mut self, stream: usize, settled: Settled) {
        let Some(open) = self.series.get_mut(stream) else {
            return;
        };
        let counters = open.counters();
        counters.lost += settled.lost;
        counters.expected += settled.lost;
        counters.duplicate += settled.duplicates;
        counters.reordered += settled.out_of_order;
    }

    /// Counts as lost the samples that the publisher sent after the subscriber's last one, up to number `newest`.
    pub(super) fn settle_pair(&mut self, stream: usize, newest: Option<u64>) {
        let next = self.next_number.get(stream).copied().flatten();
        let Some((open, missing)) = self.series.get_mut(stream).zip(newest.zip(next)) else {
            return;
        };
        let lost = (missing.0 + 1).saturating_sub(missing.1);
        open.counters().lost += lost;
        open.counters().expected += lost;
    }

    /// Reports a finding in stream `of` of a file, for the series of stream `stream`.
    pub(super) fn tell<R: Read>(&mut self, log: &mut Log<R>, of: usize, stream: usize, at_ns: i64) {
        while let Some(finding) = log.take_finding(of) {
            let kind = match finding.what.is_doubt() {
                true => EventKind::StreamDoubt,
                false => EventKind::Stream,
            };
            let text = format!("{}: {finding} ({})", log.name(of), log.file);
            self.batch.events.push(Event {
                at_ns: u64::try_from(at_ns.saturating_sub(self.options.started_ns)).unwrap_or(0),
                since_ns: None,
                kind,
                series: self.series.get(stream).map(ReadSeries::series),
                text,
            });
        }
    }

    /// Registers a stream that is new, or whose rate was just detected.
    fn know<R: Read>(&mut self, log: &Log<R>, stream: usize, run: &mut RunWriter) -> Result<(), LoggerError> {
        let rate = log.streams[stream].samples.sequence().rate();
        if self.segment.knows(stream as u16) && self.rates[stream] == rate {
            return Ok(());
        }
        while self.rates.len() < log.streams.len() {
            let name = log.name(self.rates.len());
            self.rates.push(None);
            self.last_ns.push(None);
            self.next_number.push(None);
            self.accounts.push(Accounting::default());
            if let Some(kind) = self.kind {
                let spec = self.spec(kind, &name, &log.file);
                self.series
                    .push(ReadSeries::open(run, spec, &self.options.thresholds, 0)?);
            }
        }
        self.rates[stream] = rate;
        let info = StreamInfo {
            rate,
            ..StreamInfo::named(stream as u16, log.name(stream))
        };
        Ok(self.segment.set_stream(info)?)
    }

    /// With two files, losses are counted by the publisher's numbers.
    fn is_of_a_pair(&self) -> bool {
        self.kind == Some(&kind::LATENCY)
    }

    fn spec(&self, kind: &'static Kind, name: &str, file: &str) -> SeriesSpec {
        let what = match self.is_of_a_pair() {
            true => "publisher's stamp -> subscriber's stamp",
            false => "application's stamp of one sample -> that of the next",
        };
        let spec = SeriesSpec {
            clock: SeriesClock::Realtime,
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
            ..SeriesSpec::of(kind, name, what)
        };
        match self.is_of_a_pair() {
            true => spec,
            // A log has numbers and stamps, but no contents.
            false => spec.not_counting(&[Counter::Conflicting]),
        }
    }

    fn close_windows(&mut self, at_ns: u64, run: &mut RunWriter) -> Result<(), LoggerError> {
        let end_ns = self.window_end_ns;
        self.series
            .iter_mut()
            .for_each(|open| open.close(end_ns, &mut self.batch));
        let windows = at_ns / self.options.window_ns;
        if windows * self.options.window_ns > end_ns {
            // After whole windows without samples, the next window starts at the next sample.
            let start_ns = windows * self.options.window_ns;
            self.series
                .iter_mut()
                .for_each(|open| open.close(start_ns, &mut self.batch));
        }
        self.window_end_ns = (windows + 1) * self.options.window_ns;
        Ok(run.write(&std::mem::take(&mut self.batch))?)
    }

    pub(super) fn note(&mut self, kind: EventKind, text: String) {
        self.batch.events.push(Event {
            at_ns: 0,
            since_ns: None,
            kind,
            series: None,
            text,
        });
    }

    pub(super) fn malformed<R: Read>(&mut self, log: &Log<R>) {
        if log.malformed > 0 {
            let text = format!(
                "{}: {} lines are not sv_timestamp_logger's; the first is line {}",
                log.file, log.malformed, log.first_malformed
            );
            self.note(EventKind::Incomplete, text);
        }
    }

    pub(super) fn said_of_pair<R: Read>(&mut self, log: &Log<R>, sent: &Publisher<R>, options: &LoggerOptions) {
        let within = Ns(options.within_ns);
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
            .map(|stream| u64::from(stream.samples.sequence().counters().lost > 0))
            .sum();
        if missing > 0 {
            let text = format!(
                "{}: samples of {missing} streams are missing there already: they count as lost, too",
                sent.log.file
            );
            self.note(EventKind::Note, text);
        }
        self.malformed(log);
        self.malformed(&sent.log);
    }

    pub(super) fn finish(mut self, run: &mut RunWriter) -> Result<Imported, LoggerError> {
        sealing::seal::<LoggerError>(&mut self.segment, run)?;
        let end_ns = self.imported.duration_ns + 1;
        self.series
            .iter_mut()
            .for_each(|open| open.close(end_ns, &mut self.batch));
        run.write(&self.batch)?;
        Ok(self.imported)
    }
}

/// Uncertainty of a difference of two stamps: both were truncated to whole microseconds, and the clocks may differ.
fn uncertainty_ns(clock: Relation) -> u64 {
    match clock {
        Relation::SameHost | Relation::Unknown => 1_000,
        Relation::Synchronised(ns) => ns.saturating_add(1_000),
    }
}

fn clock_words(clock: Relation) -> String {
    match clock {
        Relation::SameHost => "one clock".into(),
        Relation::Synchronised(ns) => format!("two clocks that agree to {}", Ns(ns)),
        Relation::Unknown => "relation not stated".into(),
    }
}
