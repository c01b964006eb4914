//! The discard of copies as a doubly attached node does it, and the account of both LANs.
//!
//! A copy is recognised by source address and sequence number for [`ENTRY_FORGET_NS`] after the first. The loss of a copy is decided
//! then, not before. Numbers that came on neither LAN are counted apart: a node numbers all its frames, also those to other
//! receivers, so they are no proof of a loss.

use super::source::{Room, Source, since};
use super::{Lan, Protocol, Redundancy};
use crate::ether::Mac;
use crate::sequence::Contents;

/// For how long a node remembers a frame (IEC 62439-3, EntryForgetTime: 400 ms), in ns.
pub const ENTRY_FORGET_NS: u64 = 400_000_000;

/// Beginning of the link-local groups, which end with an octet below 0x10 (IEEE 802.1Q).
const LINK_LOCAL: [u8; 5] = [0x01, 0x80, 0xc2, 0, 0];

/// One received copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// Destination address.
    pub dst: Mac,
    /// Source address.
    pub src: Mac,
    /// The marks of the frame.
    pub mark: Redundancy,
    /// LAN at whose port the frame came; `None` if only the frame itself tells.
    pub port: Option<Lan>,
    /// Instant, in ns of any one clock.
    pub at_ns: i64,
    /// Fingerprint of the contents without the marks, if they are to be compared.
    pub contents: Option<Contents>,
}

impl Received {
    /// True if each LAN carries the frame. In a ring, the receiver removes a frame to one address, and the neighbour one to a link-local
    /// group: a link sees these in one direction.
    pub(super) fn is_due_on_both(&self) -> bool {
        let Mac(octets) = self.dst;
        let is_local = octets.starts_with(&LINK_LOCAL) && octets[5] < 0x10;
        self.mark.protocol == Protocol::Prp || self.dst.is_multicast() && !is_local
    }
}

/// The relation of a frame to those that came before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Came {
    /// The first with its number: the node takes it.
    First,
    /// The copy of the other LAN, so long after the first: the node discards it.
    Copy {
        /// Time after the first, in ns.
        after_ns: u64,
    },
    /// The copy of the other LAN after the first was forgotten: the node takes it a second time.
    Late {
        /// Time after the first, in ns.
        after_ns: u64,
    },
    /// The same number again on the same LAN.
    Again,
    /// A copy with other contents than the first.
    Conflicting,
}

impl Came {
    /// True for a copy that proves nothing new.
    pub const fn is_discarded(self) -> bool {
        matches!(self, Self::Copy { .. })
    }
}

/// Counts of one LAN, which only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LanCounts {
    /// Frames that came, each number once.
    pub received: u64,
    /// Frames that came on the other LAN, and not on this one within the window.
    pub lost: u64,
    /// Copies after the window. Each is counted as lost, too.
    pub late: u64,
    /// Numbers that came again.
    pub again: u64,
    /// Frames at the port of this LAN that state the other one.
    pub wrong: u64,
    /// Frames behind a later number of the same LAN.
    pub reordered: u64,
    /// Copies with other contents than the first.
    pub conflicting: u64,
    /// Missing copies of which the loss is not decided: this LAN was not watched then, or the end came first.
    pub undecided: u64,
    /// Missing copies that may have come before the begin, or may have been on their way at the end (also those of this LAN's watch).
    pub on_its_way: u64,
    /// Frames of this LAN while the other one was not watched, or of a source that never came on it: a loss on this LAN does not show
    /// then.
    pub unwitnessed: u64,
    /// Frames of a ring that came in the other direction only, to one address or to a neighbour: no losses.
    pub one_way: u64,
    /// Longest time of a copy after the first one within the window, in ns.
    pub most_after_ns: u64,
}

impl LanCounts {
    fn add(&mut self, other: &Self) {
        let Self {
            received,
            lost,
            late,
            again,
            wrong,
            reordered,
            conflicting,
            undecided,
            on_its_way,
            unwitnessed,
            one_way,
            most_after_ns,
        } = self;
        *received += other.received;
        *lost += other.lost;
        *late += other.late;
        *again += other.again;
        *wrong += other.wrong;
        *reordered += other.reordered;
        *conflicting += other.conflicting;
        *undecided += other.undecided;
        *on_its_way += other.on_its_way;
        *unwitnessed += other.unwitnessed;
        *one_way += other.one_way;
        *most_after_ns = (*most_after_ns).max(other.most_after_ns);
    }
}

