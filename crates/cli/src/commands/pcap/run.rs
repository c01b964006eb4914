//! The analysis of a capture as a run: its file, its report, its verdict.

use std::io::{BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use analysis::{Event, EventKind, Sink, StreamSummary, Summary, Window};
use capture::Stamps;
use model::{Counter, RunState, SeriesClock, SeriesId, SeriesSpec, Spike, StreamId, StreamKind, setting};
use probes::subscribe::lan_limit;
use report::limits::Profile;
use run::{NewRun, remove};
use store::{Batch, RunWriter, StoreError};
use units::Realtime;

use super::analyse::{Analysed, analyse, series_kind};
use super::credit;
use super::lans::{self, OfCapture};
use super::listing::{Listing, hidden, remarks};
use super::observe::{Captured, Observing};
use super::{PcapArgs, PcapError, damaged, name_of, say};
use crate::ending;
use crate::failure::{Failure, USAGE};
use crate::page;
use crate::run_file::{judged_by, new_run};
use crate::verdict;

/// Windows collected before they are written in one transaction: about 14 MB.
const BATCH: usize = 64;

/// Analyses the capture into a run file and reports it. Returns the exit status.
///
/// # Errors
/// Nothing in the capture can be measured, or the run file cannot be written.
pub(super) fn run(args: &PcapArgs, out: &mut dyn Write, messages: &mut dyn Write) -> Result<u8, PcapError> {
    let mut observing = Observing::asked(args)?;
    let of_lans = (args.lan_b.is_some() || args.lans.is_some()) && args.limits.is_some();
    let own_limits = observing.as_ref().map(Observing::limits);
    let own_limits = match of_lans {
        true => Some(own_limits.unwrap_or_default() + &lan_limit(None)),
        false => own_limits,
    };
    let (profile, documents) = judged_by(args.limits.as_deref(), own_limits.as_deref())?;
    page::check(args.pages.html.as_deref(), args.out.as_deref())?;
    let run = NewRun {
        window_ns: args.window,
        file_budget: Some(args.file_budget),
        documents,
        ..new_run("pcap", args.out.clone())
    };
    let stop = stop_flag()?;
    let mut sink = RunSink::new(args, run, profile);
    let analysed = analyse(args, Some(args.window), &mut sink, observing.as_mut(), || {
        stop.load(Ordering::Relaxed)
    })?;
    let capture = name_of(args);
    let Analysed {
        summary,
        dropped,
        stamps,
        damage,
        wrong_lans,
        stopped,
    } = analysed;
    let ended = Ended {
        dropped,
        stamps: stated(stamps, args),
        damage: damage.as_ref().map(|(_, error)| error.to_string()),
        stopped,
    };
    let (file, profile) = sink.finish(&summary, &ended, observing).map_err(Failure::from)?;
    if let Some(wrong) = wrong_lans {
        remove(&file);
        return Err(Failure::Usage(wrong).into());
    }
    if let Some((path, source)) = damage {
        say(messages, &damaged(&path, source));
    }
    if summary.streams.is_empty() {
        remove(&file);
        let none = Listing {
            file: capture,
            summary: &summary,
            dropped,
            events: None,
        };
        return Err(Failure::CouldNotMeasure(none.text().trim_end().to_owned()).into());
    }
    let report = verdict::read(&file, profile)?;
    if !(args.face.json || args.face.summary) {
        let listing = Listing {
            file: capture,
            summary: &summary,
            dropped,
            events: None,
        };
        writeln!(out, "{}", listing.text())?;
    }
    let colour = std::io::stdout().is_terminal();
    let page = args.pages.page(&report.run.file);
    let mut out = BufWriter::new(out);
    args.face.write(&report, colour, page.as_deref(), &mut out)?;
    out.flush()?;
    let status = verdict::with_pages(&report, &args.pages)?;
    // Without limits, an incomplete capture decides the status.
    Ok(match (status, ended.damage) {
        (0, Some(_)) => USAGE,
        (status, _) => status,
    })
}

fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    ending::on_signals(&stop)?;
    Ok(stop)
}

/// Result of reading the capture.
struct Ended {
    dropped: Option<u64>,
    stamps: Stamps,
    damage: Option<String>,
    stopped: bool,
}

/// Prefers the user's statement about the stamps to that of the capture.
fn stated(stamps: Stamps, args: &PcapArgs) -> Stamps {
    Stamps {
        made_by: args.stamped_by.clone().or(stamps.made_by),
        ..stamps
    }
}

/// Writes windows and events to the run file as they come.
struct RunSink {
    run: NewRun,
    profile: Option<Profile>,
    capture: String,
    /// True for two captures of redundant LANs.
    is_of_two: bool,
    rate: Option<u32>,
    writer: Option<RunWriter>,
    labels: Vec<String>,
    batch: Batch,
    /// Error of the file. After an error nothing more is written.
    error: Option<StoreError>,
}

