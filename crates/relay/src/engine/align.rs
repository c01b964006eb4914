//! Orders samples by their number, whatever order they arrive in.
//!
//! Sample `n` of every stream belongs to the same instant. A publisher counts its samples from the top of a second (smpCnt), so a
//! count can mean one sample in each second: the one nearest to the current task is meant. A sample whose count is not near is
//! not used, until seventeen such counts have followed each other: then the publisher has restarted.

use protection::measure::Channels;

/// Number of samples in the ring, by which a driver may be late.
pub(super) const RING: usize = 256;

/// A sample up to this many counts from the newest one belongs to the same sequence, as with `wire::sequence::WINDOW`.
const WINDOW: i64 = 16;

/// Number of consecutive stray counts after which they are accepted; more than a frame has.
const BELIEVED: u32 = 17;

/// Number of consecutive counts of another sequence, while the stream continues, that prove a second publisher.
const SECOND: u32 = 4;

/// Placement of a sample of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Accepted for one of the next tasks.
    Taken,
    /// Repeated, with the same contents.
    Duplicate,
    /// Repeated, with other contents.
    Conflicting,
    /// Too late for its task.
    Late,
    /// Count too far from the stream.
    Stray,
    /// Too far ahead of the task for the ring: the task was not called for too long.
    Overrun,
    /// Count not below the rate.
    OutOfRange,
    /// Simulated although the relay accepts none, or the reverse.
    Simulation,
}

/// Number of samples of a stream for each placement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Taken.
    pub taken: u64,
    /// Repeated.
    pub duplicates: u64,
    /// Repeated with other contents, or from a second publisher.
    pub conflicting: u64,
    /// Too late for their task.
    pub late: u64,
    /// Count too far from the stream.
    pub strays: u64,
    /// No room in the ring.
    pub overruns: u64,
    /// Count not below the rate.
    pub out_of_range: u64,
    /// Dropped because of their simulation bit.
    pub simulation: u64,
    /// Number of times that the counter jumped and the new counts were accepted.
    pub restarts: u64,
}

/// A sample in the ring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Slot {
    pub(super) number: u64,
    pub(super) values: [f64; 8],
    pub(super) bad: Channels,
    pub(super) synch: u8,
    pub(super) simulated: bool,
    pub(super) conflicting: bool,
    /// True for the first sample after a jump of the counter.
    pub(super) begins: bool,
}

impl Slot {
    const EMPTY: Self = Self {
        number: u64::MAX,
        values: [0.0; 8],
        bad: Channels::NONE,
        synch: 0,
        simulated: false,
        conflicting: false,
        begins: false,
    };

    fn is_like(&self, other: &Self) -> bool {
        self.values.map(f64::to_bits) == other.values.map(f64::to_bits)
            && (self.bad, self.synch) == (other.bad, other.synch)
    }
}

/// Numbers that all streams share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    /// Number of the first sample that no task has processed.
    pub(super) next: u64,
    /// Number of samples to wait for.
    pub(super) wait: u64,
    /// Number of count 0 of the synchronised streams, modulo the rate.
    pub(super) common: Option<u64>,
    /// Number of active streams with this count.
    pub(super) holders: usize,
    /// True if any sample has come.
    pub(super) is_begun: bool,
}

/// The samples of one stream.
#[derive(Debug, Clone)]
pub(super) struct Aligner {
    rate: u64,
    ring: Box<[Slot]>,
    /// Number of count 0, modulo the rate; `None` before the first sample.
    offset: Option<u64>,
    newest: u64,
    /// The next expected count after the newest sample.
    following: u64,
    synch: u8,
    /// Number of samples, and of late ones, in the current span of one second.
    placed: u64,
    late: u64,
    /// The last stray count; the number of consecutive stray counts; and that number since the last sample of the stream.
    stray: u64,
    strays: u32,
    strays_alone: u32,
    /// True if a sample contradicted one that a task has already processed.
    contradicted: bool,
    begins: bool,
    pub(super) counters: Counters,
}

