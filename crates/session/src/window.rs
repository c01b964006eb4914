//! Length of windows if the command line does not set it.

/// Interval at which ABB's application reports its maxima: the longest window that is chosen.
pub const LONGEST_NS: u64 = 20_000_000_000;

/// Lengths to choose from. Each divides the next, so that a comparison can join the windows of runs of any lengths.
const LENGTHS_NS: [u64; 6] = [
    LONGEST_NS,
    10_000_000_000,
    2_000_000_000,
    1_000_000_000,
    200_000_000,
    100_000_000,
];

/// Number of windows of a run: a comparison takes fifty complete ones of each, and the first and the last may be incomplete.
const WANTED: u64 = 60;

/// The longest window that gives enough of them in a run of `duration_ns`, but at least the shortest; for an open-ended run the
/// longest.
pub fn of_duration(duration_ns: Option<u64>) -> u64 {
    let is_enough = |window_ns: &u64| duration_ns.is_none_or(|run_ns| run_ns / window_ns >= WANTED);
    let [.., shortest] = LENGTHS_NS;
    LENGTHS_NS.into_iter().find(is_enough).unwrap_or(shortest)
}

#[cfg(test)]
mod tests {
    use super::{LENGTHS_NS, of_duration};

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_short_run_has_shorter_windows_and_enough_of_them() {
        for (seconds, window_ns) in [
            (1, SECOND / 10),
            (10, SECOND / 10),
            (12, SECOND / 5),
            (60, SECOND),
            (119, SECOND),
            (120, 2 * SECOND),
            (600, 10 * SECOND),
            (1_200, 20 * SECOND),
            (604_800, 20 * SECOND),
        ] {
            assert_eq!(of_duration(Some(seconds * SECOND)), window_ns, "{seconds} s");
        }
        assert_eq!(of_duration(None), 20 * SECOND);
    }

    #[test]
    fn windows_of_any_two_runs_can_be_joined() {
        assert!(LENGTHS_NS.windows(2).all(|pair| pair[0].is_multiple_of(pair[1])));
    }
}
