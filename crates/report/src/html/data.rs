//! The figures behind the zoomable charts, as JSON inside the page.

use crate::Report;
use crate::limits::{Quantity, Unit};
use model::{RunView, SeriesView, WindowRow};
use serde::Serialize;
use stats::Bucket;

/// Points of a time line that a chart can show.
const MOST_POINTS: usize = 2000;
/// Points of all time lines together, so that hundreds of series stay a file a browser opens at once.
const MOST_POINTS_IN_ALL: usize = 200_000;
/// Bars of a histogram to each factor of ten.
pub(super) const BARS_PER_DECADE: u32 = 30;

#[derive(Serialize)]
struct Data {
    /// Length of the run.
    length_s: f64,
    series: Vec<SeriesData>,
    events: Vec<(f64, &'static str, String)>,
}

#[derive(Serialize)]
struct SeriesData {
    name: String,
    limit: Option<u64>,
    time: TimeData,
    bars: BarData,
}

/// One entry for each point of a time line.
#[derive(Serialize)]
struct TimeData {
    /// Start of the window, in seconds since the run's start.
    at: Vec<f64>,
    max: Vec<Option<i64>>,
    p99: Vec<Option<u64>>,
    p50: Vec<Option<u64>>,
}

#[derive(Serialize)]
struct BarData {
    /// Lower edges of the bars in ns; at the end the last one's upper edge.
    edges: Vec<u64>,
    /// Samples in each bar, none where there are none; at the end one more.
    counts: Vec<Option<u64>>,
}

/// A point of a time line: one window, or the worst of several.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ChartPoint {
    pub(super) at_s: f64,
    pub(super) max: Option<i64>,
    pub(super) p99: Option<u64>,
    pub(super) p50: Option<u64>,
}

/// Windows as at most `most` points: of windows that share a point, the worst of each figure.
pub(super) fn points(windows: &[WindowRow], most: usize) -> Vec<ChartPoint> {
    let per_point = windows.len().div_ceil(most.max(1)).max(1);
    let point = |group: &[WindowRow]| ChartPoint {
        at_s: group[0].start_ns as f64 / 1e9,
        max: group.iter().filter_map(|window| window.max_ns).max(),
        p99: group.iter().filter_map(|window| window.p99_ns).max(),
        p50: group.iter().filter_map(|window| window.p50_ns).max(),
    };
    windows.chunks(per_point).map(point).collect()
}

/// The strictest limit on a duration of a series, to draw: on its maximum if there is one.
pub(super) fn limit_of(report: &Report, series: &SeriesView) -> Option<u64> {
    let checks = || {
        report
            .judgement
            .checks
            .iter()
            .filter(|check| check.series == series.spec.name && check.limit.quantity.unit() == Unit::Ns)
    };
    let of_maximum = checks()
        .filter_map(|check| match check.limit.quantity {
            Quantity::Max => Some(check.limit.allowed),
            Quantity::Excess => check.bound.map(|bound| bound.limit_ns),
            _ => None,
        })
        .min();
    let others = || checks().filter(|check| check.limit.quantity != Quantity::Excess);
    of_maximum.or_else(|| others().map(|check| check.limit.allowed).min())
}

/// Bars of a histogram: edges, one more than counts.
pub(super) fn bars(series: &SeriesView) -> Vec<Bucket> {
    series.histogram.log_buckets(BARS_PER_DECADE)
}

/// JSON that can stand inside a script element.
pub(super) fn json(report: &Report) -> String {
    let run = &report.run;
    let most = (MOST_POINTS_IN_ALL / run.series.len().max(1)).clamp(100, MOST_POINTS);
    let data = Data {
        length_s: run.duration_ns as f64 / 1e9,
        series: run
            .series
            .iter()
            .map(|series| series_data(report, series, most))
            .collect(),
        events: events(run),
    };
    // Numbers and text only: this cannot fail, and "</script" must not end the element.
    serde_json::to_string(&data).unwrap_or_default().replace('<', "\\u003c")
}

fn series_data(report: &Report, series: &SeriesView, most: usize) -> SeriesData {
    let points = points(&series.windows, most);
    let bars = bars(series);
    let mut edges: Vec<u64> = bars.iter().map(|bar| bar.low_ns).collect();
    let mut counts: Vec<Option<u64>> = bars.iter().map(|bar| (bar.count > 0).then_some(bar.count)).collect();
    if let Some(last) = bars.last() {
        edges.push(last.high_ns + 1);
        counts.push(None);
    }
    SeriesData {
        name: series.spec.name.clone(),
        limit: limit_of(report, series),
        time: TimeData {
            at: points.iter().map(|point| point.at_s).collect(),
            max: points.iter().map(|point| point.max).collect(),
            p99: points.iter().map(|point| point.p99).collect(),
            p50: points.iter().map(|point| point.p50).collect(),
        },
        bars: BarData { edges, counts },
    }
}

fn events(run: &RunView) -> Vec<(f64, &'static str, String)> {
    run.events
        .iter()
        .map(|event| (event.at_ns as f64 / 1e9, event.kind.word(), event.text.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::points;
    use testing::synthetic::series;

    #[test]
    fn thinning_keeps_every_maximum() {
        let long = series("wakeup/cpu1", 40_000, 60_000, 4_001);
        assert_eq!(points(&long.windows, 5_000).len(), 4_001);
        let thin = points(&long.windows, 2_000);
        assert!(thin.len() <= 2_000 && thin.len() > 1_000);
        assert_eq!(thin.iter().filter_map(|point| point.max).max(), Some(60_000));
        assert_eq!(thin[1].at_s, 3.0);
        let worst = long.windows[3..6].iter().filter_map(|window| window.max_ns).max();
        assert_eq!(thin[1].max, worst);
        assert!(points(&[], 2_000).is_empty());
    }
}
