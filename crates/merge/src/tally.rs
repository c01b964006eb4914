//! A series between two runs: counts of measured, lost and unknown frames.

use super::own::Lost;
use model::{SeriesId, Window};
use run::ReadSeries;
use std::collections::VecDeque;
use store::Batch;

/// Number of windows with losses that are held back.
const HELD: usize = 2;

/// Result for a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Its duration in ns.
    Took(i64),
    /// It was recorded at both ends, but its duration is unknown.
    Passed,
    /// It was lost.
    Lost,
    /// It is unknown if it arrived.
    Unknown,
}

/// A series under construction.
pub(super) struct Tally {
    pub(super) series: SeriesId,
    open: ReadSeries,
    /// Windows with losses that may turn out to be false: other runs' windows start at other times, and the kernel reports a loss half a second late.
    held: VecDeque<Window>,
    /// Frames that count as lost here but were lost further on, in another run's first hop, which has no record of them.
    lost_later: VecDeque<Lost>,
    /// Number of these frames that have a record.
    recorded_later: u64,
    /// Frames that were lost earlier, without a record, and so count as lost here, too.
    lost_before: VecDeque<Lost>,
    /// Number of these frames that have a record.
    recorded_before: u64,
    /// Number of paired frames.
    pub(super) paired: u64,
    /// Number of records that match two frames, and were not paired.
    pub(super) doubtful: u64,
    /// Number of records of the later run that are missing in the earlier one.
    pub(super) strange: u64,
}

impl Tally {
    /// A tally of a newly opened series.
    pub(super) fn new(open: ReadSeries, lost_later: Vec<Lost>, lost_before: Vec<Lost>) -> Self {
        Self {
            series: open.series(),
            open,
            held: VecDeque::new(),
            lost_later: lost_later.into(),
            recorded_later: 0,
            lost_before: lost_before.into(),
            recorded_before: 0,
            paired: 0,
            doubtful: 0,
            strange: 0,
        }
    }

    /// Counts a frame that was due at `at_ns` since the run's start.
    pub(super) fn count(&mut self, outcome: Outcome, at_ns: u64, smp_cnt: u16) {
        self.paired += u64::from(matches!(outcome, Outcome::Took(_) | Outcome::Passed));
        match outcome {
            Outcome::Took(ns) => self.open.sample(at_ns, ns, u64::from(smp_cnt)),
            Outcome::Passed | Outcome::Unknown => self.open.counters().expected += 1,
            Outcome::Lost => {
                let counters = self.open.counters();
                counters.expected += 1;
                counters.lost += 1;
            }
        }
    }

    /// Records that a frame with a record is also included in `lost_before` or `lost_later`: its record counts.
    pub(super) fn recorded(&mut self, before: bool, later: bool) {
        self.recorded_before += u64::from(before);
        self.recorded_later += u64::from(later);
    }

    /// Counts a duplicate frame.
    pub(super) fn again(&mut self) {
        self.open.counters().duplicate += 1;
    }

    /// Time of the last loss without a record that is not counted yet, if there is one.
    pub(super) fn loses_until_ns(&self) -> Option<u64> {
        self.lost_before.iter().map(|lost| lost.to_ns).max()
    }

    /// Closes the window at `end_ns`.
    pub(super) fn close(&mut self, end_ns: u64, batch: &mut Batch) {
        self.take_lost_before(end_ns);
        let mut closed = Batch::default();
        self.open.close(end_ns, &mut closed);
        batch.spikes.append(&mut closed.spikes);
        self.held.extend(closed.windows);
        self.take_lost_later(end_ns);
        let is_settled = |window: &Window| window.counters.lost == 0;
        while self.lost_later.is_empty() || self.held.len() > HELD || self.held.front().is_some_and(is_settled) {
            let Some(window) = self.held.pop_front() else { break };
            batch.windows.push(window);
        }
    }

    /// Closes the last window at `end_ns`.
    pub(super) fn finish(&mut self, end_ns: u64, batch: &mut Batch) {
        self.close(end_ns, batch);
        self.take_lost_later(u64::MAX);
        batch.windows.extend(self.held.drain(..));
    }

    /// Counts earlier losses as lost here.
    fn take_lost_before(&mut self, end_ns: u64) {
        while let Some(lost) = self.lost_before.pop_front_if(|lost| lost.from_ns < end_ns) {
            let known = lost.frames.min(self.recorded_before);
            self.recorded_before -= known;
            let counters = self.open.counters();
            counters.lost += lost.frames - known;
            counters.expected += lost.frames - known;
        }
    }

    /// Subtracts losses further on, in windows that have ended since, from the losses counted in the newest windows. The remainder belongs to frames
    /// that did not arrive here, and hides no other loss.
    fn take_lost_later(&mut self, end_ns: u64) {
        while let Some(mut lost) = self.lost_later.pop_front_if(|lost| lost.to_ns <= end_ns) {
            let known = lost.frames.min(self.recorded_later);
            self.recorded_later -= known;
            lost.frames -= known;
            for window in &mut self.held {
                let taken = lost.frames.min(window.counters.lost);
                window.counters.lost -= taken;
                lost.frames -= taken;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Lost, Outcome, Tally};
    use model::SeriesId;
    use run::ReadSeries;
    use store::Batch;

    const WINDOW_NS: u64 = 1_000;

    /// Frames lost in each window of a series with these counts, together with losses of another run.
    fn lost(in_windows: &[u64], later: &[Lost]) -> Vec<u64> {
        let mut tally = Tally::new(ReadSeries::new(SeriesId(0), None, 0), later.to_vec(), Vec::new());
        let mut batch = Batch::default();
        for (index, lost) in in_windows.iter().enumerate() {
            tally.count(Outcome::Passed, 0, 0);
            (0..*lost).for_each(|_| tally.count(Outcome::Lost, 0, 0));
            tally.close((index as u64 + 1) * WINDOW_NS, &mut batch);
        }
        tally.finish(in_windows.len() as u64 * WINDOW_NS, &mut batch);
        batch.windows.iter().map(|window| window.counters.lost).collect()
    }

    fn later(window: u64, frames: u64) -> Lost {
        Lost {
            from_ns: window * WINDOW_NS,
            to_ns: (window + 1) * WINDOW_NS,
            frames,
        }
    }

    #[test]
    fn what_was_lost_further_on_is_no_loss_here() {
        assert_eq!(lost(&[0, 5, 0], &[later(1, 3)]), [0, 2, 0]);
        assert_eq!(
            lost(&[0, 5, 0], &[later(2, 3)]),
            [0, 2, 0],
            "it was told in the window after"
        );
    }

    #[test]
    fn it_hides_no_loss_of_another_time() {
        assert_eq!(lost(&[0, 0, 0, 0, 5], &[later(0, 3)]), [0, 0, 0, 0, 5]);
        assert_eq!(lost(&[5, 0, 0, 0, 0], &[later(3, 3)]), [5, 0, 0, 0, 0]);
    }
}
