//! Pairs the decisions of two relays that belong together. Pure logic without I/O.

use units::Monotonic;

/// A decision: a member became true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decision {
    /// Time when the kernel received its message.
    pub(super) at: Monotonic,
    /// True if the time is exact, because the message is the first one of its state.
    pub(super) is_exact: bool,
    /// True if a decision of the other relay could be seen: its messages arrive, and its member was not already set.
    pub(super) is_comparable: bool,
}

/// Result for decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paired {
    /// Both relays decided: relay `first` (0 or 1) first, the other at `at`, which was `by_ns` later.
    Both {
        first: usize,
        at: Monotonic,
        by_ns: i64,
        is_exact: bool,
    },
    /// Only this relay decided.
    Alone { relay: usize, decision: Decision },
}

/// State of two relays. A decision waits a limited time for that of the other relay.
#[derive(Debug, Clone)]
pub(super) struct Pairing {
    within_ns: i64,
    waiting: [Option<Decision>; 2],
}

impl Pairing {
    pub(super) fn new(within_ns: u64) -> Self {
        Self {
            within_ns: i64::try_from(within_ns).unwrap_or(i64::MAX / 4),
            waiting: [None; 2],
        }
    }

    /// Records a decision of a relay, 0 or 1. Decisions that have waited too long were taken before, by [`Pairing::expired`].
    pub(super) fn decide(&mut self, relay: usize, decision: Decision) -> Option<Paired> {
        let other = 1 - relay;
        if let Some(before) = self.waiting[other].take() {
            return Some(Paired::Both {
                first: other,
                at: decision.at,
                by_ns: decision.at - before.at,
                is_exact: before.is_exact && decision.is_exact,
            });
        }
        let again = self.waiting[relay].replace(decision);
        again.map(|decision| Paired::Alone { relay, decision })
    }

    /// Returns a decision that the other relay did not follow in time, once all messages before `now` have been taken.
    pub(super) fn expired(&mut self, now: Monotonic) -> Option<Paired> {
        let within_ns = self.within_ns;
        (0..2).find_map(|relay| {
            let decision = self.waiting[relay].take_if(|decision| now - decision.at > within_ns)?;
            Some(Paired::Alone { relay, decision })
        })
    }

    /// Instant at which the oldest waiting decision has waited long enough.
    pub(super) fn deadline(&self) -> Option<Monotonic> {
        let waiting = self.waiting.iter().flatten();
        waiting.map(|decision| decision.at + self.within_ns + 1).min()
    }

    /// Decisions that still wait at the end: it is not known whether the other relay would have decided.
    pub(super) fn left(&self) -> impl Iterator<Item = (usize, Decision)> + '_ {
        let numbered = self.waiting.iter().enumerate();
        numbered.filter_map(|(relay, waiting)| Some((relay, (*waiting)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Decision, Paired, Pairing};
    use units::Monotonic;

    const MS: i64 = 1_000_000;

    fn at(ms: i64) -> Monotonic {
        Monotonic::from_ns(ms * MS)
    }

    fn decision(ms: i64) -> Decision {
        Decision {
            at: at(ms),
            is_exact: true,
            is_comparable: true,
        }
    }

    fn pairing() -> Pairing {
        Pairing::new(500 * MS.unsigned_abs())
    }

    #[test]
    fn the_first_one_is_told_and_by_how_much() {
        let mut pairing = pairing();
        for (first, second) in [(0, 1), (1, 0)] {
            assert_eq!(pairing.decide(first, decision(100)), None);
            assert_eq!(pairing.deadline(), Some(at(600) + 1));
            let paired = Paired::Both {
                first,
                at: at(130),
                by_ns: 30 * MS,
                is_exact: true,
            };
            assert_eq!(pairing.decide(second, decision(130)), Some(paired));
            assert_eq!((pairing.deadline(), pairing.left().count()), (None, 0));
        }
    }

    #[test]
    fn one_that_nobody_joins_in_time_is_alone() {
        let mut pairing = pairing();
        assert_eq!(pairing.decide(1, decision(100)), None);
        assert_eq!(pairing.expired(at(600)), None, "the other may still come");
        let alone = Paired::Alone {
            relay: 1,
            decision: decision(100),
        };
        assert_eq!(pairing.expired(at(601)), Some(alone));
        assert_eq!(pairing.expired(at(601)), None);
        // A later decision of the other relay is a separate one.
        assert_eq!(pairing.decide(0, decision(602)), None);
    }

    #[test]
    fn one_that_decides_again_was_alone_before() {
        let mut pairing = pairing();
        pairing.decide(0, decision(100));
        let alone = Paired::Alone {
            relay: 0,
            decision: decision(100),
        };
        assert_eq!(pairing.decide(0, decision(200)), Some(alone));
        assert_eq!(pairing.left().collect::<Vec<_>>(), [(0, decision(200))]);
    }

    #[test]
    fn a_difference_is_exact_only_if_both_are() {
        let mut pairing = pairing();
        pairing.decide(0, decision(100));
        let late = Decision {
            is_exact: false,
            ..decision(110)
        };
        let paired = pairing.decide(1, late);
        assert!(
            matches!(paired, Some(Paired::Both { is_exact: false, .. })),
            "{paired:?}"
        );
    }
}
