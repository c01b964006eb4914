//! The open window of one series.

use crate::counted::CountedSpan;
use crate::reasons::{Flights, Reasons};
use crate::recorder::Live;
use crate::waiting::{Queue, Waiting};
use crate::why::Answer;
use model::{Counter, Counters, Flight, Kind, Question, SeriesId, SeriesSpec, Spike, Tally, Window};
use stats::Worst;

/// Worst samples kept per series, as the run file promises.
const WORST: usize = 100;

/// Most samples over the threshold kept as spikes per window. A threshold set far too low must not flood the file: the counter
/// `overflow` counts them all.
const OVER_THRESHOLD_PER_WINDOW: usize = 1_000;

/// The recorder's data about one series: its open window and the floor of its worst samples.
pub(crate) struct Open {
    id: SeriesId,
    kind: Option<&'static Kind>,
    name: String,
    /// The name it was meant to have, under which a later feed looks for it.
    wanted: String,
    threshold_ns: Option<i64>,
    interval_ns: u64,
    start_ns: u64,
    /// The end of the counts from elsewhere: the window does not end before it.
    reach_ns: u64,
    /// True if measuring has begun, so that windows follow each other without a gap.
    has_begun: bool,
    /// Instant of the newest record.
    newest_ns: u64,
    tally: Tally,
    worst: Worst<()>,
    spikes: Vec<Spike>,
    /// The spikes among these that still need an explanation.
    waiting: Queue,
    flights: Flights,
    over_threshold: usize,
    total: Counters,
    total_sum_ns: i128,
    total_min_ns: Option<i64>,
    total_max_ns: Option<i64>,
    last_ns: Option<i64>,
}

/// Contents of a closed window, passed to the run file.
pub(crate) struct Closed {
    pub(crate) window: Window,
    pub(crate) spikes: Vec<Spike>,
    pub(crate) flights: Vec<Flight>,
}

/// A sample to be added to a window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) at_ns: u64,
    pub(crate) value_ns: i64,
    pub(crate) repeat: u16,
    pub(crate) cpu: u16,
    pub(crate) sequence: u64,
}

impl Open {
    /// Makes the window of series `id`, stored as `name`.
    pub(crate) fn new(id: SeriesId, name: String, spec: &SeriesSpec, start_ns: u64) -> Self {
        Self {
            id,
            kind: spec.kind,
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

    /// Its kind and number; `None` if its kind is not known.
    pub(crate) fn course(&self) -> Option<(&'static Kind, SeriesId)> {
        Some((self.kind?, self.id))
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The name it was meant to have, which another series may already have.
    pub(crate) fn wanted(&self) -> &str {
        &self.wanted
    }

    pub(crate) fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// End of the open window: on the run's grid, even if the window began late.
    pub(crate) fn end_on_grid(&self, window_ns: u64) -> u64 {
        (self.start_ns.max(self.reach_ns) / window_ns + 1) * window_ns
    }

    /// Begins at the first record, if it has not begun.
    pub(crate) fn begin(&mut self, first_ns: u64) {
        if !self.has_begun {
            self.measured(first_ns, 0);
        }
    }

    /// Instant from which on nothing has been passed to the file yet.
    pub(crate) fn open_since_ns(&self) -> u64 {
        self.newest_ns + 1
    }

    /// Notes a measurement at `at_ns` that took `took_ns`. The first window begins with it, not on the run's grid, because only
    /// part of that window's time was measured.
    pub(crate) fn measured(&mut self, at_ns: u64, took_ns: i64) {
        if !self.has_begun {
            self.has_begun = true;
            let took_ns = u64::try_from(took_ns).unwrap_or(0).max(self.interval_ns);
            // Not before the end of the previous window, which a resumed series has.
            self.start_ns = at_ns.saturating_sub(took_ns).max(self.newest_ns.min(at_ns));
        }
        self.newest_ns = self.newest_ns.max(at_ns);
    }

    /// Pauses the measurement: closes the window at the last record. The next window begins with a record.
    pub(crate) fn pause(&mut self) -> Option<Closed> {
        self.has_begun = false;
        let end_ns = self.end_of_measuring(u64::MAX);
        self.newest_ns = self.newest_ns.max(end_ns);
        self.close(end_ns)
    }

    /// End of a window that gets no more records, and that ends at `end_ns` on the run's grid.
    pub(crate) fn end_of_measuring(&self, end_ns: u64) -> u64 {
        (self.newest_ns + 1).clamp(self.start_ns + 1, end_ns.max(self.start_ns + 1))
    }

    /// Present state of the series over the whole run so far, including the open window.
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

    /// Adds a sample. Returns true if it is kept as a spike.
    pub(crate) fn sample(&mut self, sample: Sample) -> bool {
        let n = u64::from(sample.repeat);
        self.tally.sample(sample.value_ns, n);
        self.last_ns = Some(sample.value_ns);
        if self.is_over(sample.value_ns) {
            self.tally.counters.overflow += n;
        }
        self.keep_if_bad(sample)
    }

    /// Adds samples that were counted elsewhere, up to `at_ns`.
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

    /// Queues the spike that was just kept for an explanation.
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

    /// Sorts the waiting spikes. Returns true if there are any.
    pub(crate) fn is_waiting(&mut self) -> bool {
        self.waiting.sort();
        !self.waiting.is_empty()
    }

    /// Explains the worst waiting spike. Returns true if others wait.
    pub(crate) fn ask_worst(&mut self, reasons: &mut Reasons) -> bool {
        if let Some(waiting) = self.waiting.pop() {
            let with_flight = self.flights.want(waiting.value_ns);
            if let Some(answer) = reasons.ask(self.id, &waiting.question, with_flight) {
                self.explain(&waiting, answer);
            }
        }
        !self.waiting.is_empty()
    }

    /// Ends a round: waiting samples that are no longer among the worst of the run get no explanation. The others wait for the next
    /// round.
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

    /// Explains waiting samples before the window closes: first the ones among the worst, then others, as far as the round has
    /// time.
    pub(crate) fn settle(&mut self, reasons: &mut Reasons) {
        if !self.is_waiting() {
            return;
        }
        let begin = reasons.spent();
        // At least one, even if the round has spent its time on others.
        self.ask_worst(reasons);
        while reasons.has_room() && self.ask_worst(reasons) {}
        self.pass_over_lesser(reasons);
        while reasons.has_time_at_an_end(begin) && self.ask_worst(reasons) {}
        self.pass_over(i64::MAX, 0, reasons);
    }

    /// Number of samples of the open window that are kept one by one.
    pub(crate) fn spikes(&self) -> usize {
        self.spikes.len()
    }

    /// Takes out the kept samples of the open window that wait for no explanation.
    pub(crate) fn hand_over_spikes(&mut self) -> Vec<Spike> {
        let (waiting, ready) = self.waiting.take_along(std::mem::take(&mut self.spikes));
        self.spikes = waiting;
        ready
    }

    /// Takes out the kept samples of the open window that are still among the worst of the run, or over the threshold: the run file
    /// would drop the others anyway.
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

    /// Keeps the sample as a spike if it is over the threshold or among the worst. Returns true if it was kept.
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
                // The run file cannot store larger numbers. The numbers come from the network and can have any value.
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

    /// Closes the window at `end_ns` and opens the next one there. An empty window returns `None`.
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

    /// Values that a window passes on from a thousand rising values, in their order.
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
