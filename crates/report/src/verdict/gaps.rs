//! Gaps between frames, compared with the interval of their stream.

use crate::bound::Bound;
use crate::limits::{Limit, Quantity};
use crate::pacing::Pacing;
use crate::text::count;
use model::SeriesView;
use units::{Ns, SignedNs};

/// The longest sample that a limit on the largest allows.
pub(super) fn longest_allowed(series: &SeriesView, limit: &Limit) -> Option<u64> {
    match limit.quantity {
        Quantity::Max => Some(limit.allowed),
        Quantity::Excess => Some(Pacing::of(series).ok()?.interval_ns.saturating_add(limit.allowed)),
        _ => None,
    }
}

/// Gaps longer than the interval plus the allowed excess: `1 of 8 000 gaps over 125 µs + 50.0 µs, the longest 670 µs`.
pub(super) fn longer(series: &SeriesView, limit: &Limit) -> String {
    let over = longest_allowed(series, limit).and_then(|ns| Bound::of(series, ns));
    let over = over.map_or(1, |bound| bound.over);
    let interval = Pacing::of(series).map_or(0, |pacing| pacing.interval_ns);
    format!(
        "{} of {} gaps over {} + {}, the longest {}",
        count(over),
        count(series.histogram.count()),
        Ns(interval),
        limit.allowed_text(),
        SignedNs(series.max_ns.unwrap_or(0))
    )
}
