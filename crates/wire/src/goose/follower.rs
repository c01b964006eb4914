//! A subscriber that follows one boolean of a control block, and counts the messages that it does not use by reason.

use super::{Frame, Heard, Member, Outcome, Settings, Simulation, Supervisor, Verdict};

/// Follows a boolean member of one control block. After [`Follower::new`] nothing is allocated.
#[derive(Debug, Clone)]
pub struct Follower {
    name: Vec<u8>,
    member: Member,
    /// True if the member may be a position, which is true when it is open.
    is_trip: bool,
    takes_tests: bool,
    /// True if messages without a time to live are refused.
    wants_life: bool,
    supervisor: Supervisor,
    value: Option<bool>,
    unusable: u64,
    without_member: u64,
    changed_late: u64,
}

/// The result of following one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Followed {
    /// The message belongs to another control block.
    Other,
    /// The message was not used: old, repeated, contradictory, simulated, a test, from another source, or without the
    /// member.
    Unused,
    /// The message was used.
    Used(Option<Change>),
}

/// A change of the member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The new value.
    pub value: bool,
    /// True if the message is the first one of its state; otherwise the change happened before this message.
    pub is_first: bool,
}

/// A reason to doubt the followed values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowerDoubt {
    /// Messages are tests, need commissioning, or, for a device that acts on them, have timeAllowedtoLive 0.
    OfTest,
    /// Messages lack the member.
    WithoutMember,
    /// Messages were refused.
    Refused,
    /// Messages are old, or contradict others.
    Contradicting,
    /// The publisher restarted.
    Restarts,
    /// States never arrived.
    LostStates,
    /// Messages never arrived.
    LostMessages,
    /// Changes arrived with a later message than the first one of their state.
    ChangedLate,
    /// Silences were longer than allowed.
    Silences,
    /// The dataset changed, but its revision did not.
    Regrouped,
}

impl FollowerDoubt {
    /// Every doubt, in the order of [`Follower::doubts`].
    pub const ALL: [Self; 10] = [
        Self::OfTest,
        Self::WithoutMember,
        Self::Refused,
        Self::Contradicting,
        Self::Restarts,
        Self::LostStates,
        Self::LostMessages,
        Self::ChangedLate,
        Self::Silences,
        Self::Regrouped,
    ];

    /// Text of the doubt, printed after a count.
    pub fn words(self) -> &'static str {
        match self {
            Self::OfTest => {
                "messages are tests, need commissioning, or have no time to live where they are acted on: not used"
            }
            Self::WithoutMember => "messages lack the member, or it is not a boolean: not used",
            Self::Refused => "messages were refused: simulated, or from a second source address",
            Self::Contradicting => "messages are old, or contradict others",
            Self::Restarts => "restarts of the publisher",
            Self::LostStates => "states never came, by their numbers",
            Self::LostMessages => "messages never came, by their numbers",
            Self::ChangedLate => "changes came with a later message than the first one of their state",
            Self::Silences => "silences were longer than the previous message allowed",
            Self::Regrouped => "messages have another dataset under the same confRev: the member may be another one",
        }
    }
}

impl Follower {
    /// Follows `member` of the control block with this reference. Uses simulated messages only as `simulation` allows,
    /// and messages with the bit `test` in a quality only if `takes_tests`.
    pub fn new(gocb_ref: &[u8], member: Member, simulation: Simulation, takes_tests: bool) -> Self {
        let settings = Settings {
            simulation,
            ..Settings::default()
        };
        Self {
            name: gocb_ref.to_vec(),
            member,
            is_trip: false,
            takes_tests,
            wants_life: false,
            supervisor: Supervisor::new(settings, super::Expectation::default()),
            value: None,
            unusable: 0,
            without_member: 0,
            changed_late: 0,
        }
    }

    /// Follows a trip: a boolean, or a position (Dbpos), as [`Member::tripped`] reads it. To be said before the first message.
    #[must_use]
    pub fn of_trip(mut self) -> Self {
        self.is_trip = true;
        self
    }

    /// Refuses messages with timeAllowedtoLive 0, which have expired when they arrive: for a device that acts on the member. To be said before
    /// the first message.
    #[must_use]
    pub fn of_living(mut self) -> Self {
        self.wants_life = true;
        self
    }

