//! Limits of the stamps of a capture: they come in steps, and few captures say what made them.

use super::doubt::Doubt;
use crate::limits::{Limit, Quantity};
use model::{RunView, SeriesView, setting};
use units::Ns;

/// The command whose figures are from stamps that others made.
const OF_CAPTURES: &str = "pcap";

/// The doubt and its remedy where nobody says who made the stamps.
const UNKNOWN_ORIGIN: &str = "the capture does not say what made its stamps; a computer may stamp frames evenly that \
                              did not come evenly: capture with a tap that stamps, and name it with --stamped-by";

/// How far a figure may be from the true one because its stamps come in steps, in ns. 0 where they are not known to.
pub(super) fn uncertain_ns(series: &SeriesView, quantity: Quantity) -> f64 {
    let step_ns = series.stamp_step_ns();
    if step_ns <= 1 {
        return 0.0;
    }
    // Both stamps of a gap are cut to whole steps: the gap is less than one step from the true one.
    let of_a_gap = (step_ns - 1) as f64;
    match quantity {
        // Of two gaps: the longest, and that in the middle.
        Quantity::Excess => 2.0 * of_a_gap,
        // The gaps follow each other: only the first stamp and the last count.
        Quantity::Mean => of_a_gap / series.histogram.count().max(1) as f64,
        _ if quantity == Quantity::Max || quantity.quantile().is_some() => of_a_gap,
        _ => 0.0,
    }
}

/// Why the stamps of a capture leave this figure open.
pub(super) fn doubts(run: &RunView, series: &SeriesView, limit: &Limit, measured: f64) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let uncertain = uncertain_ns(series, limit.quantity);
    if uncertain > 0.0 && (measured - limit.allowed as f64).abs() <= uncertain {
        doubts.push(Doubt {
            text: format!(
                "the stamps come in steps of {}: too coarse to tell on which side of the limit it is",
                Ns(series.stamp_step_ns())
            ),
            explains_excess: true,
        });
    }
    if limit.needs_known_stamps && !is_origin_known(run, series) {
        doubts.push(Doubt {
            text: UNKNOWN_ORIGIN.to_owned(),
            explains_excess: false,
        });
    }
    doubts
}

/// Only those of captures can be of anybody's making.
fn is_origin_known(run: &RunView, series: &SeriesView) -> bool {
    let mut settings = series.spec.settings.iter();
    run.info.command != OF_CAPTURES || settings.any(|(name, _)| name == setting::STAMPED_BY)
}
