//! Samples that came before earlier ones of their stream: they overtook samples that were held back.
//!
//! Such a sample looks like one of a second publisher, or like a copy from the turn before, until the stream reaches its count. If the stream
//! leaves that count out, the sample was the stream's own; if the stream has a sample with that count, their contents decide.

use super::history::{Contents, Likeness};
use super::{Sequence, What};

/// Maximum number of samples that wait: those of 100 ms at 4800/s.
const MOST: usize = 512;

/// Kinds of a sample ahead of the stream, besides the stream's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// One of another publisher: no turn of the stream had these contents at its count.
    Another,
    /// One of another publisher, or of the turn before.
    AnotherOrLate,
    /// A copy of one of the turn before.
    Copy,
    /// Any: the contents are those of every turn.
    Any,
}

/// A sample that waits for the stream to reach it.
#[derive(Debug, Clone, Copy)]
struct Early {
    /// Its number in the schedule.
    index: u64,
    contents: Option<Contents>,
    count: u16,
    origin: Origin,
}

/// The samples that wait, in order of arrival. Allocates nothing.
#[derive(Debug, Clone)]
pub(super) struct Overtaking {
    waiting: [Early; MOST],
    count: usize,
}

impl Default for Overtaking {
    fn default() -> Self {
        let none = Early {
            index: 0,
            contents: None,
            count: 0,
            origin: Origin::AnotherOrLate,
        };
        Self {
            waiting: [none; MOST],
            count: 0,
        }
    }
}

impl Overtaking {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn waiting(&self) -> &[Early] {
        &self.waiting[..self.count]
    }

    /// True if all samples wait that are between number `index` and the one `ahead` of it.
    #[inline]
    pub(super) fn leads(&self, index: u64, ahead: u32) -> bool {
        let is_between = |early: &&Early| (1..u64::from(ahead)).contains(&early.index.saturating_sub(index));
        !self.is_empty() && self.waiting().iter().filter(is_between).count() + 1 >= ahead as usize
    }

    /// Takes the sample number `index`.
    fn take(&mut self, index: u64) -> Option<Early> {
        let place = self.waiting().iter().position(|early| early.index == index)?;
        let early = self.waiting[place];
        self.remove(place);
        Some(early)
    }

    /// Takes a sample that the stream has passed: one up to number `index`.
    fn take_passed(&mut self, index: u64) -> Option<Early> {
        let place = self.waiting().iter().position(|early| early.index <= index)?;
        let early = self.waiting[place];
        self.remove(place);
        Some(early)
    }

    fn remove(&mut self, place: usize) {
        self.waiting.copy_within(place + 1..self.count, place);
        self.count -= 1;
    }

    /// False if there is no room for it.
    fn push(&mut self, early: Early) -> bool {
        let Some(place) = self.waiting.get_mut(self.count) else {
            return false;
        };
        *place = early;
        self.count += 1;
        true
    }

    /// Forgets the samples of a sequence that has ended, or counts that no longer exist.
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }
}

/// The sample that the stream has reached.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reached {
    pub(super) index: u64,
    pub(super) count: u32,
    pub(super) contents: Option<Contents>,
}

impl Sequence {
    /// Handles a sample that is ahead of the stream, and may be the stream's own. `repeats` is true if the stream's contents repeat each turn.
    pub(super) fn come_early(&mut self, sample: Reached, repeats: bool) {
        let Reached { index, count, contents } = sample;
        let origin = match self.history.compare(count, contents) {
            Likeness::Same if !repeats => Origin::Copy,
            Likeness::Same | Likeness::Usual => Origin::Any,
            Likeness::Other if self.is_rate_known && !self.has_lacked(count) => Origin::Another,
            _ => Origin::AnotherOrLate,
        };
        self.counters.too_late += 1;
        let other = self.overtaking.waiting().iter().find(|early| early.index == index);
        match other.map(|other| differ(other.contents, contents)) {
            Some(true) => self.out_of_turn(count),
            Some(false) => self.come_twice(),
            None => self.await_turn(sample, origin),
        }
        if origin == Origin::Copy {
            self.prove(count);
        }
    }

    /// A sample that waited, or still waits, was a copy.
    fn come_twice(&mut self) {
        self.counters.too_late = self.counters.too_late.saturating_sub(1);
        self.counters.duplicates += 1;
    }

