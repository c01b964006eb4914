//! The thread that reads what the kernel counted.

use super::TraceConfig;
use super::floors::Floors;
use super::live::LiveView;
use super::record::Frames;
use super::series::Names;
use super::summary::TraceSummary;
use crate::error::ProbeError;
use crate::record::{Counted, CountedSpan, CountedSpike, Events, Recorder};
use crate::stop::Stop;
use ::trace::TraceError;
use ::trace::hops::{
    Counting, Distribution, Duration as HopDuration, HopCost, HopCounts, HopSeries, HopTracer, Reading, Troubles,
    bucket_bounds,
};
use std::collections::BTreeMap;
use std::time::Duration;
use store::model::{Counters, EventKind};
use units::{Monotonic, Realtime};

/// How often single durations are taken: soon enough that the flight recorder still has what happened around them.
const POLL: Duration = Duration::from_millis(20);

/// Longest span between two readings.
const LONGEST_SPAN_NS: u64 = 1_000_000_000;

/// How long programs that had begun before the end of a span may take to end.
const SETTLE: Duration = Duration::from_millis(5);

/// How long the last frames may be under way.
const LAST_FRAMES: Duration = Duration::from_millis(150);

pub(super) struct Reader {
    tracer: HopTracer,
    names: Names,
    floors: Floors,
    counted: Counted,
    events: Events,
    live: LiveView,
    frames: Option<Frames>,
    start: Monotonic,
    opened: Realtime,
    closed: Realtime,
    span_ns: u64,
    totals: BTreeMap<(u32, usize), HopCounts>,
    told: Troubles,
    counting: Option<Result<(Counting, HopCost), String>>,
    summary: TraceSummary,
}

impl Reader {
    pub(super) fn new(tracer: HopTracer, config: &TraceConfig, recorder: &Recorder, live: LiveView) -> Self {
        // The tracer has opened its first point by now.
        let opened = sys::clock::realtime();
        let spans = config.window_ns.div_ceil(LONGEST_SPAN_NS).max(1);
        Self {
            tracer,
            names: Names::new(&config.points, config.threshold_ns, &config.more_settings),
            floors: Floors::new(config.threshold_ns),
            counted: recorder.counted(),
            events: recorder.events(),
            live,
            frames: config.record.then(|| Frames::new(recorder, &config.points)),
            start: recorder.start_instant(),
            opened,
            closed: opened,
            span_ns: (config.window_ns / spans).max(1),
            totals: BTreeMap::new(),
            told: Troubles::default(),
            counting: None,
            summary: TraceSummary::default(),
        }
    }

    /// Reads until told to stop, and once more when all frames have come.
    pub(super) fn run(&mut self, stop: &Stop) -> Result<TraceSummary, ProbeError> {
        let mut span = self.span_of(sys::clock::monotonic());
        while !stop.requested() {
            std::thread::sleep(POLL);
            self.take_durations()?;
            let now = sys::clock::monotonic();
            let current = self.span_of(now);
            if current != span {
                // What was counted until now is of the span that has just ended.
                self.close_span(self.end_of(current - 1) - 1)?;
                span = current;
            }
        }
        self.finish()?;
        Ok(self.summary.clone())
    }

    fn span_of(&self, at: Monotonic) -> i64 {
        (at - self.start).div_euclid(i64::try_from(self.span_ns).unwrap_or(i64::MAX))
    }

    fn end_of(&self, span: i64) -> Monotonic {
        self.start + (span + 1).saturating_mul(i64::try_from(self.span_ns).unwrap_or(i64::MAX))
    }

    fn take_durations(&mut self) -> Result<(), ProbeError> {
        let now = sys::clock::monotonic();
        let mut told = Vec::new();
        self.tracer.durations(|duration| told.push(duration));
        if !told.is_empty() {
            self.take_told(&told)?;
        }
        if let Some(frames) = &mut self.frames {
            frames.pass_on(now, &self.names);
        }
        Ok(())
    }

    fn take_told(&mut self, told: &[HopDuration]) -> Result<(), ProbeError> {
        let newest = told.iter().map(|duration| duration.series.stream).max();
        if newest.is_some_and(|stream| self.names.label(stream).is_none()) {
            self.tracer.find_streams()?;
            self.names.learn(self.tracer.streams());
        }
        let mut spikes: BTreeMap<HopSeries, Vec<CountedSpike>> = BTreeMap::new();
        if let Some(frames) = &mut self.frames {
            frames.look();
            told.iter().for_each(|duration| frames.take(duration));
        }
        for duration in told {
            if self.floors.take(duration.series, duration.ns) {
                spikes.entry(duration.series).or_default().push(CountedSpike {
                    at: duration.at,
                    value_ns: i64::try_from(duration.ns).unwrap_or(i64::MAX),
                    cpu: duration.cpu,
                    thread: duration.thread,
                    sequence: u64::from(duration.smp_cnt),
                });
            }
        }
        for (series, spikes) in spikes {
            self.hand_over_spikes(series, spikes);
        }
        for (series, floor_ns) in self.floors.moved() {
            self.tracer.set_floor(series, floor_ns)?;
        }
        Ok(())
    }

