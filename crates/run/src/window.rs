//! The open window of one series.

use crate::counted::CountedSpan;
use crate::reasons::{Flights, Reasons};
use crate::recorder::Live;
use crate::waiting::{Queue, Waiting};
use crate::why::Answer;
use model::{Counter, Counters, Flight, Question, SeriesId, SeriesSpec, Spike, Tally, Window};
use stats::Worst;

/// Worst samples kept per series, as the run file promises.
const WORST: usize = 100;

/// Samples over the threshold kept as spikes per window. A threshold set far too low must not flood the file: the counter
/// `overflow` has them all.
const OVER_THRESHOLD_PER_WINDOW: usize = 1_000;

/// Knowledge of the recorder about one series: its open window and the floor of its worst samples.
pub(crate) struct Open {
    id: SeriesId,
    name: String,
    /// The name it was to have: who measures it again asks for that.
    wanted: String,
    threshold_ns: Option<i64>,
    interval_ns: u64,
    start_ns: u64,
    /// The end of the counts from elsewhere: the window does not end before.
    reach_ns: u64,
    /// True if measuring has begun, so that windows follow each other without a gap.
    has_begun: bool,
    /// When the newest record was made.
    newest_ns: u64,
    tally: Tally,
    worst: Worst<()>,
    spikes: Vec<Spike>,
    /// Spikes of these that are to be explained.
    waiting: Queue,
    flights: Flights,
    over_threshold: usize,
    total: Counters,
    total_sum_ns: i128,
    total_min_ns: Option<i64>,
    total_max_ns: Option<i64>,
    last_ns: Option<i64>,
}

/// Content of a closed window, handed to the run file.
pub(crate) struct Closed {
    pub(crate) window: Window,
    pub(crate) spikes: Vec<Spike>,
    pub(crate) flights: Vec<Flight>,
}

/// A sample on its way into a window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) at_ns: u64,
    pub(crate) value_ns: i64,
    pub(crate) repeat: u16,
    pub(crate) cpu: u16,
    pub(crate) sequence: u64,
}

impl Open {
    /// The series `id`, stored as `name`.
    pub(crate) fn new(id: SeriesId, name: String, spec: &SeriesSpec, start_ns: u64) -> Self {
        Self {
            id,
            name,
            wanted: spec.name.clone(),
            threshold_ns: spec.threshold_ns.and_then(|ns| i64::try_from(ns).ok()),
            interval_ns: spec.interval_ns.map_or(0, |ns| ns.max(0.0) as u64),
            start_ns,
            reach_ns: 0,
            has_begun: false,
            newest_ns: start_ns,
            tally: Tally::default(),
            worst: Worst::new(WORST),
            spikes: Vec::new(),
            waiting: Queue::default(),
            flights: Flights::default(),
            over_threshold: 0,
            total: Counters::default(),
            total_sum_ns: 0,
            total_min_ns: None,
            total_max_ns: None,
            last_ns: None,
        }
    }

