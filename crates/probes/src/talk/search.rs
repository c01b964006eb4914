//! Searches for the smallest spin-ahead at which no frame is late.
//!
//! The first step uses no spin-ahead: its largest talker delta is the worst wake-up latency during the step. The second step
//! spins ahead by that much, rounded up to a whole microsecond. A step with late frames shows by how much its spin-ahead was too
//! short: the next one is longer by that. A step without late frames is followed by shorter ones, halfway to the longest that was
//! too short, until the two are a microsecond apart.
//!
//! The result is valid only for the frames sent in each step: rarer wake-ups can be later.

/// Spin-aheads are whole microseconds.
const STEP_NS: u64 = 1_000;

/// Maximum number of steps.
const MOST_STEPS: usize = 24;

/// Result of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Spin-ahead of the step, in ns.
    pub spin_ahead_ns: u64,
    /// Number of frames sent.
    pub sent: u64,
    /// Number of late frames, and of missed cycles.
    pub late: u64,
    /// Largest talker delta, in ns.
    pub max_ns: i64,
}

/// A running search.
#[derive(Debug, Clone)]
pub struct Search {
    longest_ns: u64,
    outcomes: Vec<Outcome>,
}

impl Search {
    /// Searches for a spin-ahead of at most nine tenths of `interval_ns`: with its default settings, the kernel throttles a
    /// thread that spins for longer.
    pub fn within(interval_ns: u64) -> Self {
        Self {
            longest_ns: interval_ns * 9 / 10 / STEP_NS * STEP_NS,
            outcomes: Vec::new(),
        }
    }

    /// Spin-ahead to try next, in ns; `None` when the search is over.
    pub fn next(&self) -> Option<u64> {
        if self.outcomes.len() >= MOST_STEPS {
            return None;
        }
        let too_short = self.longest_too_short();
        match (self.found(), too_short) {
            (None, None) => Some(0),
            (None, Some(outcome)) => self.longer_than(outcome),
            (Some(0), _) => None,
            (Some(found), too_short) => {
                let below = too_short.map_or(0, |outcome| outcome.spin_ahead_ns);
                let between = (found / STEP_NS + below / STEP_NS) / 2 * STEP_NS;
                (between > below).then_some(between)
            }
        }
    }

    /// Records the result of a step.
    pub fn note(&mut self, outcome: Outcome) {
        self.outcomes.push(outcome);
    }

    /// Smallest spin-ahead at which no frame was late and above which none was too short.
    pub fn found(&self) -> Option<u64> {
        let above = self.longest_too_short().map(|outcome| outcome.spin_ahead_ns);
        let good = self
            .outcomes
            .iter()
            .filter(|outcome| outcome.late == 0 && outcome.sent > 0);
        good.map(|outcome| outcome.spin_ahead_ns)
            .filter(|ns| Some(*ns) > above)
            .min()
    }

    /// Longest spin-ahead with late frames.
    fn longest_too_short(&self) -> Option<&Outcome> {
        let bad = self
            .outcomes
            .iter()
            .filter(|outcome| outcome.late > 0 || outcome.sent == 0);
        bad.max_by_key(|outcome| outcome.spin_ahead_ns)
    }

    /// Spin-ahead that would have sufficed for the latest frame of a step; `None` if it is above the maximum.
    fn longer_than(&self, outcome: &Outcome) -> Option<u64> {
        let tried = outcome.spin_ahead_ns;
        let enough = tried + u64::try_from(outcome.max_ns).unwrap_or(0);
        let whole = enough.div_ceil(STEP_NS) * STEP_NS;
        let next = whole.clamp(tried + STEP_NS, self.longest_ns.max(tried + STEP_NS));
        (next <= self.longest_ns).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_STEPS, Outcome, Search};

    /// Runs the search on a machine whose wake-up latency in step `n` is at most `latency_ns(n)`; a frame is late after 1 us.
    fn search(interval_ns: u64, latency_ns: impl Fn(usize) -> u64) -> (Option<u64>, Vec<u64>) {
        let mut search = Search::within(interval_ns);
        let mut tried = Vec::new();
        while let Some(spin_ahead_ns) = search.next() {
            let max_ns = latency_ns(tried.len()).saturating_sub(spin_ahead_ns).max(80);
            search.note(Outcome {
                spin_ahead_ns,
                sent: 1_000,
                late: u64::from(max_ns > 1_000),
                max_ns: i64::try_from(max_ns).unwrap(),
            });
            tried.push(spin_ahead_ns);
        }
        (search.found(), tried)
    }

    #[test]
    fn a_steady_machine_is_searched_to_the_microsecond() {
        for latency_us in [0, 1, 2, 7, 35, 99] {
            let (found, tried) = search(125_000, |_| latency_us * 1_000 + 400);
            // 400 ns above a whole microsecond do not yet make a frame late.
            assert_eq!(found, Some(latency_us * 1_000), "{latency_us} us: {tried:?}");
            assert!(tried.len() <= 9, "{tried:?}");
        }
    }

    #[test]
    fn a_later_stall_raises_the_answer_above_what_it_showed_too_short() {
        let (found, tried) = search(125_000, |step| if step == 3 { 60_000 } else { 20_000 });
        let stalled = tried[3];
        assert!(found.is_some_and(|ns| ns > stalled), "{found:?} {tried:?}");
    }

    #[test]
    fn no_answer_where_the_interval_leaves_no_room() {
        let (found, tried) = search(125_000, |_| 400_000);
        assert_eq!((found, tried), (None, vec![0, 112_000]));
    }

    #[test]
    fn ends_whatever_the_machine_does() {
        let (_, tried) = search(1_000_000, |step| if step % 2 == 0 { 1_000 * step as u64 } else { 900 });
        assert!(tried.len() <= MOST_STEPS);
    }

    #[test]
    fn a_step_that_sent_nothing_is_no_good_step() {
        let mut search = Search::within(125_000);
        search.note(Outcome {
            spin_ahead_ns: 0,
            sent: 0,
            late: 0,
            max_ns: 0,
        });
        assert_eq!(search.found(), None);
    }
}
