//! The contents of the samples of the last second. They tell whether a sample that comes again has the same contents.

use std::num::NonZeroU32;

/// A fingerprint of a sample's contents. Whoever makes it keys it, so that nobody on the network can make two contents alike.
pub type Contents = NonZeroU32;

/// Highest rate at which every count of a second is remembered.
pub(super) const REMEMBERED: u32 = 1 << 14;

/// The fingerprint of each count, as it last came; 0 where it is not known. Empty where contents are not compared.
#[derive(Debug, Clone, Default)]
pub struct History(Vec<u32>);

/// How a sample is to the one of the same count before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Likeness {
    /// The same contents, which no neighbour has.
    Same,
    /// The same contents as its neighbours have: it says nothing.
    Usual,
    /// Other contents.
    Other,
    /// Not known.
    Unknown,
}

impl History {
    /// Room for the counts of a second: 64 KiB, every page of it written once.
    pub fn of_a_second() -> Self {
        let mut room = vec![1; REMEMBERED as usize];
        room.fill(0);
        // Else the compiler may leave it to the kernel, which gives pages when they are touched.
        std::hint::black_box(&mut room);
        Self(room)
    }

    #[inline]
    pub(super) fn set(&mut self, count: u32, contents: Option<Contents>) {
        if let Some(place) = self.0.get_mut(count as usize) {
            *place = contents.map_or(0, NonZeroU32::get);
        }
    }

    /// The stream skipped this count.
    #[inline]
    pub(super) fn forget(&mut self, count: u32) {
        self.set(count, None);
    }

    pub(super) fn clear(&mut self) {
        self.0.fill(0);
    }

    /// True where the contents of this count are known.
    pub(super) fn knows(&self, count: u32) -> bool {
        self.0.get(count as usize).is_some_and(|contents| *contents != 0)
    }

    pub(super) fn compare(&self, count: u32, contents: Option<Contents>) -> Likeness {
        let known = |count: u32| self.0.get(count as usize).copied().unwrap_or(0);
        let Some((now, before)) = contents.map(NonZeroU32::get).zip(NonZeroU32::new(known(count))) else {
            return Likeness::Unknown;
        };
        if now != before.get() {
            return Likeness::Other;
        }
        let neighbours = [count.wrapping_sub(1), count + 1];
        match neighbours.into_iter().any(|neighbour| known(neighbour) == now) {
            true => Likeness::Usual,
            false => Likeness::Same,
        }
    }
}
