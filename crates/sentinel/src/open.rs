//! The open windows of all series.

use model::{Counter, SeriesId, SeriesSpec, Spike, Tally, Window};

/// Worst samples that are kept of a window.
const WORST: usize = 10;

/// A series and its open window.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) spec: SeriesSpec,
    tally: Tally,
    worst: Vec<(i64, i64)>,
    /// End of its last window.
    since_ns: i64,
}

impl Open {
    pub(crate) fn new(spec: SeriesSpec) -> Self {
        Self {
            spec,
            tally: Tally::default(),
            worst: Vec::with_capacity(WORST),
            since_ns: i64::MIN,
        }
    }

    /// Adds a sample that was made at `at_ns`.
    pub(crate) fn sample(&mut self, value_ns: i64, at_ns: i64) {
        self.tally.sample(value_ns, 1);
        let is_over = self
            .spec
            .threshold_ns
            .is_some_and(|threshold| u64::try_from(value_ns).is_ok_and(|value| value > threshold));
        self.tally.counters.overflow += u64::from(is_over);
        if self.worst.len() < WORST {
            self.worst.push((value_ns, at_ns));
            return;
        }
        if let Some(least) = self.worst.iter_mut().min_by_key(|each| each.0)
            && least.0 < value_ns
        {
            *least = (value_ns, at_ns);
        }
    }

    /// Adds to a counter.
    pub(crate) fn count(&mut self, counter: Counter, n: u64) {
        if n > 0 {
            self.tally.count(counter, n);
        }
    }

    /// Closes the window of a run that began at `begin_ns`, and begins a new one at `end_ns`. Returns its contents and its worst samples; `None` if it has
    /// none: then it goes on. So the windows cover the time without a sample, too, and an event in it is one of theirs. The last one of a run is there even
    /// without contents, if another one was before.
    pub(crate) fn close(
        &mut self,
        id: SeriesId,
        [begin_ns, end_ns]: [i64; 2],
        is_last: bool,
    ) -> Option<(Window, Vec<Spike>)> {
        let is_needed = is_last && (begin_ns + 1..end_ns).contains(&self.since_ns);
        if self.tally.is_empty() && !is_needed {
            return None;
        }
        let of_run = |ns: i64| u64::try_from(ns - begin_ns).unwrap_or(0);
        let spikes = self.worst.drain(..).map(|(value_ns, at_ns)| Spike {
            series: id,
            at_ns: of_run(at_ns),
            value_ns,
            cpu: None,
            sequence: None,
            explanation: None,
        });
        let spikes = spikes.collect();
        let start_ns = self.since_ns.max(begin_ns);
        let window = self.tally.window(id, of_run(start_ns), of_run(end_ns));
        self.tally.reset();
        self.since_ns = end_ns;
        Some((window, spikes))
    }
}
