//! What the instants of frames say.

use units::Realtime;

const SECOND_NS: i64 = 1_000_000_000;

/// Time from the sample due `due_ns` after the top of its second to `at`. The second is the one that brings the result into
/// (-0.5 s, 0.5 s].
pub(super) fn one_way(at: Realtime, due_ns: i64) -> i64 {
    let age = (at.as_ns() - due_ns).rem_euclid(SECOND_NS);
    if age > SECOND_NS / 2 { age - SECOND_NS } else { age }
}

#[cfg(test)]
mod tests {
    use super::one_way;
    use units::Realtime;

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