impl RunSink {
    fn new(args: &PcapArgs, run: NewRun, profile: Option<Profile>) -> Self {
        Self {
            run,
            profile,
            capture: name_of(args),
            is_of_two: args.lan_b.is_some(),
            rate: args.rate,
            writer: None,
            labels: Vec::new(),
            batch: Batch::default(),
            error: None,
        }
    }

    /// Runs an action on the run file, unless the file has failed before.
    fn with_writer<T>(&mut self, work: impl FnOnce(&mut RunWriter) -> Result<T, StoreError>) -> Option<T> {
        if self.error.is_some() {
            return None;
        }
        match work(self.writer.as_mut()?) {
            Ok(done) => Some(done),
            Err(error) => {
                self.error = Some(error);
                None
            }
        }
    }

    fn flush(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        self.with_writer(|writer| writer.write(&batch));
    }

    /// The value above which samples of a series are overflow: its limit on the maximum.
    fn threshold_ns(&self, name: &str) -> Option<u64> {
        self.profile.as_ref()?.threshold_ns(name)
    }

    fn settings(&self, identity: &StreamId) -> Vec<(String, String)> {
        let mut settings = vec![
            ("capture".to_owned(), self.capture.clone()),
            (
                "dst".to_owned(),
                identity.destination.map_or_else(String::new, |mac| mac.to_string()),
            ),
        ];
        let mut add = |name: &str, value: String| settings.push((name.to_owned(), value));
        add(
            "vlan",
            identity.vid.map_or_else(|| "none".to_owned(), |vid| vid.to_string()),
        );
        if let Some(appid) = identity.appid {
            add("appid", format!("0x{appid:04X}"));
        }
        if identity.kind == StreamKind::SampledValues {
            let learned = || "learned from smpCnt".to_owned();
            add(
                "rate",
                self.rate.map_or_else(learned, |rate| format!("{rate} samples/s")),
            );
        }
        add("number of a worst sample", "frame of the capture at its end".to_owned());
        settings
    }

    fn event(&mut self, series: Option<usize>, at_ns: u64, kind: model::EventKind, text: String) {
        self.batch.events.push(model::Event {
            at_ns,
            since_ns: None,
            kind,
            series: series.map(id),
            text,
        });
    }

    /// Closes the run; returns its file and the profile that judges it.
    fn finish(
        mut self,
        summary: &Summary,
        ended: &Ended,
        observing: Option<Observing>,
    ) -> Result<(PathBuf, Option<Profile>), StoreError> {
        if self.writer.is_none() && self.error.is_none() {
            self.begin(None);
        }
        let span = summary.first_ns.zip(summary.last_ns);
        let duration_ns = span.map_or(0, |(first, last)| last.saturating_sub(first).unsigned_abs());
        self.whole_capture(summary, ended, duration_ns);
        self.flush();
        for (at, stream) in summary.streams.iter().enumerate() {
            self.stamps(id(at), stream, &ended.stamps);
        }
        let steps = summary.streams.iter().map(seen_step_ns);
        let capture = OfCapture {
            name: &self.capture.clone(),
            stamps: &ended.stamps,
            step_ns: steps.max().unwrap_or(0).max(ended.stamps.unit_ns),
            is_of_two: self.is_of_two,
            duration_ns,
        };
        if let Some(of) = &summary.redundancy {
            self.with_writer(|writer| lans::write(of, &capture, writer));
        }
        self.with_writer(|writer| credit::write(summary, &capture, writer));
        if let Some(observing) = observing {
            self.observed(
                observing,
                span.map_or(0, |(first, _)| first),
                duration_ns,
                &ended.stamps,
            );
        }
        // The capture still exists: a run that cannot be written in full is removed, but a file of another program never is.
        let made = self.writer.is_some();
        let closed = self.close(ended, duration_ns);
        if closed.is_err() && made {
            remove(&self.run.file);
        }
        closed.map(|()| (self.run.file, self.profile))
    }

    /// Writes what was observed behind the streams: their series have the numbers of the streams.
    fn observed(&mut self, observing: Observing, first_ns: i64, duration_ns: u64, stamps: &Stamps) {
        let (name, profile, window_ns) = (self.capture.clone(), self.profile.clone(), self.run.window_ns);
        let captured = Captured {
            name: &name,
            stamps,
            first_ns,
            duration_ns,
            window_ns,
        };
        let threshold_ns = |name: &str| profile.as_ref()?.threshold_ns(name);
        self.with_writer(|writer| observing.write(writer, &captured, threshold_ns));
    }

    fn close(&mut self, ended: &Ended, duration_ns: u64) -> Result<(), StoreError> {
        if let Some(error) = self.error.take() {
            self.writer = None;
            return Err(error);
        }
        let state = if ended.damage.is_some() || ended.stopped {
            RunState::Interrupted
        } else {
            RunState::Complete
        };
        match self.writer.take() {
            Some(writer) => writer.finish(state, duration_ns),
            None => Ok(()),
        }
    }

