//! Converts the kernel's receive stamps to the monotonic clock.
//!
//! The stamps are of `CLOCK_REALTIME`, which can step; the length of a silence must not change with a step. So each stamp is
//! converted to `CLOCK_MONOTONIC` by the difference between the two clocks, which is read with every frame.

use units::{Monotonic, Realtime};

/// Differences between the two clocks that change by more than this are a step. Smaller changes are a slew, or the time between
/// two readings.
const STEP_NS: i64 = 1_000_000;

/// A frame read this soon after its stamp was stamped by the clock as set now.
const PROMPT_NS: i64 = 5_000_000;

/// Difference of `CLOCK_REALTIME` from `CLOCK_MONOTONIC`, now and for frames that were stamped before a step.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KernelClock {
    /// Difference used for the last stamp, in ns.
    used_ns: Option<i64>,
    /// Current difference, in ns.
    now_ns: i64,
    newest: Option<Monotonic>,
}

impl KernelClock {
    /// Time when the kernel received a frame that the application read at `at`, when the wall clock showed `wall`. Returns `at`
    /// if there is no stamp.
    #[inline]
    pub(super) fn hear(&mut self, stamp: Option<Realtime>, at: Monotonic, wall: Realtime) -> Monotonic {
        let Some(stamp) = stamp else { return at };
        let read_ns = wall.as_ns() - at.as_ns();
        if (read_ns - self.now_ns).abs() > STEP_NS {
            self.look_again(read_ns, distance_ns);
        }
        self.place(stamp.as_ns(), at)
    }

    /// Reads the difference again. A thread that is held up between two clock readings gets too large a value, so the smallest of
    /// several counts.
    #[cold]
    fn look_again(&mut self, read_ns: i64, distance_ns: impl Fn() -> i64) {
        self.now_ns = (0..3).map(|_| distance_ns()).fold(read_ns, i64::min);
    }

    #[inline]
    fn place(&mut self, stamp_ns: i64, at: Monotonic) -> Monotonic {
        let by = |distance_ns: i64| Monotonic::from_ns(stamp_ns - distance_ns);
        let fits =
            |heard: Monotonic| heard <= at + STEP_NS && self.newest.is_none_or(|newest| heard >= newest - STEP_NS);
        let now = by(self.now_ns);
        let before = self.used_ns.map(by).filter(|before| fits(*before));
        let heard = match before {
            Some(before) if at - now > PROMPT_NS || now > at + STEP_NS => before,
            _ => {
                self.used_ns = Some(self.now_ns);
                now
            }
        };
        // Queues of a NIC deliver out of order by microseconds; the result never goes backwards.
        let heard = heard.min(at).max(self.newest.unwrap_or(heard));
        self.newest = Some(heard);
        heard
    }
}

/// `CLOCK_REALTIME` minus `CLOCK_MONOTONIC`; more than that if the thread was held up between the readings.
fn distance_ns() -> i64 {
    let at = sys::clock::monotonic();
    sys::clock::realtime().as_ns() - at.as_ns()
}

#[cfg(test)]
mod tests {
    use super::KernelClock;
    use units::Monotonic;

    const SECOND_NS: i64 = 1_000_000_000;
    const DISTANCE_NS: i64 = 1_790_000_000 * SECOND_NS;

    /// Converted time of a frame that came at `true_ns` and was read at `at_ns`; the wall clock was `stepped` ahead when it came
    /// and is `now` when it is read.
    fn heard(clock: &mut KernelClock, true_ns: i64, at_ns: i64, [stepped, now]: [i64; 2]) -> i64 {
        clock.look_again(DISTANCE_NS + now, || DISTANCE_NS + now);
        let stamp_ns = DISTANCE_NS + stepped + true_ns;
        clock.place(stamp_ns, Monotonic::from_ns(at_ns)).as_ns()
    }

    #[test]
    fn a_step_moves_no_frame() {
        for step in [-7 * SECOND_NS / 10, SECOND_NS / 2, SECOND_NS, -3 * SECOND_NS] {
            let mut clock = KernelClock::default();
            assert_eq!(heard(&mut clock, 1_000_000, 1_010_000, [0, 0]), 1_000_000);
            // Stamped before the step, read after it.
            assert_eq!(heard(&mut clock, 1_250_000, 1_400_000, [0, step]), 1_250_000, "{step}");
            assert_eq!(
                heard(&mut clock, 1_500_000, 1_510_000, [step, step]),
                1_500_000,
                "{step}"
            );
            assert_eq!(
                heard(&mut clock, 1_750_000, 1_760_000, [step, step]),
                1_750_000,
                "{step}"
            );
        }
    }

    #[test]
    fn an_application_held_up_hears_what_the_kernel_heard() {
        let mut clock = KernelClock::default();
        let resumed = 5 * SECOND_NS;
        heard(&mut clock, 0, 10_000, [0, 0]);
        for ms in [1, 2, 900, 901, 4_999] {
            let true_ns = ms * 1_000_000;
            assert_eq!(heard(&mut clock, true_ns, resumed, [0, 0]), true_ns);
        }
    }

    #[test]
    fn a_pause_between_two_readings_is_no_step() {
        let mut clock = KernelClock::default();
        clock.look_again(DISTANCE_NS + 20_000_000, || DISTANCE_NS);
        assert_eq!(clock.now_ns, DISTANCE_NS);
    }

    #[test]
    fn time_does_not_go_back() {
        let mut clock = KernelClock::default();
        heard(&mut clock, 500_000, 510_000, [0, 0]);
        assert_eq!(heard(&mut clock, 498_000, 512_000, [0, 0]), 500_000);
    }
}
