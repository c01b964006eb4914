//! The measurement of a cell, with all series of a kind merged into one.

use super::cell::Cell;
use crate::comparison::as_one;
use crate::insight::with_largest;
use crate::spans;
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

/// All series of a kind, over all rounds.
#[derive(Debug)]
pub(super) struct Measure {
    pub(super) kind: &'static Kind,
    /// The merged series, named after their kind.
    pub(super) series: SeriesView,
    /// The largest sample of each window.
    pub(super) maxima: Maxima,
}

/// The largest sample of each of several spans of time, all of the same length in all cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Maxima {
    /// Length of a span in ns; 0 if there is none.
    pub(super) span_ns: u64,
    /// The largest sample of each span, in ns.
    pub(super) ns: Vec<f64>,
    /// Length of the windows in ns, if they do not divide the spans: then they cannot be compared with other cells.
    pub(super) other_ns: Option<u64>,
}

impl Measure {
    /// A run's measurements, one for each shown kind.
    pub(super) fn all(run: &RunView) -> Vec<Self> {
        SHOWN.iter().filter_map(|kind| Self::of(run, kind)).collect()
    }

    fn of(run: &RunView, kind: &'static Kind) -> Option<Self> {
        let series = pooled(run.series.iter().filter(|series| series.is(kind)), kind)?;
        Some(Self {
            kind,
            series,
            maxima: Maxima::default(),
        })
    }
}

/// Gives each kind of series its largest samples in spans that have the same length in all cells.
pub(super) fn in_one_length(cells: &mut [Cell]) {
    for kind in SHOWN {
        let measures = cells.iter_mut().flat_map(|cell| &mut cell.measures);
        let mut measures: Vec<&mut Measure> = measures.filter(|measure| measure.kind == kind).collect();
        let series: Vec<&SeriesView> = measures.iter().map(|measure| &measure.series).collect();
        let span_ns = spans::common_ns(&series);
        for measure in &mut measures {
            measure.maxima = Maxima::of(&measure.series, span_ns);
            measure.maxima.ns = with_largest(std::mem::take(&mut measure.maxima.ns), &measure.series);
        }
    }
}

impl Maxima {
    fn of(series: &SeriesView, span_ns: u64) -> Self {
        let ns = spans::maxima(series, span_ns);
        Self {
            span_ns,
            other_ns: ns.is_none().then(|| spans::window_ns(series)).flatten(),
            ns: ns.unwrap_or_default(),
        }
    }
}

/// Merges several series: samples and counters are added, and windows of the same time merged. `None` without a series.
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
        // Windows end at the same time, but the first one of a series begins with its first sample.
        whole.windows.sort_by_key(|row| (row.end_ns, row.start_ns));
        let together = whole.windows.chunk_by(|one, next| one.end_ns == next.end_ns);
        whole.windows = together.map(one_window).collect();
    }
    Some(whole)
}

/// Merges windows of the same time.
fn one_window(rows: &[WindowRow]) -> WindowRow {
    match rows {
        [only] => only.clone(),
        several => as_one(several),
    }
}
