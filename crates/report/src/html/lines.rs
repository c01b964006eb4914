//! The lines of a kind's time chart: for one series its figures, for several the largest sample of each.

use model::{Figure, FigureValue, SeriesView};
use std::collections::BTreeMap;

/// Maximum number of series with their own line; the others share one.
pub(crate) const MOST_OWN: usize = super::overlay::CLASSES;

/// A line over time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve {
    /// Its name, as text for people.
    pub(crate) name: String,
    /// The CSS class that sets its colour.
    pub(crate) look: String,
    /// Seconds since the run's start, and the value in ns.
    pub(crate) points: Vec<(f64, Option<f64>)>,
}

/// Lines with at most `most` points each, the faintest first. `series` must begin with the one that has the largest
/// maximum.
pub(crate) fn of(series: &[&SeriesView], most: usize) -> Vec<Curve> {
    match series {
        [] => Vec::new(),
        [only] => of_one(only, most),
        _ => of_several(series, most),
    }
}

fn of_one(series: &SeriesView, most: usize) -> Vec<Curve> {
    let lines = [
        ("median", "p50", Figure::P50),
        ("p99", "p99", Figure::P99),
        ("largest", "max", Figure::Max),
    ];
    let line = |(name, look, figure): (&str, &str, Figure)| Curve {
        name: name.to_owned(),
        look: look.to_owned(),
        points: thinned(&values(series, figure), most),
    };
    lines.map(line).to_vec()
}

/// A figure of each window, with the window's beginning in ns.
fn values(series: &SeriesView, figure: Figure) -> Vec<(u64, Option<f64>)> {
    let windows = series.windows.iter();
    windows
        .map(|window| (window.start_ns, window.figure(figure).map(FigureValue::ns)))
        .collect()
}

fn of_several(series: &[&SeriesView], most: usize) -> Vec<Curve> {
    let (own, others) = series.split_at(series.len().min(MOST_OWN));
    let mut lines = Vec::new();
    if !others.is_empty() {
        let mut largest: BTreeMap<u64, Option<f64>> = BTreeMap::new();
        for (start_ns, max) in others.iter().flat_map(|series| values(series, Figure::Max)) {
            let known = largest.entry(start_ns).or_default();
            *known = larger(*known, max);
        }
        lines.push(Curve {
            name: format!("largest of {} others", others.len()),
            look: "others".to_owned(),
            points: thinned(&largest.into_iter().collect::<Vec<_>>(), most),
        });
    }
    lines.extend(own.iter().enumerate().rev().map(|(at, series)| Curve {
        name: series.spec.label().to_owned(),
        look: format!("run{at}"),
        points: thinned(&values(series, Figure::Max), most),
    }));
    lines
}

/// Reduces values to at most `most` points: the largest of the values that share a point is kept.
fn thinned(values: &[(u64, Option<f64>)], most: usize) -> Vec<(f64, Option<f64>)> {
    let per_point = values.len().div_ceil(most.max(1)).max(1);
    let point = |group: &[(u64, Option<f64>)]| {
        let largest = group.iter().map(|(_, ns)| *ns).fold(None, larger);
        (group[0].0 as f64 / 1e9, largest)
    };
    values.chunks(per_point).map(point).collect()
}

fn larger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        _ => a.or(b),
    }
}

/// Time from the beginning of the first window of these series to the end of the last one, in seconds since the run's
/// start.
pub(crate) fn span_s(series: &[&SeriesView]) -> (f64, f64) {
    let windows = || series.iter().flat_map(|series| &series.windows);
    let first = windows().map(|window| window.start_ns).min().unwrap_or(0);
    let last = windows().map(|window| window.end_ns).max().unwrap_or(0);
    (first as f64 / 1e9, last as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::{MOST_OWN, of, span_s};
    use testing::synthetic::series;

    #[test]
    fn thinning_keeps_every_maximum() {
        let long = series("wakeup/cpu1", 40_000, 60_000, 4_001);
        assert_eq!(of(&[&long], 5_000)[2].points.len(), 4_001);
        let thin = &of(&[&long], 2_000)[2].points;
        assert!(thin.len() <= 2_000 && thin.len() > 1_000);
        let largest = |points: &[(f64, Option<f64>)]| points.iter().filter_map(|point| point.1).fold(0.0, f64::max);
        assert_eq!(largest(thin), 60_000.0);
        assert_eq!(thin[1].0, 3.0);
        let worst = long.windows[3..6].iter().filter_map(|window| window.max_ns).max();
        assert_eq!(thin[1].1, worst.map(|ns| ns as f64));
        assert!(of(&[], 2_000).is_empty());
    }

    #[test]
    fn the_series_behind_the_worst_share_a_line_that_keeps_their_maxima() {
        let many: Vec<_> = (0..10)
            .map(|n| series(&format!("age/MU{n:02}"), 1000, 90_000 - n, 10))
            .collect();
        let lines = of(&many.iter().collect::<Vec<_>>(), 100);
        assert_eq!(lines.len(), MOST_OWN + 1);
        assert_eq!(
            (lines[0].name.as_str(), lines[0].look.as_str()),
            ("largest of 4 others", "others")
        );
        let largest = lines[0].points.iter().filter_map(|point| point.1).fold(0.0, f64::max);
        assert_eq!(largest, 89_994.0);
        assert_eq!(lines[MOST_OWN].name, "MU00");
    }

    #[test]
    fn a_chart_spans_what_its_series_measured() {
        let mut late = series("rtt/reflect", 1000, 90_000, 10);
        late.windows.drain(..4);
        assert_eq!(span_s(&[&late]), (4.0, 10.0));
        assert_eq!(span_s(&[]), (0.0, 0.0));
    }
}