    pub(crate) fn id(&self) -> SeriesId {
        self.id
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The name it was to have, which another series may have.
    pub(crate) fn wanted(&self) -> &str {
        &self.wanted
    }

    pub(crate) fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// Where the open window ends: on the run's grid, also if it began late.
    pub(crate) fn end_on_grid(&self, window_ns: u64) -> u64 {
        (self.start_ns.max(self.reach_ns) / window_ns + 1) * window_ns
    }

    /// Begins with what came first, if it has not begun.
    pub(crate) fn begin(&mut self, first_ns: u64) {
        if !self.has_begun {
            self.measured(first_ns, 0);
        }
    }

    /// From when on nothing was handed over yet.
    pub(crate) fn open_since_ns(&self) -> u64 {
        self.newest_ns + 1
    }

    /// Notes that something of `at_ns` is measured, which took `took_ns`. The first window begins with that, not where the
    /// run's grid has it: only part of that time was measured.
    pub(crate) fn measured(&mut self, at_ns: u64, took_ns: i64) {
        if !self.has_begun {
            self.has_begun = true;
            let took_ns = u64::try_from(took_ns).unwrap_or(0).max(self.interval_ns);
            // Not into the window before, which a series that is taken up again has.
            self.start_ns = at_ns.saturating_sub(took_ns).max(self.newest_ns.min(at_ns));
        }
        self.newest_ns = self.newest_ns.max(at_ns);
    }

    /// Nothing is measured for now: closes the window where the last record was made. The next one begins with a record.
    pub(crate) fn pause(&mut self) -> Option<Closed> {
        self.has_begun = false;
        let end_ns = self.end_of_measuring(u64::MAX);
        self.newest_ns = self.newest_ns.max(end_ns);
        self.close(end_ns)
    }

    /// Where a window ends that nothing more comes into, and that ends at `end_ns` on the run's grid.
    pub(crate) fn end_of_measuring(&self, end_ns: u64) -> u64 {
        (self.newest_ns + 1).clamp(self.start_ns + 1, end_ns.max(self.start_ns + 1))
    }

    /// The series as it stands, over the whole run so far, the open window included.
    pub(crate) fn live(&self) -> Live {
        let mut counters = self.total;
        counters.add(&self.tally.counters);
        let measured = counters.received > 0;
        let sum_ns = self.total_sum_ns + self.tally.sum_ns;
        Live {
            name: self.name.clone(),
            counters,
            min_ns: self.total_min_ns.into_iter().chain(self.tally.min_ns).min(),
            last_ns: self.last_ns,
            mean_ns: measured.then(|| sum_ns as f64 / counters.received as f64),
            max_ns: self.total_max_ns.max(self.tally.max_ns),
        }
    }

    /// Takes a sample; whether it is kept as a spike.
    pub(crate) fn sample(&mut self, sample: Sample) -> bool {
        let n = u64::from(sample.repeat);
        self.tally.sample(sample.value_ns, n);
        self.last_ns = Some(sample.value_ns);
        if self.is_over(sample.value_ns) {
            self.tally.counters.overflow += n;
        }
        self.keep_if_bad(sample)
    }

    /// Takes samples that were counted elsewhere, up to `at_ns`.
    pub(crate) fn counted(&mut self, span: &CountedSpan, at_ns: u64) {
        self.newest_ns = self.newest_ns.max(at_ns);
        self.reach_ns = self.reach_ns.max(at_ns);
        self.tally.counters.add(&span.counters);
        self.tally.sum_ns += i128::from(span.sum_ns);
        self.tally.extremes(span.min_ns, span.max_ns);
        self.last_ns = span.max_ns.or(self.last_ns);
        for (ns, count) in &span.samples {
            if !self.tally.histogram.record_n(*ns, *count) {
                self.tally.counters.clipped += count;
            }
        }
    }

    /// True if a sample of this value is over the threshold.
    pub(crate) fn is_over(&self, value_ns: i64) -> bool {
        self.threshold_ns.is_some_and(|threshold| value_ns > threshold)
    }

    /// Has the spike that was just kept explained when its turn comes.
    pub(crate) fn ask_later(&mut self, at_ns: u64, value_ns: i64, question: Question) {
        if let Some(spike) = self.spikes.len().checked_sub(1) {
            self.waiting.push(Waiting {
                value_ns,
                at_ns,
                spike,
                question,
            });
        }
    }

    /// True if spikes wait to be explained; puts them in order.
    pub(crate) fn is_waiting(&mut self) -> bool {
        self.waiting.sort();
        !self.waiting.is_empty()
    }

    /// Has the worst that waits explained; whether others do.
    pub(crate) fn ask_worst(&mut self, reasons: &mut Reasons) -> bool {
        if let Some(waiting) = self.waiting.pop() {
            let with_flight = self.flights.want(waiting.value_ns);
            if let Some(answer) = reasons.ask(self.id, &waiting.question, with_flight) {
                self.explain(&waiting, answer);
            }
        }
        !self.waiting.is_empty()
    }

    /// A round is over: what waits and is not among the worst of the run any more is not looked at. The rest has its turn in the
    /// next round.
    pub(crate) fn pass_over_lesser(&mut self, reasons: &mut Reasons) {
        let floor_ns = self.worst.floor().unwrap_or(i64::MIN);
        self.pass_over(floor_ns, WORST, reasons);
    }

    fn pass_over(&mut self, floor_ns: i64, most: usize, reasons: &mut Reasons) {
        for lesser in self.waiting.take_lesser(floor_ns, most) {
            let answer = reasons.pass_over(self.id, &lesser.question);
            self.explain(&lesser, answer);
        }
    }

    /// The window is about to close: has those explained that are among the worst, and then others, as far as the round has time.
    pub(crate) fn settle(&mut self, reasons: &mut Reasons) {
        if !self.is_waiting() {
            return;
        }
        // However long the round took for others.
        self.ask_worst(reasons);
        while reasons.has_room() && self.ask_worst(reasons) {}
        self.pass_over_lesser(reasons);
        while reasons.has_time_at_an_end() && self.ask_worst(reasons) {}
        self.pass_over(i64::MAX, 0, reasons);
    }

    /// How many samples of the open window are kept one by one.
    pub(crate) fn spikes(&self) -> usize {
        self.spikes.len()
    }

    /// Takes out the kept samples of the open window that do not wait to be explained.
    pub(crate) fn hand_over_spikes(&mut self) -> Vec<Spike> {
        let (waiting, ready) = self.waiting.take_along(std::mem::take(&mut self.spikes));
        self.spikes = waiting;
        ready
    }

    /// Takes out the kept samples of the open window that are still among the worst of the run, or over the threshold: the run file would
    /// drop the others again.
    fn take_worst(&mut self) -> Vec<Spike> {
        let floor_ns = self.worst.floor().unwrap_or(i64::MIN);
        let mut spikes = std::mem::take(&mut self.spikes);
        spikes.retain(|spike| spike.value_ns >= floor_ns || self.is_over(spike.value_ns));
        spikes
    }

    fn explain(&mut self, waiting: &Waiting, answer: Answer) {
        if let Some(events) = answer.flight {
            self.flights.offer(waiting.value_ns, waiting.at_ns, events);
        }
        if let Some(spike) = self.spikes.get_mut(waiting.spike) {
            spike.explanation = Some(answer.explanation);
        }
    }

    /// Keeps the sample as a spike if it is over the threshold or among the worst; whether it did.
    pub(crate) fn keep_if_bad(&mut self, sample: Sample) -> bool {
        let over = self.is_over(sample.value_ns);
        let among_worst = self.worst.offer(sample.value_ns, ());
        let room = self.over_threshold < OVER_THRESHOLD_PER_WINDOW;
        if over && room {
            self.over_threshold += 1;
        }
        let kept = among_worst || (over && room);
        if kept {
            self.spikes.push(Spike {
                series: self.id,
                at_ns: sample.at_ns,
                value_ns: sample.value_ns,
                cpu: Some(u32::from(sample.cpu)),
                // The run file has no room for larger ones. They come from the network, where anything may stand.
                sequence: i64::try_from(sample.sequence).ok().map(|_| sample.sequence),
                explanation: None,
            });
        }
        kept
    }

    pub(crate) fn count(&mut self, counter: Counter, n: u64) {
        self.tally.count(counter, n);
    }

    pub(crate) fn overrun(&mut self, n: u64) {
        self.tally.counters.overrun += n;
    }

    /// Closes the window at `end_ns` and opens the next one there. Nothing comes out of a window in which nothing happened.
    pub(crate) fn close(&mut self, end_ns: u64) -> Option<Closed> {
        let start_ns = std::mem::replace(&mut self.start_ns, end_ns);
        if self.tally.is_empty() {
            return None;
        }
        let window = self.tally.window(self.id, start_ns, end_ns);
        self.total.add(&window.counters);
        self.total_sum_ns += window.sum_ns;
        self.total_min_ns = self.total_min_ns.into_iter().chain(window.min_ns).min();
        self.total_max_ns = self.total_max_ns.max(window.max_ns);
        self.tally.reset();
        self.over_threshold = 0;
        let series = self.id;
        let flights = self
            .flights
            .take()
            .map(|(at_ns, bytes)| Flight { series, at_ns, bytes });
        Some(Closed {
            window,
            spikes: self.take_worst(),
            flights: flights.collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Open, Sample, WORST};
    use model::{SeriesId, SeriesSpec};

    /// Values that a window hands over of a thousand that rise, in their order.
    fn handed_over(threshold_ns: Option<u64>) -> Vec<i64> {
        let spec = SeriesSpec {
            threshold_ns,
            ..SeriesSpec::named("one")
        };
        let mut open = Open::new(SeriesId(0), "one".into(), &spec, 0);
        for value_ns in 0..1_000_i64 {
            let kept = open.sample(Sample {
                at_ns: value_ns.unsigned_abs(),
                value_ns,
                repeat: 1,
                cpu: 0,
                sequence: 0,
            });
            assert!(kept, "the worst so far");
        }
        let closed = open.close(1_000).expect("a window");
        assert_eq!(closed.window.counters.received, 1_000);
        closed.spikes.iter().map(|spike| spike.value_ns).collect()
    }

    #[test]
    fn samples_that_worse_ones_of_their_window_pushed_out_are_not_handed_over() {
        let worst: Vec<i64> = (1_000 - WORST as i64..1_000).collect();
        assert_eq!(handed_over(None), worst);
    }

    #[test]
    fn samples_over_the_threshold_are_handed_over_however_many_are_worse() {
        let over: Vec<i64> = (501..1_000).collect();
        assert_eq!(handed_over(Some(500)), over);
    }
}