    /// Lets a sample wait that is counted as too late.
    pub(super) fn await_turn(&mut self, sample: Reached, origin: Origin) {
        let Reached { index, count, contents } = sample;
        let early = Early {
            index,
            contents,
            count: u16::try_from(count).unwrap_or(u16::MAX),
            origin,
        };
        if !self.overtaking.push(early) {
            self.give_up(&early);
        }
    }

    /// Nothing shows where a sample belongs.
    fn give_up(&mut self, early: &Early) {
        match early.origin {
            Origin::Another | Origin::AnotherOrLate => self.out_of_turn(u32::from(early.count)),
            Origin::Copy | Origin::Any => self.come_twice(),
        }
    }

    /// Decides about the samples that came early: the stream moved on from number `from` to this sample. Returns the number of those that were
    /// counted as lost.
    #[cold]
    pub(super) fn meet_early(&mut self, from: u64, reached: Reached) -> u64 {
        // Until it is decided how many turns a silence lasted, numbers are not certain.
        if self.held.is_some() {
            return 0;
        }
        let is_proved = match self.overtaking.take(reached.index) {
            Some(early) => self.meet(early, reached),
            None => false,
        };
        let mut found = 0;
        while let Some(early) = self.overtaking.take_passed(reached.index) {
            match early.index > from {
                true => found += u64::from(self.find_early(&early)),
                false => self.give_up(&early),
            }
        }
        if is_proved {
            self.strays.forget_followed();
            self.catch_up();
        }
        found
    }

    /// The stream has reached the count of a sample that came early; returns true if both are the same sample.
    fn meet(&mut self, early: Early, reached: Reached) -> bool {
        if u32::from(early.count) != reached.count {
            self.give_up(&early);
            return false;
        }
        if !differ(early.contents, reached.contents) {
            self.come_twice();
            if early.origin == Origin::Any {
                self.follow_stray(reached.count, self.newest_ns);
            }
            return early.origin == Origin::Another && reached.contents.is_some();
        }
        match early.origin {
            Origin::Another => {
                self.counters.too_late = self.counters.too_late.saturating_sub(1);
                self.counters.conflicting += 1;
                self.findings.push(What::Conflict, u64::from(reached.count), 0);
            }
            _ => self.give_up(&early),
        }
        false
    }

    /// The stream has passed the count of a sample that came early. Returns true if it was counted as lost.
    fn find_early(&mut self, early: &Early) -> bool {
        if early.origin == Origin::Copy {
            self.out_of_turn(u32::from(early.count));
        }
        self.counters.too_late = self.counters.too_late.saturating_sub(1);
        if !self.mark_seen(self.index - early.index) {
            self.counters.duplicates += 1;
            return false;
        }
        self.counters.out_of_order += 1;
        self.put_early(early);
        self.found_one();
        true
    }

    /// Marks the sample `back` before the newest one as seen; false if it was.
    pub(super) fn mark_seen(&mut self, back: u64) -> bool {
        let bit = u32::try_from(back).ok().and_then(|back| 1_u32.checked_shl(back));
        let bit = bit.unwrap_or(0);
        let is_new = self.seen & bit == 0;
        self.seen |= bit;
        self.missing &= !bit;
        is_new
    }

    /// The stream consists of copies of the samples that came early: it goes on after these.
    fn catch_up(&mut self) {
        while let Some(early) = self.overtaking.take(self.index.saturating_add(1)) {
            let count = u32::from(early.count);
            let is_next = self.newest.is_some_and(|newest| (newest + 1) % self.rate == count);
            if !is_next {
                self.give_up(&early);
                return;
            }
            self.counters.too_late = self.counters.too_late.saturating_sub(1);
            self.counters.out_of_order += 1;
            self.newest = Some(count);
            self.index += 1;
            (self.seen, self.missing) = (self.seen << 1 | 1, self.missing << 1);
            self.put_early(&early);
        }
    }

    fn put_early(&mut self, early: &Early) {
        let count = u32::from(early.count);
        self.history.set(count, early.contents);
        self.unskip(count);
    }

    /// At the end of the run, nothing shows where the samples that still wait belong.
    pub(super) fn give_up_early(&mut self) {
        while let Some(early) = self.overtaking.take_passed(u64::MAX) {
            self.give_up(&early);
        }
    }

    /// A sample that may be of this publisher or of another one.
    pub(super) fn out_of_turn(&mut self, count: u32) {
        let newest = self.newest.unwrap_or(0);
        self.findings.push(What::OutOfTurn, u64::from(count), u64::from(newest));
    }
}

fn differ(one: Option<Contents>, other: Option<Contents>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}
