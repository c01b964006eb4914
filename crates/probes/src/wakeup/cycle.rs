//! The measuring loop.

use super::series::Notice;
use model::Counter;
use run::{Feed, Stop};
use sys::wait::Wait;
use units::{Grid, Monotonic, Period};

/// Maximum number of cycles before the first recorded one, which load the loop's code and data into memory and caches.
const WARM_UP_CYCLES: u64 = 16;

/// Longest time for these cycles, so that they do not last longer than the measurement. With a long interval there are fewer
/// cycles.
const WARM_UP_NS: u64 = 200_000_000;

/// Settings of one thread.
pub(super) struct Cycle {
    /// True if the thread stays on one CPU; otherwise each sample records its CPU.
    pub(super) pinned: bool,
    pub(super) period: Period,
    /// Time from the common start to its first due instant, in ns.
    pub(super) offset_ns: i64,
    pub(super) duration_ns: Option<u64>,
    pub(super) wait: Wait,
    /// Value in ns; the first sample above it ends the whole measurement.
    pub(super) break_above_ns: Option<u64>,
    pub(super) stop: Stop,
}

impl Cycle {
    /// Measures until the duration is over or a stop is requested.
    pub(super) fn run(&self, start: Monotonic, feed: &mut Feed) {
        let grid = Grid::new(start + self.offset_ns, self.period);
        let mut cycle = self.warm_up(&grid, feed);
        // One is due at the begin, however short the duration is.
        let cycles = self
            .duration_ns
            .map(|ns| cycle.saturating_add(self.period.count_in(ns).max(1)));
        let interval_ns = self.period.whole_ns();
        let break_above_ns = self
            .break_above_ns
            .map_or(i64::MAX, |ns| i64::try_from(ns).unwrap_or(i64::MAX));
        while cycles.is_none_or(|end| cycle < end) && !self.stop.requested() {
            let due = grid.due(cycle);
            let now = self.wait.until(due);
            if now < due {
                // A signal woke the thread early; the same cycle is still due.
                continue;
            }
            if !self.pinned {
                feed.set_cpu(sys::thread::current_cpu());
            }
            feed.sample(0, now, now - due, cycle);
            let next = next_cycle(&grid, cycle, due, now, interval_ns);
            // Cycles after the end were never due.
            let next = cycles.map_or(next, |end| next.min(end));
            feed.count(0, Counter::Missed, now, next - cycle - 1);
            if now - due > break_above_ns {
                feed.notice(0, Notice::Broken, now, u64::try_from(now - due).unwrap_or(0), cycle);
                self.stop.request();
            }
            cycle = next;
        }
    }

    fn warm_up(&self, grid: &Grid, feed: &mut Feed) -> u64 {
        let cycles = (WARM_UP_NS / self.period.whole_ns()).min(WARM_UP_CYCLES);
        let mut cycle = 0;
        while cycle < cycles && !self.stop.requested() {
            let now = self.wait.until(grid.due(cycle));
            cycle = grid.first_after(now).max(cycle + 1);
        }
        if cycle > cycles {
            feed.notice(0, Notice::LateStart, grid.due(cycle), cycle - cycles, 0);
        }
        cycle
    }
}

/// The next cycle whose due instant has not passed. The usual case needs no division.
fn next_cycle(grid: &Grid, cycle: u64, due: Monotonic, now: Monotonic, interval_ns: u64) -> u64 {
    let on_time = u64::try_from(now - due).is_ok_and(|late| late < interval_ns);
    if on_time {
        cycle + 1
    } else {
        grid.first_after(now).max(cycle + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::next_cycle;
    use units::{Grid, Monotonic};

    #[test]
    fn a_stall_skips_the_cycles_it_slept_through() {
        let grid = Grid::every_ns(Monotonic::from_ns(0), 1_000);
        let due = grid.due(5);
        for (late, next) in [(0, 6), (999, 6), (1_000, 7), (1_001, 7), (7_400, 13)] {
            assert_eq!(next_cycle(&grid, 5, due, due + late, 1_000), next, "late by {late}");
        }
    }
}