    /// Takes a message that the kernel received at `at`.
    pub fn take(&mut self, frame: &Frame<'_>, at: Heard) -> Followed {
        if frame.gocb_ref() != self.name {
            return Followed::Other;
        }
        let is_dead = self.wants_life && frame.time_allowed_to_live() == 0;
        if is_dead || frame.nds_com() || frame.is_test() && !self.takes_tests {
            self.unusable += 1;
            return Followed::Unused;
        }
        let value = match self.is_trip {
            true => self.member.tripped_after(self.value, frame.all_data()),
            false => self.member.of(frame.all_data()),
        };
        let Some(value) = value else {
            self.without_member += 1;
            return Followed::Unused;
        };
        let outcome = match self.supervisor.accept(frame, at) {
            Verdict::Judged { outcome, .. } if outcome.is_taken() => outcome,
            Verdict::Judged { .. } | Verdict::Refused { .. } => return Followed::Unused,
        };
        let before = self.value.replace(value);
        let has_changed = before.is_some_and(|before| before != value);
        let is_first = matches!(outcome, Outcome::NewState(_)) && frame.sq_num() == 0;
        self.changed_late += u64::from(has_changed && !is_first);
        Followed::Used(has_changed.then_some(Change { value, is_first }))
    }

    /// Checks for expiry between messages; returns true if the last message has just expired.
    pub fn expire(&mut self, now: Heard) -> bool {
        self.supervisor.expire(now).is_some()
    }

    /// Value of the member in the last used message; `None` before the first.
    pub fn value(&self) -> Option<bool> {
        self.value
    }

    /// Value of the member until its last message expires. Call [`Follower::expire`] to notice that.
    pub fn live_value(&self) -> Option<bool> {
        self.value.filter(|_| self.supervisor.is_usable())
    }

    /// Instant in ns, by the clock of the time stamps, when the last message expires.
    pub fn deadline_ns(&self) -> Option<i64> {
        self.supervisor.rules().deadline_ns()
    }

    /// Reference of the member's control block.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Number of times for each doubt, in the order of [`FollowerDoubt::ALL`].
    pub fn doubts(&self) -> [u64; FollowerDoubt::ALL.len()] {
        FollowerDoubt::ALL.map(|doubt| self.count(doubt))
    }

