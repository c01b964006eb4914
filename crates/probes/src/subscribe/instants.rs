//! What the instants of frames say.

use crate::reception::Arrival;
use units::Realtime;

const SECOND_NS: i64 = 1_000_000_000;

/// How long nothing came between two frames, by every clock that says so: an application that was held up has not heard the
/// stream, but the kernel has; and a step of the wall clock is no silence.
pub(super) fn silence_ns(before: &Arrival, now: &Arrival) -> u64 {
    let by_application = now.at - before.at;
    let by_kernel = now.kernel.zip(before.kernel).map(|(now, before)| now - before);
    let silent_ns = by_kernel.map_or(by_application, |ns| ns.min(by_application));
    u64::try_from(silent_ns).unwrap_or(0)
}

/// Time from the sample due `due_ns` after the top of its second to `at`. The second is the one that brings the result into
/// (-0.5 s, 0.5 s].
pub(super) fn one_way(at: Realtime, due_ns: i64) -> i64 {
    let age = (at.as_ns() - due_ns).rem_euclid(SECOND_NS);
    if age > SECOND_NS / 2 { age - SECOND_NS } else { age }
}

#[cfg(test)]
mod tests {
    use super::{one_way, silence_ns};
    use crate::reception::Arrival;
    use units::{Monotonic, Realtime};

    #[test]
    fn neither_a_clock_step_nor_a_held_up_application_is_a_silence() {
        let arrival = |at: i64, kernel: Option<i64>| Arrival {
            at: Monotonic::from_ns(at),
            wall: Realtime::from_ns(0),
            kernel: kernel.map(Realtime::from_ns),
        };
        let before = arrival(1_000, Some(5_000));
        assert_eq!(
            silence_ns(&before, &arrival(1_100, Some(2_000_005_000))),
            100,
            "clock stepped on"
        );
        assert_eq!(
            silence_ns(&before, &arrival(1_100, Some(-7_000))),
            0,
            "clock stepped back"
        );
        assert_eq!(
            silence_ns(&before, &arrival(3_000_001_000, Some(5_100))),
            100,
            "held up"
        );
        assert_eq!(silence_ns(&before, &arrival(3_000, Some(7_000))), 2_000);
        assert_eq!(silence_ns(&before, &arrival(3_000, None)), 2_000);
    }

    #[test]
    fn the_nearest_second_is_meant() {
        let at = |ns: i64| Realtime::from_ns(1_790_000_000_000_000_000 + ns);
        assert_eq!(one_way(at(208_333 + 500), 208_333), 500);
        assert_eq!(
            one_way(at(1_000_000_000 + 300), 999_791_666),
            208_634,
            "sent before, received after the top of the second"
        );
        assert_eq!(one_way(at(-200), 0), -200, "a clock that is behind shows as negative");
    }
}
