//! The last samples of a stream, by their place in it.

use crate::rule::MOST_MEMBERS;
use protection::Complex;

/// Values of the members that the rule looks at, in their order, then of the others; the rest is 0.
pub(crate) type Values = [i32; MOST_MEMBERS];

/// Phasors of the members that the rule looks at; the rest is 0.
pub(crate) type Phasors = [Complex; MOST_MEMBERS];

/// The first sample of a stream has this place: all that is looked for before it has one, too.
pub(crate) const FIRST: u64 = 1 << 20;

/// A sample that came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept {
    /// Its place in the stream, counted by smpCnt.
    pub(crate) index: u64,
    pub(crate) smp_cnt: u16,
    /// Stamp of its frame, in ns.
    pub(crate) at_ns: i64,
    /// Samples of the same stream after it in its frame.
    pub(crate) after: u8,
    pub(crate) values: Values,
    /// Phasors of the cycle that ends with it, where all samples of that came.
    pub(crate) phasors: Option<Phasors>,
}

const NONE: Kept = Kept {
    index: 0,
    smp_cnt: 0,
    at_ns: 0,
    after: 0,
    values: [0; MOST_MEMBERS],
    phasors: None,
};

/// The last samples.
#[derive(Debug)]
pub(crate) struct History {
    ring: Box<[Kept]>,
}

impl History {
    /// Room for so many.
    pub(crate) fn of(samples: u64) -> Self {
        let room = usize::try_from(samples.next_power_of_two()).unwrap_or(1);
        Self {
            ring: vec![NONE; room].into_boxed_slice(),
        }
    }

    fn place(&self, index: u64) -> usize {
        // The ring's length is a power of two.
        index as usize & (self.ring.len() - 1)
    }

    pub(crate) fn keep(&mut self, kept: Kept) {
        let place = self.place(kept.index);
        self.ring[place] = kept;
    }

    /// The sample of this place, if it came and is not too old.
    pub(crate) fn get(&self, index: u64) -> Option<&Kept> {
        let kept = &self.ring[self.place(index)];
        (kept.index == index && index >= FIRST).then_some(kept)
    }
}
