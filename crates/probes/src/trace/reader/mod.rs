//! The thread that reads the kernel's counts.

mod doubts;
mod gaps;

use super::TraceConfig;
use super::floors::Floors;
use super::links::Links;
use super::live::LiveView;
use super::quiet::Quiet;
use super::recording::Frames;
use super::series::Names;
use super::summary::TraceSummary;
use crate::error::ProbeError;
use crate::nic::{IN_KERNEL_NS, NicStamps};
use crate::sender::SenderEnd;
use ::trace::TraceError;
use ::trace::hops::{
    Counting, Distribution, Duration as HopDuration, HopCost, HopCounts, HopSeries, HopTracer, Reading, Troubles,
    bucket_bounds,
};
use model::{Counters, EventKind};
use run::{Counted, CountedSpan, CountedSpike, Events, Recorder, Stop};
use std::collections::BTreeMap;
use std::time::Duration;
use units::{Monotonic, Realtime, SignedNs};

/// Interval between readings of single durations: short enough that the flight recorder still has the events around them.
const POLL: Duration = Duration::from_millis(20);

/// Number of such readings between two checks for doubts about hops: a tenth of a second.
const LOOK_EACH: u32 = 5;

/// Longest span between two readings.
const LONGEST_SPAN_NS: u64 = 1_000_000_000;

/// A reading that is late by more than this part of a window, and by more than [`LATE_LEAST_NS`], includes frames of later
/// windows.
const LATE_PART: u64 = 20;

/// Delay of every reading: [`SETTLE`], and the time that an ordinary thread may wait for its CPU.
const LATE_LEAST_NS: u64 = 10_000_000;

/// Time in which programs that began before the end of a span can finish.
const SETTLE: Duration = Duration::from_millis(5);

/// Longest time that the last frames need to reach all points.
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
    window_ns: u64,
    totals: BTreeMap<(u32, usize), HopCounts>,
    told: Troubles,
    counting: Option<Result<(Counting, HopCost), String>>,
    summary: TraceSummary,
    links: Links,
    quiet: Quiet,
    sender: SenderEnd,
    /// Number of streams whose sources were compared.
    compared: usize,
    /// Counts from before this instant have been passed on.
    handed_over: Monotonic,
    /// The NIC whose stamps are the first point.
    nic: Option<NicStamps>,
}

impl Reader {
    pub(super) fn new(
        tracer: HopTracer,
        config: &TraceConfig,
        recorder: &Recorder,
        (live, links): (LiveView, Links),
        nic: Option<NicStamps>,
    ) -> Result<Self, ProbeError> {
        // The tracer has opened its first point by this time.
        let opened = sys::clock::realtime();
        let handed_over = sys::clock::monotonic();
        let spans = config.window_ns.div_ceil(LONGEST_SPAN_NS).max(1);
        let clock = nic.as_ref().map(|nic| nic.clock().clone());
        let mut reader = Self {
            tracer,
            names: Names::new(&config.points, config.threshold_ns, recorder).with_nic(clock),
            floors: Floors::default(),
            counted: recorder.counted(),
            events: recorder.events(),
            live,
            frames: config.record.then(|| Frames::new(recorder, &config.points)),
            start: recorder.start_instant(),
            opened,
            closed: opened,
            span_ns: (config.window_ns / spans).max(1),
            window_ns: config.window_ns.max(1),
            totals: BTreeMap::new(),
            told: Troubles::default(),
            counting: None,
            summary: TraceSummary::default(),
            links,
            quiet: Quiet::since(handed_over),
            sender: config.sender.clone(),
            compared: 0,
            handed_over,
            nic,
        };
        // Nothing from before this instant is counted.
        reader.counted.handed_over(handed_over);
        reader.set_nic_clock()?;
        Ok(reader)
    }

    /// Passes the current relation of the NIC's clock to the programs. If it is not known, they soon stop converting stamps.
    fn set_nic_clock(&mut self) -> Result<(), ProbeError> {
        let nic = self.nic.as_ref().and_then(|nic| nic.clock().behind_monotonic());
        if let Some((behind_ns, at)) = nic {
            self.tracer.set_nic_clock(behind_ns, at + IN_KERNEL_NS)?;
        }
        Ok(())
    }

