//! The top of the next second, at which streams begin with smpCnt 0.

use units::Monotonic;

/// Time before the first second that is published: the threads get ready in it.
const LEAD_NS: i64 = 200_000_000;

/// The instant of the next full second of the wall clock that leaves time to get ready.
pub(crate) fn next_second() -> Monotonic {
    let pair = sys::clock::pair();
    let earliest = pair.realtime.as_ns() + LEAD_NS;
    let second = earliest.div_euclid(1_000_000_000) + 1;
    pair.monotonic + (second * 1_000_000_000 - pair.realtime.as_ns())
}