/// Time in which a LAN is watched, in ns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Watched {
    from_ns: i64,
    to_ns: i64,
    settles_ns: i64,
}

impl Watched {
    /// True for a frame of which a copy may have come before the account began.
    pub(super) fn is_settling(self, at_ns: i64) -> bool {
        at_ns < self.settles_ns
    }

    /// Time from the begin of the watch to this instant, and from there to the end of the watch, in ns.
    pub(super) fn to_edges_ns(self, at_ns: i64) -> [u64; 2] {
        [since(at_ns, self.from_ns), since(self.to_ns, at_ns)]
    }

    pub(super) fn holds(self, at_ns: i64) -> bool {
        (self.from_ns..=self.to_ns).contains(&at_ns)
    }
}

/// Discards copies by source address and sequence number, and counts what each LAN delivered.
#[derive(Debug)]
pub struct Discard {
    sources: Vec<Source>,
    /// Index of the source of the last frame.
    likely: usize,
    most_sources: usize,
    watched: [Watched; 2],
    /// Memory for sources that have not come yet, so that a receiving thread allocates none.
    spare: Vec<Room>,
    /// Frames of sources beyond the greatest number.
    pub unplaced: u64,
}

impl Discard {
    /// Makes a discard that follows up to `most_sources` sources, with memory for `ready` of them (1.2 MB each).
    pub fn new(most_sources: usize, ready: usize) -> Self {
        Self {
            sources: Vec::with_capacity(most_sources),
            likely: 0,
            most_sources,
            watched: [Watched {
                from_ns: i64::MIN,
                to_ns: i64::MAX,
                settles_ns: i64::MIN,
            }; 2],
            spare: (0..ready.min(most_sources)).map(|_| Room::new()).collect(),
            unplaced: 0,
        }
    }

    /// States that a LAN is watched from this instant on only. Copies that are missing before are not decided, and those shortly after may
    /// have come before.
    pub fn watched_from(&mut self, lan: Lan, at_ns: i64) {
        self.watched[lan.number()].from_ns = at_ns;
    }

    /// States that a LAN is watched up to this instant only.
    pub fn watched_to(&mut self, lan: Lan, at_ns: i64) {
        self.watched[lan.number()].to_ns = at_ns;
    }

    /// States that the account begins at this instant, while frames are on their way. For as long as a node remembers a frame, a
    /// missing copy may have come before.
    pub fn begins(&mut self, at_ns: i64) {
        for watched in &mut self.watched {
            watched.settles_ns = at_ns.saturating_add_unsigned(ENTRY_FORGET_NS);
        }
    }

    /// The sources, in the order of their first frames.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Counts of a LAN for all sources.
    pub fn lan(&self, lan: Lan) -> LanCounts {
        let mut all = LanCounts::default();
        self.sources
            .iter()
            .for_each(|source| all.add(&source.lans[lan.number()]));
        all
    }

    /// Takes a frame; `None` if its source is beyond the greatest number of sources.
    pub fn take(&mut self, frame: &Received) -> Option<Came> {
        let watched = self.watched;
        let Some(at) = self.find(frame) else {
            self.unplaced += 1;
            return None;
        };
        let source = self.sources.get_mut(at)?;
        source.settle(frame.at_ns, &watched);
        Some(source.take(frame, &watched))
    }

    /// Decides the losses that can be decided at this instant.
    pub fn look(&mut self, now_ns: i64) {
        for source in &mut self.sources {
            source.settle(now_ns, &self.watched);
        }
    }

    /// Ends the account: a missing copy is lost if its LAN has delivered a later frame of the source.
    pub fn end(&mut self, now_ns: i64) {
        self.look(now_ns);
        for source in &mut self.sources {
            source.end(now_ns, &self.watched);
        }
    }

    fn find(&mut self, frame: &Received) -> Option<usize> {
        let is_it = |source: &Source| source.mac == frame.src && source.protocol == frame.mark.protocol;
        if self.sources.get(self.likely).is_some_and(is_it) {
            return Some(self.likely);
        }
        let found = self.sources.iter().position(is_it);
        let at = found.or_else(|| {
            if self.sources.len() >= self.most_sources {
                return None;
            }
            let room = self.spare.pop().unwrap_or_else(Room::new);
            self.sources.push(Source::new(frame, room));
            Some(self.sources.len() - 1)
        })?;
        self.likely = at;
        Some(at)
    }
}
