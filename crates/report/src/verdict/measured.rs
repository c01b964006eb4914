//! The figure that is compared with a limit, or the reason why there is none.

use super::uncounted;
use crate::limits::Quantity;
use crate::pacing::Pacing;
use crate::strain;
use crate::text::{count, plural};
use model::{EventKind, RunView, SeriesView, setting};
use stats::Scheduled;

/// A measured figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measured {
    /// Nanoseconds or a count, exact.
    Whole(i64),
    /// Nanoseconds, a mean.
    Mean(f64),
}

impl Measured {
    /// The figure for a quantity, or the reason why there is none.
    pub(super) fn of(run: &RunView, series: &SeriesView, quantity: Quantity) -> Result<Self, String> {
        let c = &series.counters;
        let counted = |n: u64| Ok(Self::Whole(i64::try_from(n).unwrap_or(i64::MAX)));
        // For a GOOSE block that sent one message and stopped, only its silence was measured; for a relay that trips
        // all the time, only the trips.
        let is_counted = quantity == Quantity::Late && c.late > 0 || quantity == Quantity::Unwanted && c.unwanted > 0;
        if c.received == 0 && c.expected == 0 && !is_counted {
            return Err(nothing_measured(run, series));
        }
        if let Some(why) = uncounted::why(run, series, quantity) {
            return Err(why);
        }
        if let Some(counter) = quantity.counter() {
            return counted(c.get(counter));
        }
        match quantity {
            Quantity::Max => series.max_ns.map(Self::Whole).ok_or_else(|| no_samples(series)),
            Quantity::Excess => {
                let pacing = Pacing::of(series)?;
                counted(pacing.excess_ns())
            }
            Quantity::Overruns => {
                let name = series.spec.label();
                strain::overruns(run, name).and_then(counted)
            }
            Quantity::Mean => {
                let scheduled = series.scheduled();
                let mean = scheduled.as_ref().map_or_else(
                    || series.mean_ns(),
                    |scheduled| scheduled.mean(series.sum_ns).filter(|_| !series.histogram.is_empty()),
                );
                mean.map(Self::Mean).ok_or_else(|| no_place(series, scheduled.as_ref()))
            }
            _ => quantile(series, quantity.quantile().unwrap_or(0.5), quantity),
        }
    }

    /// True if it is over what a limit allows.
    pub(super) fn over(self, allowed: u64) -> bool {
        match self {
            Self::Whole(value) => u64::try_from(value).is_ok_and(|value| value > allowed),
            Self::Mean(value) => value > allowed as f64,
        }
    }

    /// The figure as a number, for drawing.
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Whole(value) => value as f64,
            Self::Mean(value) => value,
        }
    }
}

/// The reason why there is no figure: as known at the beginning of the series, or from the first event about something
/// missing or not counted.
fn nothing_measured(run: &RunView, series: &SeriesView) -> String {
    let known = series.setting(setting::NOT_MEASURED);
    let told = || {
        let mut events = run.events.iter().filter(|event| event.series == Some(series.id));
        events.find(|event| matches!(event.kind, EventKind::Incomplete | EventKind::NotCounted))
    };
    match known.or_else(|| told().map(|event| event.text.as_str())) {
        Some(why) => format!("nothing was measured: {why}"),
        None => "nothing was measured".to_owned(),
    }
}

fn no_samples(series: &SeriesView) -> String {
    if let Some(known) = series
        .setting(setting::ONLY_MAXIMA)
        .filter(|_| series.counters.received > 0)
    {
        return format!("not known: of each window, the file has only {known}");
    }
    format!(
        "none of the {} that were due was measured",
        plural(series.counters.expected, "sample")
    )
}

/// The reason why there is no figure over scheduled activations.
fn no_place(series: &SeriesView, scheduled: Option<&Scheduled>) -> String {
    match scheduled.map_or(0, Scheduled::unplaced) {
        unplaced if unplaced > 0 && !series.histogram.is_empty() => format!(
            "{} skipped that no measured stall explains: the figure over scheduled activations is not known",
            plural(unplaced, "period")
        ),
        _ => no_samples(series),
    }
}

/// The quantile; over scheduled activations if periods were skipped.
fn quantile(series: &SeriesView, q: f64, quantity: Quantity) -> Result<Measured, String> {
    if series.histogram.is_empty() {
        return Err(no_samples(series));
    }
    let scheduled = series.histogram.scheduled(series.cycle_ns(), series.counters.missed);
    let value = scheduled.supported_quantile(q).ok_or_else(|| {
        if scheduled.supports(q) {
            return no_place(series, Some(&scheduled));
        }
        let needed = (10.0 / (1.0 - q)).round() as u64;
        let word = quantity.word();
        format!(
            "{word} needs at least {}; there are {}",
            plural(needed, "sample"),
            count(scheduled.count())
        )
    })?;
    let value = i64::try_from(value).unwrap_or(i64::MAX);
    // Samples below zero are in the histogram as its lowest value.
    Ok(Measured::Whole(series.max_ns.map_or(value, |max| value.min(max))))
}