    /// Resolution of a stream's stamps, and their maker.
    fn stamps(&mut self, series: SeriesId, stream: &StreamSummary, stamps: &Stamps) {
        let step = seen_step_ns(stream).max(stamps.unit_ns).to_string();
        let by = stamps.made_by.as_deref();
        self.with_writer(|writer| {
            writer.add_setting(series, setting::STAMP_STEP_NS, &step)?;
            by.map_or(Ok(()), |by| writer.add_setting(series, setting::STAMPED_BY, by))
        });
    }

    /// Writes the events that touch every stream.
    fn whole_capture(&mut self, summary: &Summary, ended: &Ended, end_ns: u64) {
        for remark in remarks(summary, ended.dropped) {
            self.event(None, end_ns, model::EventKind::Note, remark);
        }
        let unread = [summary.cut, summary.malformed, summary.unplaced, summary.not_ethernet];
        let unread: u64 = unread.iter().sum();
        if unread > 0 {
            let text = format!("{unread} frames of the capture could not be read or placed");
            self.event(None, end_ns, model::EventKind::Incomplete, text);
        }
        // These streams were not read; the streams that were read lack nothing, so this does not excuse any of their fails.
        for (&header, count) in &summary.hidden {
            let text = format!("{count} frames carry {}: no figure has their streams", hidden(header));
            self.event(None, end_ns, model::EventKind::StreamDoubt, text);
        }
        if let Some(dropped) = ended.dropped.filter(|&dropped| dropped > 0) {
            let text = format!("{dropped} frames were dropped while capturing");
            self.event(None, end_ns, model::EventKind::SocketDrop, text);
        }
        if let Some(damage) = &ended.damage {
            self.event(None, end_ns, model::EventKind::Interrupted, damage.clone());
        } else if ended.stopped {
            self.event(None, end_ns, model::EventKind::Interrupted, "ended early".to_owned());
        }
    }
}

impl Sink for RunSink {
    fn begin(&mut self, time_ns: Option<i64>) {
        let started = time_ns.map_or_else(|| sys::clock::pair().realtime, Realtime::from_ns);
        match self.run.create(started) {
            Ok(writer) => self.writer = Some(writer),
            Err(error) => self.error = Some(error),
        }
    }

    fn opened(&mut self, _: usize, identity: &StreamId, label: &str) -> Option<u64> {
        self.labels.push(label.to_owned());
        let what = "stamp of one frame in the capture -> that of the stream's next frame";
        let mut spec = SeriesSpec {
            clock: SeriesClock::Realtime,
            settings: self.settings(identity),
            ..SeriesSpec::of(series_kind(identity.kind), label, what)
        };
        if !matches!(identity.kind, StreamKind::SampledValues | StreamKind::Goose) {
            // Only the count is judged for these series.
            spec = spec.not_counting(&[Counter::Conflicting]);
        }
        let threshold_ns = self.threshold_ns(&spec.name);
        spec.threshold_ns = threshold_ns;
        self.with_writer(|writer| writer.add_series(&spec));
        threshold_ns
    }

    fn window(&mut self, window: &Window<'_>) {
        let series = id(window.stream);
        let tally = window.tally;
        let mut closed = tally.window(series, window.start_ns, window.end_ns);
        // The run file holds sums up to 292 years: only damaged stamps are further apart.
        closed.sum_ns = tally.sum_ns.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
        self.batch.windows.push(closed);
        self.batch.spikes.extend(window.worst.iter().map(|gap| Spike {
            series,
            at_ns: gap.at_ns,
            value_ns: gap.ns,
            cpu: None,
            sequence: Some(gap.frame),
            explanation: None,
        }));
        if self.batch.windows.len() >= BATCH {
            self.flush();
        }
    }

    fn refuses(&self) -> bool {
        self.error.is_some()
    }

    fn event(&mut self, event: Event) {
        let kind = match event.kind {
            EventKind::State | EventKind::Expired | EventKind::Change | EventKind::Loss => model::EventKind::Stream,
            EventKind::StampsBack => model::EventKind::ClockStep,
            EventKind::Unstamped | EventKind::Uncountable => model::EventKind::Incomplete,
            EventKind::Doubt => model::EventKind::StreamDoubt,
        };
        let label = self.labels.get(event.stream).map_or("", String::as_str);
        let text = format!("{label}: {}", event.text);
        Self::event(self, Some(event.stream), event.at_ns, kind, text);
    }
}

/// The resolution that the stamps of a stream show, in ns. GOOSE messages are few and sent at whole seconds: theirs do not show it.
fn seen_step_ns(stream: &StreamSummary) -> u64 {
    match stream.identity.kind.is_periodic() {
        true => stream.stamp_step_ns,
        false => 0,
    }
}

fn id(stream: usize) -> SeriesId {
    SeriesId(u32::try_from(stream).unwrap_or(u32::MAX))
}
