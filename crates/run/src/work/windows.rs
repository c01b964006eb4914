//! Opens and closes windows on the run's grid.

use super::Work;
use crate::reasons::Reasons;
use crate::window::{Closed, Open};
use model::SeriesSpec;
use store::Batch;

/// Delay in ns between the end of a window and its closing, so that records still in a ring find it open.
const GRACE_NS: u64 = 100_000_000;

impl Work {
    /// Closes the series' window if this instant is after its end, and opens the window that contains it.
    pub(super) fn open_window_of(&mut self, series: &mut Open, at_ns: u64) {
        let end_ns = series.end_on_grid(self.window_ns);
        if at_ns >= end_ns {
            push_window(&mut self.batch, &mut self.reasons, series, end_ns);
            self.skip_to(series, at_ns);
        }
    }

    /// Makes a series whose first window begins at `start_ns`. Its name is decided when it is stored: labels come from the network,
    /// and two may be the same.
    pub(super) fn add_series(&mut self, spec: &SeriesSpec, start_ns: u64) -> Option<Open> {
        let writer = self.writer.as_mut()?;
        let name = writer.name_for(&spec.name);
        match writer.add_series(spec) {
            Ok(id) => Some(Open::new(id, name, spec, start_ns)),
            Err(error) => {
                self.fail(error);
                None
            }
        }
    }

    /// After a gap without records the next window starts on the run's own grid, not where the last one ended.
    pub(super) fn skip_to(&mut self, series: &mut Open, at_ns: u64) {
        let start_ns = at_ns / self.window_ns * self.window_ns;
        if start_ns > series.start_ns() {
            push_window(&mut self.batch, &mut self.reasons, series, start_ns);
        }
    }

    pub(super) fn close_windows(&mut self, now_ns: u64, all: bool) {
        let window_ns = self.window_ns;
        for feed in self.feeds.values_mut().filter(|feed| all || feed.source.is_over()) {
            feed.courses.end(&mut self.batch.slices);
        }
        let measured = self.feeds.values_mut().flat_map(|feed| {
            let is_over = feed.source.is_over();
            let series = feed.series.iter_mut().flatten();
            series.map(move |series| (series, is_over, now_ns.saturating_sub(GRACE_NS)))
        });
        // The reader of counts from elsewhere may be late: its own report decides, not the time.
        let counted = self
            .counted
            .values_mut()
            .map(|series| (series, all, self.counted_until_ns));
        for (series, is_over, until_ns) in measured.chain(counted) {
            let end_ns = series.end_on_grid(window_ns);
            if until_ns < end_ns && !all {
                continue;
            }
            let end_ns = match is_over {
                true => series.end_of_measuring(end_ns),
                false if all => now_ns.max(series.start_ns() + 1).min(end_ns),
                false => end_ns,
            };
            push_window(&mut self.batch, &mut self.reasons, series, end_ns);
        }
    }
}

fn push_window(batch: &mut Batch, reasons: &mut Reasons, series: &mut Open, end_ns: u64) {
    series.settle(reasons);
    keep(batch, series.close(end_ns));
}

pub(super) fn keep(batch: &mut Batch, closed: Option<Closed>) {
    if let Some(closed) = closed {
        batch.windows.push(closed.window);
        batch.spikes.extend(closed.spikes);
        batch.flights.extend(closed.flights);
    }
}
