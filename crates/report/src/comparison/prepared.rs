//! One series of two runs, prepared for comparison. The comparison needs the total number of figures, so it follows
//! later.

use crate::insight::whole_windows;
use crate::spans::window_ns;
use model::{Counter, Counters, SeriesView, WindowRow};
use stats::comparison::{
    BySamples, Difference, Happened, Pair, Rare, RareDifference, RarePair, SampledPair, WindowFigures, by_samples,
    highest, pairs,
};
use units::format_ns;

/// Lengths and intervals that differ by less than this share are treated as equal.
const SAME: f64 = 0.01;

/// Figures and rare events of run B next to those of run A.
#[derive(Debug, Clone, Default)]
pub(super) struct Prepared {
    figures: Vec<Pair>,
    by_samples: Vec<SampledPair>,
    rare: Vec<RarePair>,
    /// Reason why nothing of it is compared.
    pub(super) refused: Option<String>,
}

impl Prepared {
    /// Prepares the windows of A and B, brought to a common length if possible.
    pub(super) fn of(a: &SeriesView, b: &SeriesView) -> Self {
        match windows(a, b) {
            Ok((of_a, of_b)) => {
                let (figures_a, figures_b) = (figures(&of_a.whole), figures(&of_b.whole));
                Self {
                    figures: pairs(&figures_a, &figures_b),
                    by_samples: by_samples((&a.histogram, &figures_a), (&b.histogram, &figures_b)),
                    rare: rare((a, &of_a.all), (b, &of_b.all)),
                    refused: None,
                }
            }
            Err(why) => Self {
                refused: Some(why),
                ..Self::default()
            },
        }
    }

    /// The p-values of all figures and rare events, in a fixed order.
    pub(super) fn ps(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        let of_figures = self.figures.iter().map(Pair::p);
        of_figures.chain(self.rare.iter().map(RarePair::p))
    }

    /// The p-values of the comparisons by samples, in a fixed order.
    pub(super) fn ps_by_samples(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        self.by_samples.iter().map(|pair| Some(pair.p()))
    }

    /// The statements by samples, each with its confidence, in the same order.
    pub(super) fn by_samples(&self, confidences: &mut impl Iterator<Item = f64>) -> Vec<BySamples> {
        let mut next = || confidences.next().unwrap_or(crate::bound::CONFIDENCE);
        self.by_samples.iter().map(|pair| pair.at(next())).collect()
    }

    /// The statements, each with its confidence, in the same order.
    pub(super) fn at(&self, confidences: &mut impl Iterator<Item = f64>) -> (Vec<Difference>, Vec<RareDifference>) {
        let mut next = || confidences.next().unwrap_or(crate::bound::CONFIDENCE);
        let figures = self.figures.iter().map(|pair| pair.at(next())).collect();
        let rare = self.rare.iter().map(|pair| pair.at(next())).collect();
        (figures, rare)
    }
}

/// The windows of a series, all of one length.
struct Windows {
    /// Windows of the full length: the typical values of a window are compared over these.
    whole: Vec<WindowRow>,
    /// Includes the shorter windows at the beginning and end: their counts and largest sample also belong to the run.
    all: Vec<WindowRow>,
}

impl Windows {
    /// Merges every `times` neighbouring windows into one.
    fn joined(series: &SeriesView, times: usize) -> Self {
        let whole = whole(series);
        Self {
            whole: whole.chunks_exact(times).map(as_one).collect(),
            all: series.windows.chunks(times).map(as_one).collect(),
        }
    }

    fn of(series: &SeriesView) -> Self {
        Self {
            whole: whole(series),
            all: series.windows.to_vec(),
        }
    }
}