    /// Reads until a stop is requested, and once more when all frames have arrived.
    pub(super) fn run(&mut self, stop: &Stop) -> Result<TraceSummary, ProbeError> {
        let mut span = self.span_of(sys::clock::monotonic());
        let mut running_at = self.handed_over;
        let mut looks = 0;
        loop {
            let at = sys::clock::monotonic();
            if stop.requested() {
                break;
            }
            // Silence after the stop concerns no stream.
            running_at = at;
            std::thread::sleep(self.until_next(at, span));
            self.set_nic_clock()?;
            self.take_durations()?;
            looks += 1;
            if looks % LOOK_EACH == 0 {
                self.look_around(running_at)?;
            }
            let now = sys::clock::monotonic();
            let current = self.span_of(now);
            if current != span {
                // Counts up to now belong to the span that has just ended.
                self.close_span(self.end_of(current - 1))?;
                span = current;
            }
        }
        self.look_around(running_at)?;
        self.finish()?;
        Ok(self.summary.clone())
    }

    fn span_of(&self, at: Monotonic) -> i64 {
        (at - self.start).div_euclid(i64::try_from(self.span_ns).unwrap_or(i64::MAX))
    }

    fn end_of(&self, span: i64) -> Monotonic {
        self.start + (span + 1).saturating_mul(i64::try_from(self.span_ns).unwrap_or(i64::MAX))
    }

