//! Limits of a capture's time stamps: they have a resolution, and few captures name their source.

use super::doubt::Doubt;
use crate::limits::{Limit, Quantity, Unit};
use model::{RunView, SeriesView, setting};
use units::Ns;

/// The command whose figures are computed from other devices' stamps.
const OF_CAPTURES: &str = "pcap";

/// The doubt and its remedy if the source of the stamps is not known.
const UNKNOWN_ORIGIN: &str = "the capture does not say what made its stamps; a computer may stamp frames evenly that \
                              did not come evenly: capture with a tap that stamps, and name it with --stamped-by";

/// The doubt and its remedy if two clocks may have made the stamps of a time.
const TWO_CLOCKS: &str = "it is the time between the stamps of two captures, and nothing says that one clock made both: name it with \
                          --stamped-by";

/// Maximum error of a figure due to the resolution of its stamps, in ns; 0 if no resolution is known.
pub(super) fn uncertain_ns(series: &SeriesView, quantity: Quantity) -> f64 {
    let step_ns = series.stamp_step_ns();
    if step_ns <= 1 {
        return 0.0;
    }
    // Both stamps of a gap are truncated to whole steps: the error of the gap is less than one step.
    let of_a_gap = (step_ns - 1) as f64;
    match quantity {
        // The errors of two gaps: the longest, and the median.
        Quantity::Excess => 2.0 * of_a_gap,
        // The gaps are adjacent: only the first and the last stamp count.
        Quantity::Mean => of_a_gap / series.histogram.count().max(1) as f64,
        _ if quantity == Quantity::Max || quantity.quantile().is_some() => of_a_gap,
        _ => 0.0,
    }
}

/// The reasons why the stamps of a capture leave this figure undecided.
pub(super) fn doubts(run: &RunView, series: &SeriesView, limit: &Limit, measured: f64) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let uncertain = uncertain_ns(series, limit.quantity);
    let is_near = uncertain > 0.0 && (measured - limit.allowed as f64).abs() <= uncertain;
    if is_near || limit.quantity == Quantity::Overflow && is_threshold_near(series) {
        doubts.push(Doubt {
            text: format!(
                "the stamps come in steps of {}: too coarse to decide on which side of the limit it is",
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
    if limit.quantity.unit() == Unit::Ns && series.setting(setting::CAPTURE_CLOCKS) == Some(setting::NOT_ONE) {
        doubts.push(Doubt {
            text: TWO_CLOCKS.to_owned(),
            explains_excess: true,
        });
    }
    doubts
}

/// True if the largest sample is as near to the threshold as the error of its stamps: whether it was over it is not known.
fn is_threshold_near(series: &SeriesView) -> bool {
    let step_ns = series.stamp_step_ns();
    let apart = series.max_ns.zip(series.spec.threshold_ns);
    step_ns > 1 && apart.is_some_and(|(max_ns, threshold_ns)| max_ns.unsigned_abs().abs_diff(threshold_ns) < step_ns)
}

/// True if the source of the stamps is known; only stamps of captures can have an unknown one.
fn is_origin_known(run: &RunView, series: &SeriesView) -> bool {
    let mut settings = series.spec.settings.iter();
    run.info.command != OF_CAPTURES || settings.any(|(name, _)| name == setting::STAMPED_BY)
}
