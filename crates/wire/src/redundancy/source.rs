//! The account of one source of redundant frames.

use std::collections::VecDeque;

use super::discard::{Came, ENTRY_FORGET_NS, LanCounts, Received, Watched};
use super::{Lan, Protocol};
use crate::ether::Mac;
use crate::sequence::Contents;

/// Greatest step between two numbers of a source; a greater one is a restart of its count.
const MOST_STEP: i16 = 4_096;
/// At the end of a watch, a copy may be on its way for twice the longest delay of its LAN, and for this long in any case, in ns. At its
/// begin, a copy may have come before the one of the other LAN by as much.
const ON_ITS_WAY_NS: u64 = 1_000_000;
/// A copy that comes after this time is taken as a new frame: the count has wrapped or begun anew. In ns.
const LATEST_NS: u64 = 10_000_000_000;
/// Sequence numbers.
const NUMBERS: usize = 1 << 16;
/// Bit of a frame that a ring carries in one direction.
const ONE_WAY: u8 = 16;

/// Memory of one number.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    at_ns: i64,
    contents: Option<Contents>,
    /// A bit for each LAN on which the frame came, one for each at whose port it came with the identifier of the other one, and [`ONE_WAY`].
    came: u8,
}

/// Memory for the numbers of a source: 1.2 MB.
#[derive(Debug)]
pub(super) struct Room {
    slots: Box<[Slot]>,
    waiting: VecDeque<u16>,
}

impl Room {
    pub(super) fn new() -> Self {
        Self {
            slots: vec![Slot::default(); NUMBERS].into_boxed_slice(),
            waiting: VecDeque::with_capacity(NUMBERS),
        }
    }
}

/// Account of a source.
#[derive(Debug)]
pub struct Source {
    /// Its address.
    pub mac: Mac,
    /// The protocol of its frames.
    pub protocol: Protocol,
    /// Counts of LAN A and LAN B.
    pub lans: [LanCounts; 2],
    /// Frames that came at least once.
    pub together: u64,
    /// Numbers between those of taken frames that came on neither LAN.
    pub neither: u64,
    /// Steps of the number that are too great for lost frames.
    pub restarts: u64,
    /// Instant of its first frame on each LAN, in ns.
    pub first_ns: [Option<i64>; 2],
    room: Room,
    /// Newest number, and that of each LAN.
    newest: Option<u16>,
    newest_on: [Option<u16>; 2],
    /// Newest number up to which those on neither LAN are counted.
    settled: Option<u16>,
}

impl Source {
    pub(super) fn new(frame: &Received, room: Room) -> Self {
        Self {
            mac: frame.src,
            protocol: frame.mark.protocol,
            lans: Default::default(),
            together: 0,
            neither: 0,
            restarts: 0,
            first_ns: [None; 2],
            room,
            newest: None,
            newest_on: [None; 2],
            settled: None,
        }
    }

    /// Takes a frame, after [`Source::settle`] at its instant.
    pub(super) fn take(&mut self, frame: &Received, watched: &[Watched; 2]) -> Came {
        let stated = frame.mark.lan();
        let lan = frame.port.unwrap_or(stated);
        let is_wrong = frame.mark.protocol == Protocol::Prp && lan != stated;
        let mark = if is_wrong { wrong_bit(lan) } else { bit(lan) };
        let has_come = self.room.slots[usize::from(frame.mark.sequence)].came & mark != 0;
        let came = self.relation(frame, mark);
        self.remember(frame, mark, came, watched);
        if !is_wrong {
            self.first_ns[lan.number()].get_or_insert(frame.at_ns);
        }
        let counts = &mut self.lans[lan.number()];
        match came {
            _ if is_wrong => counts.wrong += 1,
            Came::First => counts.received += 1,
            Came::Copy { after_ns } => {
                counts.received += 1;
                counts.most_after_ns = counts.most_after_ns.max(after_ns);
            }
            Came::Conflicting => {
                counts.received += u64::from(!has_come);
                counts.conflicting += 1;
            }
            Came::Late { .. } => counts.late += 1,
            Came::Again => counts.again += 1,
        }
        if !is_wrong && !matches!(came, Came::Late { .. } | Came::Again) {
            let is_behind = go_on(&self.room, &mut self.newest_on[lan.number()], frame);
            counts.reordered += u64::from(is_behind);
        }
        came
    }