    /// Time to wait before the next reading of single durations, at most until the end of the span.
    fn until_next(&self, now: Monotonic, span: i64) -> Duration {
        let left_ns = u64::try_from(self.end_of(span) - now).unwrap_or(0);
        POLL.min(Duration::from_nanos(left_ns))
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
            let threshold_ns = self.names.threshold_ns(duration.series);
            if self.floors.take(duration.series, duration.ns, threshold_ns) {
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
        self.move_floors()
    }

    fn hand_over_spikes(&self, series: HopSeries, spikes: Vec<CountedSpike>) {
        let (Some(spec), Some(last)) = (self.names.spec(series), spikes.last()) else {
            return;
        };
        let at = last.at;
        self.counted.add(CountedSpan {
            spikes,
            ..CountedSpan::empty(spec, at)
        });
    }

    /// Reads the counts of the span that ends at `end`.
    fn close_span(&mut self, end: Monotonic) -> Result<(), ProbeError> {
        self.tracer.next_span()?;
        std::thread::sleep(SETTLE);
        let readings = self.tracer.read()?;
        self.names.learn(self.tracer.streams());
        // Counted durations are also reported singly, as far as there was room.
        self.take_durations()?;
        self.say_two_sequences();
        self.take_cost(&readings);
        for reading in &readings {
            self.totals
                .entry((reading.stream, reading.point))
                .or_default()
                .add(&reading.counts);
        }
        let not_told = self.told.not_told;
        self.say_troubles()?;
        self.floors.set_untold(self.told.not_told > not_told);
        self.say_held_up(&readings, end);
        self.hand_over(&readings, end);
        self.handed_over = end;
        self.counted.handed_over(end);
        self.floors.next_span();
        self.move_floors()
    }

    fn move_floors(&mut self) -> Result<(), ProbeError> {
        for (series, floor_ns) in self.floors.moved() {
            self.tracer.set_floor(series, floor_ns)?;
        }
        Ok(())
    }

    /// Takes the cost of the programs, counted by the kernel in the second span with frames. In the first span every duration is
    /// reported singly, so its cost is higher.
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

    /// End of the reading: the end of the span, unless the reader was held up and its reading includes much later frames.
    fn ended(&self, reading: Option<&Reading>, end: Monotonic) -> Monotonic {
        let newest = reading.and_then(|reading| reading.until);
        let late_ns = (self.window_ns / LATE_PART).max(LATE_LEAST_NS).cast_signed();
        newest.filter(|newest| *newest - end > late_ns).unwrap_or(end - 1)
    }

    /// Reports that windows were merged.
    fn say_held_up(&self, readings: &[Reading], end: Monotonic) {
        let ends = readings.iter().map(|reading| self.ended(Some(reading), end));
        let last = ends.max().unwrap_or(end - 1);
        let window = |at: Monotonic| (at - self.start).div_euclid(self.window_ns.cast_signed());
        if !readings.is_empty() && window(self.handed_over) < window(last) {
            let text = format!(
                "the reader of the hops was held up: the kernel's counts of the last {} are in one window",
                SignedNs(last - self.handed_over)
            );
            self.events.write(EventKind::Note, text);
        }
    }

    fn hand_over(&self, readings: &[Reading], end: Monotonic) {
        let points = &self.tracer.options().points;
        for stream in self.tracer.streams() {
            let of_stream = of_points(readings, stream.number, points.len());
            for (number, point) in points.iter().enumerate().skip(1) {
                let hop = HopSeries {
                    stream: stream.number,
                    point: number,
                    total: false,
                };
                if let Some(reading) = of_stream[number] {
                    self.hand_over_hop(hop, reading, of_stream[0], end);
                }
                if point.parent > 0 && stream.has_reached(number) {
                    self.hand_over_total(hop, &of_stream, end);
                }
            }
        }
    }

    fn hand_over_hop(&self, series: HopSeries, reading: &Reading, first: Option<&Reading>, end: Monotonic) {
        let counts = &reading.counts;
        self.live
            .add(&self.names.hop(series), &reading.hop, counts.sum_ns, counts.lost);
        self.add(series, &reading.hop, counts, first, self.ended(Some(reading), end));
    }

    /// Passes on the durations from the first point. A loss anywhere on the way counts here, also in a span without frames.
    fn hand_over_total(&self, hop: HopSeries, of_stream: &[Option<&Reading>], end: Monotonic) {
        let points = &self.tracer.options().points;
        let before = |at: &usize| Some(points[*at].parent).filter(|parent| *parent > 0);
        let lost_at = |at: usize| of_stream[at].map_or(0, |reading| reading.counts.lost);
        let nothing = Distribution::default();
        let (found, sum_ns) =
            of_stream[hop.point].map_or((&nothing, 0), |reading| (&reading.total, reading.counts.total_sum_ns));
        let counts = HopCounts {
            lost: std::iter::successors(Some(hop.point), before).map(lost_at).sum(),
            sum_ns,
            ..HopCounts::default()
        };
        let total = HopSeries { total: true, ..hop };
        let at = self.ended(of_stream[hop.point], end);
        self.add(total, found, &counts, of_stream[0], at);
    }

    fn add(&self, series: HopSeries, found: &Distribution, counts: &HopCounts, first: Option<&Reading>, at: Monotonic) {
        let Some(spec) = self.names.spec(series) else { return };
        let first = first.map_or_else(HopCounts::default, |reading| reading.counts);
        let received = found.durations();
        if received == 0 && counts.lost == 0 && first.duplicate == 0 {
            return;
        }
        let overflow = match (self.names.asked_of(series), spec.threshold_ns) {
            (Some(_), _) => counts.over,
            (None, Some(threshold_ns)) => self.floors.over(series, found, threshold_ns),
            (None, None) => 0,
        };
        let extreme = |ns: u64| i64::try_from(ns).ok().filter(|_| found.count() > 0);
        self.counted.add(CountedSpan {
            series: spec,
            at,
            counters: Counters {
                expected: received + counts.lost,
                received,
                lost: counts.lost,
                duplicate: first.duplicate,
                reordered: first.reordered,
                clipped: found.clipped,
                overflow,
                ..Counters::default()
            },
            sum_ns: i64::try_from(counts.sum_ns).unwrap_or(i64::MAX),
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
                "{} {} were counted but not listed one by one: too many came at once",
                now.not_told - before.not_told,
                if self.frames.is_some() {
                    "durations (their frames lack stamps in the recording)"
                } else {
                    "long durations"
                }
            );
            // The kernel counted these durations: the figures are complete, and only single lines and causes are missing.
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
        let first = self.totals.iter().filter(|((_, point), _)| *point == 0);
        self.summary.frames = first.map(|(_, counts)| counts.seen).sum();
        self.summary.streams = self.names.labels().to_vec();
        self.summary.troubles = self.tracer.troubles()?;
        self.summary.unwatched = self.links.unwatched().to_vec();
        self.say_gaps();
        if self.summary.streams.is_empty() {
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
                "recording: {} frames are missing, since their streams have no name",
                frames.nameless()
            );
            self.events.write(EventKind::Incomplete, text);
        }
    }

    fn lost_under_way(&self, now: Monotonic) -> Result<(), TraceError> {
        let lost = self.tracer.lost_under_way(now)?.into_iter();
        let readings = lost.map(|(stream, point, lost)| Reading {
            stream,
            point,
            until: None,
            counts: HopCounts {
                lost,
                ..HopCounts::default()
            },
            hop: Distribution::default(),
            total: Distribution::default(),
        });
        self.hand_over(&readings.collect::<Vec<_>>(), now);
        Ok(())
    }
}

/// Readings of a stream, indexed by the number of the point.
fn of_points(readings: &[Reading], stream: u32, points: usize) -> Vec<Option<&Reading>> {
    let mut found = vec![None; points];
    for reading in readings.iter().filter(|reading| reading.stream == stream) {
        found[reading.point] = Some(reading);
    }
    found
}

/// Durations as the upper ends of their buckets, at most 1.6 % too large, but limited to the extremes.
fn samples(found: &Distribution) -> Vec<(u64, u64)> {
    let buckets = found.buckets.iter();
    let values = buckets.map(|(bucket, count)| (bucket_bounds(*bucket).1.clamp(found.min_ns, found.max_ns), *count));
    values.collect()
}
