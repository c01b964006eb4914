//! Bits of a GOOSE control block that are followed: when a trip, a start or a contact became true.

use wire::goose::{Followed, Follower, FollowerDoubt, Frame, Heard, Member, Simulation};

/// Changes of a bit that are kept.
const CHANGES: usize = 32;

/// Time between two notes of the doubts, in ns.
const NOTED_EVERY_NS: i64 = 200_000_000;

/// Counts of each doubt.
pub(crate) type Doubts = [u64; FollowerDoubt::ALL.len()];

/// A change of a bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) at_ns: i64,
    pub(crate) value: bool,
    /// True if its message is the first one of its state.
    pub(crate) is_first: bool,
    /// Stamp of the message before it, in ns.
    pub(crate) before_ns: Option<i64>,
}

/// A bit of a control block that is followed.
#[derive(Debug)]
pub(crate) struct Bit {
    follower: Follower,
    changes: [Option<Changed>; CHANGES],
    /// The place of the next change.
    next: usize,
    /// The first message, and its value.
    first: Option<(i64, bool)>,
    newest_ns: Option<i64>,
    /// Doubts at the last two looks, the older one first.
    noted: [Noted; 2],
}

/// Doubts at an instant.
#[derive(Debug, Clone, Copy)]
struct Noted {
    at_ns: i64,
    doubts: Doubts,
}

const NOT_YET: Noted = Noted {
    at_ns: i64::MIN,
    doubts: [0; FollowerDoubt::ALL.len()],
};

impl Bit {
    /// Follows a boolean.
    pub(crate) fn of(gocb_ref: &str, member: Member) -> Self {
        Self::following(Follower::new(gocb_ref.as_bytes(), member, Simulation::Off, false))
    }

    /// Follows a trip, which may be a position.
    pub(crate) fn of_trip(gocb_ref: &str, member: Member) -> Self {
        Self::following(Follower::new(gocb_ref.as_bytes(), member, Simulation::Off, false).of_trip())
    }

    fn following(follower: Follower) -> Self {
        Self {
            follower,
            changes: [None; CHANGES],
            next: 0,
            first: None,
            newest_ns: None,
            noted: [NOT_YET; 2],
        }
    }

    /// Takes a message: `None` if it is of another control block, else the change, if it brings one.
    pub(crate) fn take(&mut self, frame: &Frame<'_>, at_ns: i64) -> Option<Option<Changed>> {
        let followed = self.follower.take(frame, Heard::at(Some(at_ns)));
        let change = match followed {
            Followed::Other => return None,
            Followed::Unused => return Some(None),
            Followed::Used(change) => change,
        };
        let before_ns = self.newest_ns.replace(at_ns);
        if let (None, Some(value)) = (self.first, self.follower.value()) {
            self.first = Some((at_ns, value));
        }
        let changed = change.map(|change| Changed {
            at_ns,
            value: change.value,
            is_first: change.is_first,
            before_ns,
        });
        if changed.is_some() {
            self.changes[self.next % CHANGES] = changed;
            self.next += 1;
        }
        Some(changed)
    }

    /// Every message was taken that came before `now_ns`.
    pub(crate) fn look(&mut self, now_ns: i64) {
        self.follower.expire(Heard::at(Some(now_ns)));
        if now_ns.saturating_sub(self.noted[1].at_ns) < NOTED_EVERY_NS {
            return;
        }
        let noted = Noted {
            at_ns: now_ns,
            doubts: self.follower.doubts(),
        };
        self.noted = [self.noted[1], noted];
    }

    /// Changes in their order.
    fn changes(&self) -> impl Iterator<Item = Changed> + '_ {
        (0..CHANGES).filter_map(|place| self.changes[(self.next + place) % CHANGES])
    }

    /// Its value right before an instant; `None` where no message had come.
    pub(crate) fn before(&self, at_ns: i64) -> Option<bool> {
        let (first_ns, first) = self.first?;
        if first_ns >= at_ns {
            return None;
        }
        let last = self.changes().filter(|change| change.at_ns < at_ns).last();
        Some(last.map_or_else(
            // Older changes are not kept: the oldest one tells what was before it.
            || {
                self.changes()
                    .next()
                    .filter(|_| self.next > CHANGES)
                    .map_or(first, |change| !change.value)
            },
            |change| change.value,
        ))
    }

    /// The first time it became true from `from_ns` to `until_ns`, both included.
    pub(crate) fn rose(&self, from_ns: i64, until_ns: i64) -> Option<Changed> {
        let mut changes = self.changes();
        changes.find(|change| change.value && change.at_ns >= from_ns && change.at_ns <= until_ns)
    }

    /// True if a message came that could be used.
    pub(crate) fn is_known(&self) -> bool {
        self.first.is_some()
    }

    pub(crate) fn doubts(&self) -> Doubts {
        self.follower.doubts()
    }

    pub(crate) fn deadline_ns(&self) -> Option<i64> {
        self.follower.deadline_ns()
    }

    /// Doubts at the last look up to `at_ns`; nothing where that is too long ago: then all doubts are new.
    pub(crate) fn doubts_at(&self, at_ns: i64) -> Doubts {
        let noted = self.noted.iter().rev().find(|noted| noted.at_ns <= at_ns);
        noted.map_or(NOT_YET.doubts, |noted| noted.doubts)
    }

    /// Why its silence since these doubts says nothing, if it does not: a doubt that is new, or that it had fallen silent before.
    pub(crate) fn unsure(&self, earlier: &Doubts) -> Option<FollowerDoubt> {
        let now = self.follower.doubts();
        let mut all = FollowerDoubt::ALL.into_iter().zip(earlier.iter().zip(now));
        let new = all.find(|(doubt, (before, now))| *now > **before && *doubt != FollowerDoubt::LostMessages);
        let silent = self.follower.live_value().is_none().then_some(FollowerDoubt::Silences);
        new.map(|(doubt, _)| doubt).or(silent)
    }
}