    /// Number of times for this doubt.
    pub fn count(&self, doubt: FollowerDoubt) -> u64 {
        let rules = self.supervisor.rules();
        let counts = rules.counts();
        match doubt {
            FollowerDoubt::OfTest => self.unusable,
            FollowerDoubt::WithoutMember => self.without_member,
            FollowerDoubt::Refused => self.supervisor.refused().total(),
            FollowerDoubt::Contradicting => counts.old + counts.conflicting + counts.altered,
            FollowerDoubt::Restarts => counts.restarts,
            FollowerDoubt::LostStates => counts.missed_states,
            FollowerDoubt::LostMessages => rules.lost(),
            FollowerDoubt::ChangedLate => self.changed_late,
            FollowerDoubt::Silences => counts.expired,
            FollowerDoubt::Regrouped => self.supervisor.regrouped(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, Followed, Follower, FollowerDoubt};
    use crate::ether::{EthernetView, Mac};
    use crate::goose::{Frame, Heard, Member, Message, Simulation, Value};

    const MS: i64 = 1_000_000;

    fn message([st_num, sq_num]: [u32; 2], value: bool) -> Message {
        Message {
            dst: Mac([1; 6]),
            src: Mac([2; 6]),
            gocb_ref: b"x".to_vec(),
            time_allowed_to_live: 100,
            dat_set: b"d".to_vec(),
            st_num,
            sq_num,
            all_data: vec![Value::Boolean(value)],
            ..Message::default()
        }
    }

    fn take(follower: &mut Follower, message: &Message, at_ms: i64) -> Followed {
        let octets = message.encode().expect("a message");
        let frame = EthernetView::parse(&octets).and_then(|ethernet| Frame::parse(&ethernet));
        follower.take(&frame.expect("our own"), Heard::at(Some(at_ms * MS)))
    }

    fn follower() -> Follower {
        Follower::new(b"x", Member::numbered(0), Simulation::Off, false)
    }

    fn doubts(follower: &Follower) -> Vec<&'static str> {
        let found = FollowerDoubt::ALL.into_iter();
        let found = found.filter(|doubt| follower.count(*doubt) > 0);
        found.map(FollowerDoubt::words).collect()
    }

    #[test]
    fn a_change_is_told_once_and_a_first_message_is_none() {
        let mut follower = follower();
        assert_eq!(take(&mut follower, &message([1, 5], true), 0), Followed::Used(None));
        let fall = Change {
            value: false,
            is_first: true,
        };
        assert_eq!(
            take(&mut follower, &message([2, 0], false), 10),
            Followed::Used(Some(fall))
        );
        assert_eq!(take(&mut follower, &message([2, 1], false), 14), Followed::Used(None));
        // A new state that does not change the member is not a change of the member.
        assert_eq!(take(&mut follower, &message([3, 0], false), 20), Followed::Used(None));
        assert_eq!((follower.value(), doubts(&follower)), (Some(false), Vec::new()));
        let late = Change {
            value: true,
            is_first: false,
        };
        assert_eq!(
            take(&mut follower, &message([4, 1], true), 30),
            Followed::Used(Some(late))
        );
        assert_eq!(follower.count(FollowerDoubt::ChangedLate), 1);
    }

    #[test]
    fn a_message_without_a_time_to_live_is_not_acted_on_and_leaves_no_trace() {
        let dead = Message {
            time_allowed_to_live: 0,
            ..message([6, 0], true)
        };
        let mut acting = follower().of_living();
        take(&mut acting, &message([5, 1], false), 0);
        assert_eq!(take(&mut acting, &dead, 1), Followed::Unused);
        assert_eq!(
            (acting.live_value(), acting.count(FollowerDoubt::OfTest)),
            (Some(false), 1)
        );
        let rise = Change {
            value: true,
            is_first: true,
        };
        assert_eq!(take(&mut acting, &message([6, 0], true), 2), Followed::Used(Some(rise)));
        let mut observing = follower();
        take(&mut observing, &message([5, 1], false), 0);
        assert_eq!(take(&mut observing, &dead, 1), Followed::Used(Some(rise)));
    }

    #[test]
    fn what_is_not_to_be_used_changes_nothing_and_is_counted() {
        let quiet = message([5, 1], false);
        let set = message([6, 0], true);
        let wrong = [
            Message {
                simulate: true,
                simulation: true,
                ..set.clone()
            },
            Message {
                nds_com: true,
                ..set.clone()
            },
            Message {
                src: Mac([3; 6]),
                ..set.clone()
            },
            message([4, 0], true),
            Message {
                all_data: vec![Value::Integer(1)],
                ..set.clone()
            },
            Message {
                all_data: vec![
                    Value::Boolean(true),
                    Value::BitString {
                        unused: 3,
                        bits: vec![0, 0x10],
                    },
                ],
                ..set.clone()
            },
        ];
        for message in wrong {
            let mut follower = follower();
            take(&mut follower, &quiet, 0);
            assert_eq!(take(&mut follower, &message, 10), Followed::Unused, "{message:?}");
            assert_eq!(follower.value(), Some(false));
            assert_eq!(doubts(&follower).len(), 1, "{:?}", doubts(&follower));
        }
        let other = Message {
            gocb_ref: b"y".to_vec(),
            ..set
        };
        assert_eq!(take(&mut follower(), &other, 0), Followed::Other);
    }

    #[test]
    fn a_trip_may_be_a_position_that_stays_what_it_was_between_two() {
        let position = |numbers: [u32; 2], bits: u8| Message {
            all_data: vec![Value::BitString {
                unused: 6,
                bits: vec![bits],
            }],
            ..message(numbers, false)
        };
        let mut follower = follower().of_trip();
        assert_eq!(
            take(&mut follower, &position([1, 5], 0b0000_0000), 0),
            Followed::Unused,
            "not known"
        );
        assert_eq!(
            take(&mut follower, &position([2, 0], 0b1000_0000), 10),
            Followed::Used(None),
            "closed"
        );
        assert_eq!(
            take(&mut follower, &position([3, 0], 0b0000_0000), 20),
            Followed::Used(None),
            "between"
        );
        let open = Change {
            value: true,
            is_first: true,
        };
        assert_eq!(
            take(&mut follower, &position([4, 0], 0b0100_0000), 30),
            Followed::Used(Some(open))
        );
        assert_eq!(follower.count(FollowerDoubt::LostStates), 0);
    }

    #[test]
    fn a_value_lives_as_long_as_its_message_allows() {
        let mut follower = follower();
        assert_eq!(follower.live_value(), None);
        take(&mut follower, &message([1, 1], true), 0);
        assert!(!follower.expire(Heard::at(Some(99 * MS))));
        assert_eq!(follower.live_value(), Some(true));
        assert_eq!(follower.deadline_ns(), Some(100 * MS));
        assert!(follower.expire(Heard::at(Some(101 * MS))), "found once");
        assert!(!follower.expire(Heard::at(Some(102 * MS))));
        assert_eq!((follower.live_value(), follower.value()), (None, Some(true)));
        take(&mut follower, &message([1, 2], true), 200);
        assert_eq!(follower.live_value(), Some(true));
    }
}
