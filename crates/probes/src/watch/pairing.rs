//! Pairs of decisions of two relays that belong together. Pure: instants in, answers out.

use units::Monotonic;

/// A decision: the member became true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decision {
    /// When the kernel had its message.
    pub(super) at: Monotonic,
    /// True if it is exact: the message is the first one of its state.
    pub(super) is_exact: bool,
    /// True if the other relay could be seen to decide: it is heard, and its member was not set already.
    pub(super) is_comparable: bool,
}

/// Outcome of decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paired {
    /// Both decided: the one of this number first, 0 or 1, and the other at this instant, by so much later.
    Both {
        first: usize,
        at: Monotonic,
        by_ns: i64,
        is_exact: bool,
    },
    /// Only the relay of this number decided.
    Alone { relay: usize, decision: Decision },
}

/// Two relays. A decision waits for the other's for so long, and no longer.
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

    /// A relay, 0 or 1, decided. What waited longer than it may was taken before, by [`Pairing::expired`].
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

    /// A decision for which none of the other came in time, as is known when all messages before `now` were taken.
    pub(super) fn expired(&mut self, now: Monotonic) -> Option<Paired> {
        let within_ns = self.within_ns;
        (0..2).find_map(|relay| {
            let decision = self.waiting[relay].take_if(|decision| now - decision.at > within_ns)?;
            Some(Paired::Alone { relay, decision })
        })
    }

    /// When the oldest waiting decision has waited long enough.
    pub(super) fn deadline(&self) -> Option<Monotonic> {
        let waiting = self.waiting.iter().flatten();
        waiting.map(|decision| decision.at + self.within_ns + 1).min()
    }

    /// Decisions that still wait at the end: whether the other relay decides, nobody will know.
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
        assert_eq!(pairing.expired(at(600)), None, "until then the other may come");
        let alone = Paired::Alone {
            relay: 1,
            decision: decision(100),
        };
        assert_eq!(pairing.expired(at(601)), Some(alone));
        assert_eq!(pairing.expired(at(601)), None);
        // A later decision of the other is another one.
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