    fn hand_over_spikes(&self, series: HopSeries, spikes: Vec<CountedSpike>) {
        let (Some(spec), Some(last)) = (self.names.spec(series), spikes.last()) else {
            return;
        };
        self.counted.add(CountedSpan {
            series: spec,
            at: last.at,
            counters: Counters::default(),
            sum_ns: 0,
            min_ns: None,
            max_ns: None,
            samples: Vec::new(),
            spikes,
        });
    }

    fn close_span(&mut self, at: Monotonic) -> Result<(), ProbeError> {
        self.tracer.next_span()?;
        std::thread::sleep(SETTLE);
        let readings = self.tracer.read()?;
        self.names.learn(self.tracer.streams());
        self.floors.next_span();
        self.take_cost(&readings);
        for reading in &readings {
            self.totals
                .entry((reading.stream, reading.point))
                .or_default()
                .add(&reading.counts);
            if reading.point > 0 {
                let first = first_point(&readings, reading.stream);
                self.hand_over(reading, &first, at);
            }
        }
        self.say_troubles()
    }

    /// What the programs cost, counted by the kernel in the second span with frames: in the first, every duration is told.
    fn take_cost(&mut self, readings: &[Reading]) {
        let first = readings.iter().filter(|reading| reading.point == 0);
        let frames: u64 = first.map(|reading| reading.counts.seen).sum();
        if frames == 0 || self.summary.cost_ns.is_some() {
            return;
        }
        let cost = |tracer: &HopTracer| tracer.cost().map_err(|error| error.to_string());
        match self.counting.take() {
            None => {
                let on = HopTracer::count_cost().map_err(|error| error.to_string());
                self.counting = Some(on.and_then(|on| Ok((on, cost(&self.tracer)?))));
            }
            Some(counting) => {
                self.summary.cost_ns = Some(counting.and_then(|(_on, before)| {
                    let spent_ns = cost(&self.tracer)?.time_ns.saturating_sub(before.time_ns);
                    Ok(spent_ns as f64 / frames as f64)
                }));
            }
        }
    }

    fn hand_over(&self, reading: &Reading, first: &HopCounts, at: Monotonic) {
        let series = HopSeries {
            stream: reading.stream,
            point: reading.point,
            total: false,
        };
        let counts = &reading.counts;
        self.live
            .add(&self.names.hop(series), &reading.hop, counts.sum_ns, counts.lost);
        self.add(series, &reading.hop, counts, counts.sum_ns, first, at);
        if reading.total.count() > 0 {
            let total = HopSeries { total: true, ..series };
            self.add(total, &reading.total, counts, counts.total_sum_ns, first, at);
        }
    }

    fn add(
        &self,
        series: HopSeries,
        found: &Distribution,
        counts: &HopCounts,
        sum_ns: u64,
        first: &HopCounts,
        at: Monotonic,
    ) {
        let Some(spec) = self.names.spec(series) else { return };
        let received = found.count();
        if received == 0 && counts.lost == 0 && first.duplicate == 0 {
            return;
        }
        let extreme = |ns: u64| i64::try_from(ns).ok().filter(|_| received > 0);
        self.counted.add(CountedSpan {
            series: spec,
            at,
            counters: Counters {
                expected: received + counts.lost,
                received,
                lost: counts.lost,
                duplicate: first.duplicate,
                reordered: first.reordered,
                overflow: if series.total { 0 } else { counts.over },
                ..Counters::default()
            },
            sum_ns: i64::try_from(sum_ns).unwrap_or(i64::MAX),
            min_ns: extreme(found.min_ns),
            max_ns: extreme(found.max_ns),
            samples: samples(found),
            spikes: Vec::new(),
        });
    }

