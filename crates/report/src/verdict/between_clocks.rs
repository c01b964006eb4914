//! Judges a duration between two clocks.

use super::doubt::Doubt;
use super::{Measured, Verdict, excess, listed};
use crate::limits::Limit;
use crate::one_way::OneWay;
use model::SeriesView;
use units::format_ns;

/// Judges a duration between two clocks: within its limit even if the uncertainty of the clocks is added, beyond it
/// even if the uncertainty is subtracted, or neither. An event of the clocks never makes a host fail.
pub(super) fn decide(
    series: &SeriesView,
    limit: &Limit,
    measured: Measured,
    doubts: &[Doubt],
    clocks: &OneWay,
) -> (Verdict, String) {
    let listed = listed(doubts);
    let and = |text: String| match listed.is_empty() {
        true => text,
        false => format!("{text}; {listed}"),
    };
    let allowed = limit.allowed as f64;
    let plus_minus = clocks.plus_minus();
    let Ok(uncertainty) = &clocks.uncertainty else {
        return (Verdict::Inconclusive, listed);
    };
    let apart = uncertainty.ns as f64;
    let clean = clocks.clean(limit.quantity, measured.as_f64());
    if clean.is_some_and(|clean| clean - apart > allowed) {
        return (
            Verdict::Fail,
            and(format!("{}, with{plus_minus}", excess(series, limit))),
        );
    }
    if measured.as_f64() - apart > allowed {
        let text = format!("{}, but that may be the clock's doing", excess(series, limit));
        return (Verdict::Inconclusive, and(text));
    }
    if measured.as_f64() + apart > allowed {
        let value = format_ns(measured.as_f64());
        let text = format!("{value}{plus_minus}: the limit lies within the uncertainty of the clocks");
        return (Verdict::Inconclusive, and(text));
    }
    match doubts.is_empty() {
        true => (Verdict::Pass, String::new()),
        false => (Verdict::Inconclusive, listed),
    }
}
