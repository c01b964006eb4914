//! Series by kind: each kind is one panel of the page.

use super::overlay::CLASSES;
use crate::Report;
use crate::limits::{Quantity, Unit};
use crate::verdict::Judgement;
use model::{SeriesView, kind};
use stats::Histogram;

/// The series of one kind.
pub(crate) struct Panel<'a> {
    /// The name of the kind.
    pub(crate) family: &'a str,
    /// Its series; the one with the largest maximum comes first.
    pub(crate) series: Vec<&'a SeriesView>,
}

/// One panel for each kind, in the order of the report.
pub(crate) fn of(report: &Report) -> Vec<Panel<'_>> {
    let all = &report.run.series;
    let panel = |family| {
        let mut series: Vec<&SeriesView> = all.iter().filter(|series| series.family() == family).collect();
        series.sort_by_key(|series| std::cmp::Reverse(series.max_ns));
        Panel { family, series }
    };
    kind::in_order(all.iter().map(SeriesView::family))
        .into_iter()
        .map(panel)
        .collect()
}

impl Panel<'_> {
    /// The strictest limit on a duration of its series.
    pub(crate) fn limit_ns(&self, report: &Report) -> Option<u64> {
        self.series
            .iter()
            .filter_map(|series| limit_of(&report.judgement, series))
            .min()
    }

    /// The series drawn as histograms: the worst ones, with their labels.
    pub(crate) fn histograms(&self) -> Vec<(&str, &Histogram)> {
        let drawn = self.series.iter().take(CLASSES);
        drawn.map(|series| (series.spec.label(), &series.histogram)).collect()
    }
}

/// The strictest limit on a duration of a series, for drawing: the limit on its maximum, if there is one.
pub(crate) fn limit_of(judgement: &Judgement, series: &SeriesView) -> Option<u64> {
    let checks = || {
        judgement
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
