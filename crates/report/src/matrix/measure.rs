//! What a cell measured: all series of a kind as one.

use crate::comparison::as_one;
use crate::insight::{whole_windows, window_maxima};
use model::kind::{self, Kind};
use model::{RunView, SeriesSpec, SeriesView, WindowRow};

/// The kinds that a matrix shows, in order.
pub(super) static SHOWN: [&Kind; 6] = [
    &kind::WAKEUP,
    &kind::RTT,
    &kind::TRIP,
    &kind::AGE,
    &kind::USE,
    &kind::TASK,
];

/// The span after which the application of ABB and the University of Torino reports its maxima, in ns.
const SPAN_NS: u64 = 20_000_000_000;

/// All series of a kind, over all rounds.
#[derive(Debug)]
pub(super) struct Measure {
    pub(super) kind: &'static Kind,
    /// The series as one, called after their kind.
    pub(super) series: SeriesView,
    /// The largest sample of each window.
    pub(super) maxima: Maxima,
}

/// The largest sample of each of some spans of time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Maxima {
    /// Length of a span, in ns; 0 without one.
    pub(super) span_ns: u64,
    /// The largest sample of each, in ns.
    pub(super) ns: Vec<f64>,
}

impl Measure {
    /// What a run measured of each kind that is shown.
    pub(super) fn all(run: &RunView) -> Vec<Self> {
        SHOWN.iter().filter_map(|kind| Self::of(run, kind)).collect()
    }

    fn of(run: &RunView, kind: &'static Kind) -> Option<Self> {
        let series = pooled(run.series.iter().filter(|series| series.is(kind)), kind)?;
        let maxima = Maxima::of(&series);
        Some(Self { kind, series, maxima })
    }
}

impl Maxima {
    /// Of spans of 20 s where enough windows make up enough of them for a box, else of the windows.
    fn of(series: &SeriesView) -> Self {
        let rows: Vec<&WindowRow> = whole_windows(series).collect();
        let span_ns = rows
            .iter()
            .map(|row| row.end_ns.saturating_sub(row.start_ns))
            .max()
            .unwrap_or(0);
        let of_windows = || Self {
            span_ns,
            ns: window_maxima(series),
        };
        if span_ns == 0 || span_ns >= SPAN_NS || !SPAN_NS.is_multiple_of(span_ns) {
            return of_windows();
        }
        let spans = spans(&rows, (SPAN_NS / span_ns) as usize);
        match spans.len() < super::boxes::LEAST {
            true => of_windows(),
            false => Self {
                span_ns: SPAN_NS,
                ns: spans,
            },
        }
    }
}

/// The largest sample of every so many windows that follow each other without a gap.
fn spans(rows: &[&WindowRow], windows: usize) -> Vec<f64> {
    let without_gap = rows.chunk_by(|one, next| one.end_ns == next.start_ns);
    let spans = without_gap.flat_map(|rows| rows.chunks_exact(windows));
    let largest = |rows: &[&WindowRow]| rows.iter().filter_map(|row| row.max_ns).max();
    spans.filter_map(largest).map(|ns| ns as f64).collect()
}

/// Several series as one: samples and counters together, and windows of the same time as one. `None` without a series.
fn pooled<'a>(mut all: impl Iterator<Item = &'a SeriesView>, kind: &'static Kind) -> Option<SeriesView> {
    let mut whole = all.next()?.clone();
    whole.spec = SeriesSpec {
        name: kind.name.to_owned(),
        ..whole.spec
    };
    let mut is_single = true;
    for series in all {
        is_single = false;
        whole.counters.add(&series.counters);
        whole.sum_ns += series.sum_ns;
        whole.min_ns = [whole.min_ns, series.min_ns].into_iter().flatten().min();
        whole.max_ns = [whole.max_ns, series.max_ns].into_iter().flatten().max();
        whole.histogram.merge(&series.histogram);
        whole.windows.extend(series.windows.iter().cloned());
    }
    if !is_single {
        // Windows end together; the first of a series begins with its first sample.
        whole.windows.sort_by_key(|row| (row.end_ns, row.start_ns));
        let together = whole.windows.chunk_by(|one, next| one.end_ns == next.end_ns);
        whole.windows = together.map(one_window).collect();
    }
    Some(whole)
}

/// Windows of the same time as one.
fn one_window(rows: &[WindowRow]) -> WindowRow {
    match rows {
        [only] => only.clone(),
        several => as_one(several),
    }
}