    /// The relation of a frame to the one that came before with its number.
    fn relation(&self, frame: &Received, mark: u8) -> Came {
        let slot = &self.room.slots[usize::from(frame.mark.sequence)];
        if slot.came == 0 {
            return Came::First;
        }
        let after_ns = since(frame.at_ns, slot.at_ns);
        let has_come = slot.came & mark != 0;
        if after_ns < ENTRY_FORGET_NS {
            return match (has_come, is_other(slot.contents, frame.contents)) {
                (_, true) => Came::Conflicting,
                (true, false) => Came::Again,
                (false, false) => Came::Copy { after_ns },
            };
        }
        let is_behind = self.newest.is_some_and(|newest| step(newest, frame.mark.sequence) <= 0);
        match !has_come && is_behind && after_ns < LATEST_NS {
            true => Came::Late { after_ns },
            false => Came::First,
        }
    }

    fn remember(&mut self, frame: &Received, mark: u8, came: Came, watched: &[Watched; 2]) {
        let number = frame.mark.sequence;
        let slot = &mut self.room.slots[usize::from(number)];
        if came != Came::First {
            slot.came |= mark;
            return;
        }
        *slot = Slot {
            at_ns: frame.at_ns,
            contents: frame.contents,
            came: if frame.is_due_on_both() { mark } else { mark | ONE_WAY },
        };
        self.together += 1;
        go_on(&self.room, &mut self.newest, frame);
        // Stamps that go back can keep numbers waiting.
        if self.room.waiting.len() >= NUMBERS
            && let Some(first) = self.room.waiting.pop_front()
        {
            self.decide(first, watched, |counts, _| &mut counts.lost);
        }
        self.room.waiting.push_back(number);
    }

    /// Decides which copies are lost, of the frames that are forgotten at `now_ns`.
    pub(super) fn settle(&mut self, now_ns: i64, watched: &[Watched; 2]) {
        while let Some(&number) = self.room.waiting.front() {
            let at_ns = self.room.slots[usize::from(number)].at_ns;
            if since(now_ns, at_ns) < ENTRY_FORGET_NS {
                break;
            }
            self.room.waiting.pop_front();
            self.decide(number, watched, |counts, _| &mut counts.lost);
        }
    }

    /// Decides the rest: a missing copy is lost if its LAN has delivered a later number. Without a frame on one LAN, nothing shows the
    /// losses of the other.
    pub(super) fn end(&mut self, now_ns: i64, watched: &[Watched; 2]) {
        while let Some(number) = self.room.waiting.pop_front() {
            let age_ns = since(now_ns, self.room.slots[usize::from(number)].at_ns);
            self.decide(number, watched, |counts, newest| {
                let is_passed = newest.is_some_and(|newest| step(number, newest) > 0);
                let usual_ns = usual_ns(counts);
                match is_passed {
                    true => &mut counts.lost,
                    false if counts.received > 0 && age_ns <= usual_ns => &mut counts.on_its_way,
                    false => &mut counts.undecided,
                }
            });
        }
        for lan in Lan::BOTH {
            let other = &self.lans[lan.other().number()];
            if other.received + other.late == 0 {
                let one_way = other.one_way;
                let counts = &mut self.lans[lan.number()];
                counts.unwitnessed = counts.received.saturating_sub(one_way);
            }
        }
    }

