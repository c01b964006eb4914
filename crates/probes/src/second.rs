//! The next full second, at which streams begin with smpCnt 0.

use units::Monotonic;

/// Time before the first published second, in which the threads get ready.
const LEAD_NS: i64 = 200_000_000;

/// Instant of the next full second of the wall clock that is at least [`LEAD_NS`] away.
pub(crate) fn next_second() -> Monotonic {
    let pair = sys::clock::pair();
    let earliest = pair.realtime.as_ns() + LEAD_NS;
    let second = earliest.div_euclid(1_000_000_000) + 1;
    pair.monotonic + (second * 1_000_000_000 - pair.realtime.as_ns())
}