    fn say_troubles(&mut self) -> Result<(), ProbeError> {
        let now = self.tracer.troubles()?;
        let before = std::mem::replace(&mut self.told, now);
        if now.not_told > before.not_told {
            let text = format!(
                "{} {} were counted but not told one by one: too many at once",
                now.not_told - before.not_told,
                if self.frames.is_some() {
                    "durations (their frames lack stamps in the recording)"
                } else {
                    "long durations"
                }
            );
            // The kernel counted them: figures are whole, and what is missing are single lines and causes.
            let kind = match self.frames {
                Some(_) => EventKind::RecorderOverrun,
                None => EventKind::Note,
            };
            self.events.write(kind, text);
        }
        if now.no_room > 0 && before.no_room == 0 {
            let most = self.tracer.options().max_streams;
            let text = format!("more than {most} streams: the others are not traced (raise --max-streams)");
            self.events.write(EventKind::HopGap, text);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), ProbeError> {
        self.closed = sys::clock::realtime();
        self.tracer.close()?;
        std::thread::sleep(LAST_FRAMES);
        self.tracer.stop()?;
        self.take_durations()?;
        let now = sys::clock::monotonic();
        self.close_span(now)?;
        self.lost_under_way(now)?;
        self.finish_recording();
        self.say_uncertain();
        self.say_not_reached();
        let first = self.totals.iter().filter(|((_, point), _)| *point == 0);
        self.summary.frames = first.map(|(_, counts)| counts.seen).sum();
        self.summary.streams = self.tracer.streams().len();
        self.summary.troubles = self.tracer.troubles()?;
        self.say_at_the_end();
        if self.summary.streams == 0 {
            return Err(self.no_traffic());
        }
        Ok(())
    }

    fn finish_recording(&mut self) {
        let Some(frames) = &mut self.frames else { return };
        frames.finish(&self.names);
        self.summary.recording = frames.facts(self.opened, self.closed);
        if frames.nameless() > 0 {
            let text = format!(
                "recording: {} frames of streams without a name are not in it",
                frames.nameless()
            );
            self.events.write(EventKind::Incomplete, text);
        }
    }

    fn lost_under_way(&self, now: Monotonic) -> Result<(), TraceError> {
        for (stream, point, lost) in self.tracer.lost_under_way(now)? {
            let reading = Reading {
                stream,
                point,
                counts: HopCounts {
                    lost,
                    ..HopCounts::default()
                },
                hop: Distribution::default(),
                total: Distribution::default(),
            };
            self.hand_over(&reading, &HopCounts::default(), now);
        }
        Ok(())
    }

    /// Frames that could not be paired for certain.
    fn say_uncertain(&self) {
        for ((stream, point), counts) in self.totals.iter().filter(|((_, point), _)| *point > 0) {
            let name = &self.tracer.options().points[*point].name;
            let label = self.names.label(*stream).unwrap_or("?");
            let first = &self.tracer.options().points[0].name;
            for (count, why) in [
                (
                    counts.doubtful,
                    format!("came twice to {first}, so which of the two it is cannot be told"),
                ),
                (
                    counts.stale,
                    format!("were not seen at {first} within the last half second"),
                ),
                (counts.skipped, "were not seen at the point before".to_owned()),
            ] {
                if count > 0 {
                    let text = format!("{label}: {count} frames at {name} {why}: not measured");
                    self.events.write(EventKind::HopGap, text);
                }
            }
            if counts.again > 0 {
                let text = format!(
                    "{label}: {} frames came to {name} again: somebody else reads there too, and only the first is measured",
                    counts.again
                );
                self.events.write(EventKind::Note, text);
            }
        }
    }

    /// Points that a stream never came to.
    fn say_not_reached(&self) {
        for stream in self.tracer.streams() {
            let points = self.tracer.options().points.iter().enumerate().skip(1);
            let missing = points.filter(|(number, _)| !stream.has_reached(*number));
            let missing: Vec<&str> = missing.map(|(_, point)| point.name.as_str()).collect();
            if let (false, Some(label)) = (missing.is_empty(), self.names.label(stream.number)) {
                let text = format!("{label} was never seen at {}", missing.join(", "));
                self.events.write(EventKind::Note, text);
            }
        }
    }

    fn say_at_the_end(&self) {
        let troubles = &self.summary.troubles;
        let first = &self.tracer.options().points[0].name;
        for (count, what) in [
            (troubles.malformed, "frames are no whole sampled values".to_owned()),
            (
                troubles.unknown_stream,
                format!("frames at later points are of streams that never came to {first}"),
            ),
            (
                troubles.missed_runs,
                "events were not seen: the kernel does not run a program inside itself".to_owned(),
            ),
        ] {
            if count > 0 {
                self.events.write(EventKind::HopGap, format!("{count} {what}"));
            }
        }
    }

    fn no_traffic(&self) -> ProbeError {
        let points = &self.tracer.options().points;
        let kinds: Vec<&str> = points[0].places.iter().map(|place| place.kind.tracepoint()).collect();
        let malformed = self.summary.troubles.malformed;
        let more = if malformed > 0 {
            format!(", but {malformed} frames of EtherType 0x88ba that are no whole sampled values")
        } else {
            String::new()
        };
        ProbeError::NoTraffic(format!(
            "no sampled values came to the first point, {} ({}){more}",
            points[0].name,
            kinds.join(" or ")
        ))
    }
}

fn first_point(readings: &[Reading], stream: u32) -> HopCounts {
    let first = readings
        .iter()
        .find(|reading| reading.stream == stream && reading.point == 0);
    first.map_or_else(HopCounts::default, |reading| reading.counts)
}

/// The durations with the upper end of their bucket, which is at most 1.6 % more, but never outside the extremes.
fn samples(found: &Distribution) -> Vec<(u64, u64)> {
    let buckets = found.buckets.iter();
    let values = buckets.map(|(bucket, count)| (bucket_bounds(*bucket).1.clamp(found.min_ns, found.max_ns), *count));
    values.collect()
}