    /// Counts the missing copies of a number in the counter that `missing` chooses by the newest number of the LAN.
    fn decide(
        &mut self,
        number: u16,
        watched: &[Watched; 2],
        missing: impl Fn(&mut LanCounts, Option<u16>) -> &mut u64,
    ) {
        let slot = self.room.slots[usize::from(number)];
        self.count_neither(number, slot.at_ns);
        for lan in Lan::BOTH.into_iter().filter(|lan| slot.came & bit(*lan) == 0) {
            let newest = self.newest_on[lan.number()];
            let watched = watched[lan.number()];
            if slot.came & ONE_WAY != 0 {
                self.lans[lan.number()].one_way += 1;
                continue;
            }
            let has_other = slot.came & bit(lan.other()) != 0;
            if has_other && !watched.holds(slot.at_ns) {
                self.lans[lan.other().number()].unwitnessed += 1;
            }
            let is_at_edge = watched.is_settling(slot.at_ns) || self.is_at_edge(lan, watched, number);
            let counts = &mut self.lans[lan.number()];
            let counter = match watched.holds(slot.at_ns) {
                false => &mut counts.undecided,
                true if is_at_edge => &mut counts.on_its_way,
                true => missing(counts, newest),
            };
            *counter += 1;
        }
    }

    /// True if the copy of this LAN may have come before the LAN was watched, or after: by the usual delays, and no later number came.
    fn is_at_edge(&self, lan: Lan, watched: Watched, number: u16) -> bool {
        let [own, other] = [lan, lan.other()].map(|lan| &self.lans[lan.number()]);
        let newest = self.newest_on[lan.number()];
        let is_passed = newest.is_some_and(|newest| step(number, newest) > 0);
        let [after_begin_ns, before_end_ns] = watched.to_edges_ns(self.room.slots[usize::from(number)].at_ns);
        let is_before = after_begin_ns <= usual_ns(other);
        let is_after = before_end_ns <= usual_ns(own) && !is_passed;
        own.received > 0 && (is_before || is_after)
    }

    /// Counts the numbers before this one that came on neither LAN.
    fn count_neither(&mut self, number: u16, at_ns: i64) {
        let Some(settled) = self.settled else {
            self.settled = Some(number);
            return;
        };
        let ahead = step(settled, number);
        let is_young = since(at_ns, self.room.slots[usize::from(settled)].at_ns) < ENTRY_FORGET_NS;
        if is_young && (-MOST_STEP..=0).contains(&ahead) {
            return;
        }
        self.settled = Some(number);
        if !(1..=MOST_STEP).contains(&ahead) {
            self.restarts += 1;
            return;
        }
        let missing = (1..ahead.unsigned_abs()).filter(|ahead| {
            let slot = &self.room.slots[usize::from(settled.wrapping_add(*ahead))];
            slot.came == 0 || slot.at_ns.abs_diff(at_ns) >= ENTRY_FORGET_NS
        });
        self.neither += missing.count() as u64;
    }
}

/// Time for which a copy of a LAN may be behind the first one, as far as its delays tell, in ns.
fn usual_ns(counts: &LanCounts) -> u64 {
    (2 * counts.most_after_ns).max(ON_ITS_WAY_NS)
}

/// Bit of a frame that came at the port of `lan` with the identifier of the other one.
const fn wrong_bit(lan: Lan) -> u8 {
    bit(lan) << 2
}

const fn bit(lan: Lan) -> u8 {
    1 << lan.number()
}

/// Moves the newest number on; true if that of the frame is a little behind it. After the time in which a node remembers a frame, the count
/// has begun anew.
fn go_on(room: &Room, newest: &mut Option<u16>, frame: &Received) -> bool {
    let number = frame.mark.sequence;
    let is_behind = newest.is_some_and(|newest| {
        let is_young = since(frame.at_ns, room.slots[usize::from(newest)].at_ns) < ENTRY_FORGET_NS;
        is_young && (-MOST_STEP..0).contains(&step(newest, number))
    });
    if !is_behind {
        *newest = Some(number);
    }
    is_behind
}

/// The step from one number to another, across the wrap.
const fn step(from: u16, to: u16) -> i16 {
    to.wrapping_sub(from) as i16
}

/// Time from one instant to another in ns; 0 if the clock went back.
pub(super) fn since(now_ns: i64, then_ns: i64) -> u64 {
    u64::try_from(now_ns.saturating_sub(then_ns)).unwrap_or(0)
}

fn is_other(before: Option<Contents>, now: Option<Contents>) -> bool {
    before.zip(now).is_some_and(|(before, now)| before != now)
}