/// The windows of both series at a common length: shorter windows are merged if a whole number of them makes a longer
/// one.
fn windows(a: &SeriesView, b: &SeriesView) -> Result<(Windows, Windows), String> {
    if let (Some(one), Some(other)) = (a.spec.interval_ns, b.spec.interval_ns)
        && (one - other).abs() > SAME * one.max(other)
    {
        let (one, other) = (format_ns(one), format_ns(other));
        return Err(format!(
            "samples are due every {one} and every {other}: the windows measure two different things"
        ));
    }
    let (Some(length_a), Some(length_b)) = (window_ns(a), window_ns(b)) else {
        return Ok((Windows::of(a), Windows::of(b)));
    };
    let (short, long) = (length_a.min(length_b) as f64, length_a.max(length_b) as f64);
    let times = (long / short).round();
    if (long - times * short).abs() > SAME * long {
        let (one, other) = (format_ns(length_a as f64), format_ns(length_b as f64));
        return Err(format!(
            "windows of {one} and of {other} cannot be brought to one length; measure both with the same --window"
        ));
    }
    // Means and maxima of the whole follow from those of the parts; quantiles do not.
    let joined = |series: &SeriesView, length: u64| match (length as f64) < long * (1.0 - SAME) {
        true => Windows::joined(series, (times as usize).max(1)),
        false => Windows::of(series),
    };
    Ok((joined(a, length_a), joined(b, length_b)))
}

fn whole(series: &SeriesView) -> Vec<WindowRow> {
    whole_windows(series).cloned().collect()
}

/// Merges windows into one, from the beginning of the first to the end of the last.
pub(crate) fn as_one(rows: &[WindowRow]) -> WindowRow {
    let mut counters = Counters::default();
    rows.iter().for_each(|row| counters.add(&row.counters));
    let samples: u64 = rows.iter().map(|row| row.samples).sum();
    let sum_ns: i128 = rows.iter().map(|row| row.sum_ns).sum();
    WindowRow {
        start_ns: rows.first().map_or(0, |row| row.start_ns),
        end_ns: rows.last().map_or(0, |row| row.end_ns),
        samples,
        sum_ns,
        mean_ns: (samples > 0).then(|| sum_ns as f64 / samples as f64),
        min_ns: rows.iter().filter_map(|row| row.min_ns).min(),
        max_ns: rows.iter().filter_map(|row| row.max_ns).max(),
        p50_ns: None,
        p99_ns: None,
        p999_ns: None,
        counters,
    }
}

/// A window with too few samples for a quantile still has its other figures.
fn figures(rows: &[WindowRow]) -> Vec<WindowFigures> {
    let number = |ns: Option<u64>| ns.map_or(f64::NAN, |ns| ns as f64);
    let figures = |row: &WindowRow| WindowFigures {
        count: row.counters.received,
        mean: row.mean_ns.unwrap_or(f64::NAN),
        p50: number(row.p50_ns),
        p99: number(row.p99_ns),
        p999: row.p999_ns.map(|ns| ns as f64),
        max: row.max_ns.map_or(f64::NAN, |ns| ns as f64),
    };
    rows.iter().map(figures).collect()
}

/// Rare events that a typical window does not show; only those that happened in at least one of the runs.
fn rare((a, of_a): (&SeriesView, &[WindowRow]), (b, of_b): (&SeriesView, &[WindowRow])) -> Vec<RarePair> {
    let maxima =
        |rows: &[WindowRow]| -> Vec<f64> { rows.iter().filter_map(|row| row.max_ns).map(|ns| ns as f64).collect() };
    let mut all: Vec<RarePair> = highest(&maxima(of_a), &maxima(of_b)).into_iter().collect();
    let mut counted = |what, count: fn(&Counters) -> u64| {
        all.push(Rare::pair(what, &happened(of_a, count), &happened(of_b, count)));
    };
    if let (Some(limit), true) = (a.spec.threshold_ns, a.spec.threshold_ns == b.spec.threshold_ns) {
        counted(Happened::Over(limit), |counters| counters.overflow);
    }
    let both_count = |counter| a.lists(counter) && b.lists(counter);
    if both_count(Counter::Missed) {
        counted(Happened::Missed, |counters| counters.missed);
    }
    if both_count(Counter::Lost) {
        counted(Happened::Lost, |counters| counters.lost);
    }
    all
}

fn happened(rows: &[WindowRow], count: fn(&Counters) -> u64) -> Rare {
    Rare {
        happened: rows.iter().map(|row| count(&row.counters) > 0).collect(),
        maxima: rows
            .iter()
            .map(|row| row.max_ns.map_or(f64::NAN, |ns| ns as f64))
            .collect(),
        exposure_ns: rows.iter().map(|row| row.end_ns.saturating_sub(row.start_ns)).sum(),
        total: rows.iter().map(|row| count(&row.counters)).sum(),
    }
}