impl Aligner {
    pub(super) fn new(rate: u32) -> Self {
        Self {
            rate: u64::from(rate.max(1)),
            ring: vec![Slot::EMPTY; RING].into_boxed_slice(),
            offset: None,
            newest: 0,
            following: 0,
            synch: 0,
            placed: 0,
            late: 0,
            stray: 0,
            strays: 0,
            strays_alone: 0,
            contradicted: false,
            begins: false,
            counters: Counters::default(),
        }
    }

    /// Number of the newest sample; `None` before the first.
    pub(super) fn newest(&self) -> Option<u64> {
        self.offset.map(|_| self.newest)
    }

    /// Number of the first sample from `next` on that has not come.
    pub(super) fn ready(&self, next: u64) -> u64 {
        let has = |number: &u64| self.ring[*number as usize & (RING - 1)].number == *number;
        (next..next + RING as u64)
            .find(|number| !has(number))
            .unwrap_or(next + RING as u64)
    }

    /// True if this stream keeps the count of all synchronised streams alive: it has that count and is active.
    pub(super) fn holds(&self, axis: &Axis) -> bool {
        self.counts_as(axis.common) && self.newest + RING as u64 >= axis.next
    }

    /// True if its counts are those of all synchronised streams.
    pub(super) fn counts_as(&self, common: Option<u64>) -> bool {
        self.offset.is_some() && self.offset == common
    }

    /// Places a sample by its count, and counts the placement.
    pub(super) fn push(&mut self, axis: &mut Axis, count: u16, slot: &Slot) -> Placement {
        let placement = self.place(axis, u64::from(count), slot);
        let counter = match placement {
            Placement::Taken => &mut self.counters.taken,
            Placement::Duplicate => &mut self.counters.duplicates,
            Placement::Conflicting => &mut self.counters.conflicting,
            Placement::Late => &mut self.counters.late,
            Placement::Stray => &mut self.counters.strays,
            Placement::Overrun => &mut self.counters.overruns,
            Placement::OutOfRange => &mut self.counters.out_of_range,
            Placement::Simulation => &mut self.counters.simulation,
        };
        *counter += 1;
        placement
    }

    fn place(&mut self, axis: &mut Axis, count: u64, slot: &Slot) -> Placement {
        if count >= self.rate {
            return Placement::OutOfRange;
        }
        let synchronised = self.synch == 0 && slot.synch != 0 && !self.counts_as(axis.common);
        self.synch = slot.synch;
        let Some(offset) = self.offset else {
            return self.begin(axis, count, slot);
        };
        if synchronised {
            return self.restart(axis, count, slot);
        }
        // The usual case needs no division.
        let is_next = count == self.following && self.newest + WINDOW as u64 >= axis.next;
        let number = match is_next {
            true => self.newest as i64 + 1,
            false => self.nearest(axis.next, count + offset),
        };
        if !is_next && !self.fits(axis, number) {
            return self.stray(axis, count, slot);
        }
        self.strays_alone = 0;
        self.put(axis, number, count, slot)
    }

    /// Number nearest to `place` with this residue; negative if it would be before the first sample.
    fn nearest(&self, place: u64, residue: u64) -> i64 {
        let rate = self.rate as i64;
        let ahead = (residue as i64 - place as i64).rem_euclid(rate);
        place as i64 + if 2 * ahead > rate { ahead - rate } else { ahead }
    }

    /// True if a sample with this number belongs to the stream: it is near the newest one, or near the task.
    fn fits(&self, axis: &Axis, number: i64) -> bool {
        let near = |place: u64, reach: i64| (number - place as i64).abs() <= reach;
        near(self.newest, WINDOW) || near(axis.next, axis.wait as i64 + 2 * WINDOW)
    }

    /// Places a stray count. Many consecutive ones mean that the publisher restarted; a few, while the stream continues, mean a
    /// second publisher.
    #[cold]
    fn stray(&mut self, axis: &mut Axis, count: u64, slot: &Slot) -> Placement {
        let follows = self.strays > 0 && count == (self.stray + 1) % self.rate;
        self.stray = count;
        self.strays = if follows { self.strays.saturating_add(1) } else { 1 };
        self.strays_alone = if follows {
            self.strays_alone.saturating_add(1)
        } else {
            1
        };
        if self.strays_alone >= BELIEVED {
            return self.restart(axis, count, slot);
        }
        if self.strays >= SECOND && self.strays_alone < self.strays {
            self.contradicted = true;
            return Placement::Conflicting;
        }
        Placement::Stray
    }

