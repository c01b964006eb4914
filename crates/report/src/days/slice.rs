//! The part of a run that belongs to one day, so that it can be judged like a run.

use model::kind::Accounts;
use model::{Counters, Rows, RunState, RunView, SeriesView, WindowRow};
use stats::Histogram;

/// Cuts days out of a run, one at a time: a copy of all would take as much memory as the run.
pub(super) struct Slicer<'a> {
    run: &'a RunView,
    /// The run with the series and the shots of the present day. It keeps all events: whether one of them matters is decided by the windows of a series.
    day: RunView,
}

impl<'a> Slicer<'a> {
    pub(super) fn new(run: &'a RunView) -> Self {
        let day = RunView {
            info: run.info.clone(),
            file: run.file.clone(),
            series: Vec::new(),
            events: run.events.clone(),
            shots: Vec::new(),
            along: Vec::new(),
            actions: Vec::new(),
            readings: Vec::new(),
            changes: Vec::new(),
            watches: Vec::new(),
            facts: run.facts.clone(),
            last_facts: run.last_facts.clone(),
            lacks: run.lacks.clone(),
            lacks_log: run.lacks_log.clone(),
            ..*run
        };
        Self { run, day }
    }

    /// The day with these borders. Only the last one is touched by an early end of the run.
    pub(super) fn day(&mut self, span_ns: (u64, u64), is_last: bool) -> &RunView {
        self.day.state = if is_last { self.run.state } else { RunState::Complete };
        self.day.series = self.run.series.iter().map(|series| of_day(series, span_ns)).collect();
        // The window of a shot may begin on the day before, or end on the day after.
        let window_ns = self.run.info.window_ns;
        let (from_ns, to_ns) = (span_ns.0.saturating_sub(window_ns), span_ns.1.saturating_add(window_ns));
        let shots = self.run.shots.iter();
        let of_day = shots.filter(|shot| (from_ns..to_ns).contains(&shot.at_ns));
        self.day.shots = of_day.cloned().collect();
        &self.day
    }
}

/// A series with the windows and the kept samples of a day.
fn of_day(series: &SeriesView, (from_ns, to_ns): (u64, u64)) -> SeriesView {
    let is_of = |window: &&WindowRow| window.start_ns < to_ns && from_ns < window.end_ns;
    let windows: Vec<WindowRow> = series.windows.iter().filter(is_of).cloned().collect();
    let mut counters = Counters::default();
    windows.iter().for_each(|window| counters.add(&window.counters));
    let begin_ns = windows.first().map_or(from_ns, |window| window.start_ns);
    let end_ns = windows.last().map_or(to_ns, |window| window.end_ns);
    let spikes = series
        .spikes
        .iter()
        .filter(|spike| (begin_ns..end_ns).contains(&spike.at_ns));
    let spikes: Vec<_> = spikes.cloned().collect();
    SeriesView {
        id: series.id,
        spec: series.spec.clone(),
        counters,
        sum_ns: windows.iter().map(|window| window.sum_ns).sum(),
        min_ns: windows.iter().filter_map(|window| window.min_ns).min(),
        max_ns: windows.iter().filter_map(|window| window.max_ns).max(),
        spikes_dropped: series.spikes_dropped,
        histogram: histogram(&windows, spikes.iter().map(|spike| spike.value_ns)),
        spikes_kept: spikes.len() as u64,
        spikes: spikes.into(),
        windows: Rows::from(windows),
        causes: Vec::new(),
    }
}

/// The samples of a day, as far as they are kept: single ones, the largest of each window, and the others at the mean of their window. Long ones
/// explain skipped periods; no quantile is taken from it.
fn histogram(windows: &[WindowRow], kept: impl Iterator<Item = i64>) -> Histogram {
    let mut histogram = Histogram::new();
    let mut singles: Vec<i64> = kept.collect();
    singles.sort_unstable();
    for window in windows {
        let Some(max_ns) = window.max_ns.filter(|_| window.samples > 0) else {
            continue;
        };
        let is_kept = singles.binary_search(&max_ns).is_ok();
        if !is_kept {
            histogram.record(max_ns.unsigned_abs());
        }
        let mean_ns = window.mean_ns.unwrap_or(0.0).max(0.0) as u64;
        histogram.record_n(mean_ns, window.samples.saturating_sub(u64::from(!is_kept)));
    }
    singles.into_iter().for_each(|ns| {
        histogram.record(ns.unsigned_abs());
    });
    histogram
}

/// Time of a day that no window of a series covers, if it is more than two windows and a minute; `None` where a series need not have samples all the
/// time, unless it has none at all.
pub(super) fn unmeasured_ns(series: &SeriesView, (from_ns, to_ns): (u64, u64), window_ns: u64) -> Option<u64> {
    let covered = |window: &WindowRow| window.end_ns.min(to_ns).saturating_sub(window.start_ns.max(from_ns));
    let covered_ns: u64 = series.windows.iter().map(covered).sum();
    let missing_ns = to_ns.saturating_sub(from_ns).saturating_sub(covered_ns);
    let is_paced = series.kind().is_some_and(|kind| kind.accounts != Accounts::None);
    let is_gap = missing_ns > super::REST_NS.max(2 * window_ns);
    (is_gap && (is_paced || series.windows.is_empty())).then_some(missing_ns)
}
