//! Steps of the wall clock while a run records.

/// Jumps of the wall clock beyond this, against the monotonic one and beyond what slewing explains, are steps. 10 us is far
/// below any limit a one-way figure is judged by.
const STEP_NS: i64 = 10_000;

/// The kernel slews the wall clock by at most 500 ppm.
const SLEW_PPM: i64 = 500;

/// Watches the wall clock against the monotonic one.
pub(super) struct ClockWatch {
    last: sys::clock::ClockPair,
}

impl ClockWatch {
    pub(super) fn new() -> Self {
        Self {
            last: sys::clock::pair(),
        }
    }

    /// How far the wall clock jumped since the last look, when it is more than slewing and the reading's uncertainty explain.
    pub(super) fn step(&mut self) -> Option<i64> {
        let now = sys::clock::pair();
        let elapsed = now.monotonic - self.last.monotonic;
        let jump = (now.realtime - self.last.realtime) - elapsed;
        let unsure = i64::try_from(now.uncertainty_ns + self.last.uncertainty_ns).unwrap_or(i64::MAX / 2);
        let explained = elapsed / (1_000_000 / SLEW_PPM) + unsure + STEP_NS;
        self.last = now;
        (jump.abs() > explained).then_some(jump)
    }
}