    #[cold]
    fn restart(&mut self, axis: &mut Axis, count: u64, slot: &Slot) -> Placement {
        self.counters.restarts += 1;
        self.begins = true;
        self.begin(axis, count, slot)
    }

    /// Starts or restarts the stream with this sample. If it is synchronised and its count agrees with the other streams, the
    /// count gives its number; otherwise the number is that of the present.
    #[cold]
    fn begin(&mut self, axis: &mut Axis, count: u64, slot: &Slot) -> Placement {
        let is_synchronised = slot.synch != 0;
        let by_common = axis
            .common
            .filter(|_| is_synchronised)
            .map(|common| self.nearest(axis.next, count + common));
        let others = axis.holders - usize::from(self.counts_as(axis.common)).min(axis.holders);
        let reach = axis.wait as i64 + 2 * WINDOW;
        // A single stream is never too late: its count becomes the common one.
        let earliest = axis.next as i64 - if others > 0 { reach } else { 0 };
        let near = by_common.filter(|number| (earliest..=axis.next as i64 + reach).contains(number));
        let number = match near {
            Some(number) => number,
            None if !axis.is_begun => axis.next as i64,
            None => (axis.next + axis.wait).max(self.newest + 1) as i64,
        };
        axis.is_begun = true;
        let offset = (number - count as i64).rem_euclid(self.rate as i64) as u64;
        if is_synchronised && others == 0 {
            axis.common = Some(offset);
        }
        self.offset = Some(offset);
        axis.holders = others + usize::from(self.counts_as(axis.common));
        self.newest = number.max(0) as u64;
        self.strays = 0;
        self.strays_alone = 0;
        self.late = 0;
        self.put(axis, number, count, slot)
    }

    fn put(&mut self, axis: &mut Axis, number: i64, count: u64, slot: &Slot) -> Placement {
        let Ok(number) = u64::try_from(number) else {
            return Placement::Late;
        };
        self.placed += 1;
        if self.placed >= self.rate {
            self.placed = 0;
            self.late = 0;
        }
        let place = number as usize & (RING - 1);
        if self.ring[place].number == number {
            return self.again(axis, place, slot);
        }
        if number < axis.next {
            return self.late(axis);
        }
        if number >= self.newest {
            self.newest = number;
            self.following = if count + 1 == self.rate { 0 } else { count + 1 };
        }
        if number >= axis.next + RING as u64 {
            return Placement::Overrun;
        }
        self.ring[place] = Slot {
            number,
            begins: std::mem::take(&mut self.begins),
            ..*slot
        };
        Placement::Taken
    }

    /// Places a sample whose number has come before.
    #[cold]
    fn again(&mut self, axis: &Axis, place: usize, slot: &Slot) -> Placement {
        let before = &mut self.ring[place];
        if before.is_like(slot) {
            return Placement::Duplicate;
        }
        if before.number < axis.next {
            self.contradicted = true;
        }
        before.conflicting = true;
        Placement::Conflicting
    }

    /// Counts a late sample. If a quarter of the samples is late, the stream restarts with its next sample.
    #[cold]
    fn late(&mut self, axis: &mut Axis) -> Placement {
        self.late += 1;
        if self.late > self.rate / 4 {
            axis.holders -= usize::from(self.counts_as(axis.common)).min(axis.holders);
            self.offset = None;
            self.begins = true;
            self.counters.restarts += 1;
        }
        Placement::Late
    }

    /// The sample of this number, if it has come and is still in the ring.
    pub(super) fn slot(&self, number: u64) -> Option<&Slot> {
        let slot = &self.ring[number as usize & (RING - 1)];
        (slot.number == number).then_some(slot)
    }

    /// The sample with this number, if it has come, and true if anything contradicts it.
    pub(super) fn take(&mut self, number: u64) -> Option<(&Slot, bool)> {
        let slot = &self.ring[number as usize & (RING - 1)];
        (slot.number == number).then(|| (slot, slot.conflicting | std::mem::take(&mut self.contradicted)))
    }
}
