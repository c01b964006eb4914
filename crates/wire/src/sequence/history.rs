//! Contents of the samples of the last second. They show whether a repeated sample has the same contents as the first.

use std::num::NonZeroU32;

/// Fingerprint of a sample's contents. It must be computed with a secret key, so that nobody on the network can
/// construct two contents with the same fingerprint.
pub type Contents = NonZeroU32;

/// Highest rate for which every count of a second is remembered.
pub(super) const REMEMBERED: u32 = 1 << 14;

/// The latest fingerprint of each count; 0 if it is not known. Empty if contents are not compared.
#[derive(Debug, Clone, Default)]
pub struct History(Vec<u32>);

/// Comparison of a sample with the previous sample of the same count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Likeness {
    /// The same contents, and the neighbours have other contents.
    Same,
    /// The same contents, but the neighbours have them too, so this proves nothing.
    Usual,
    /// Other contents.
    Other,
    /// The earlier contents are not known.
    Unknown,
}

impl History {
    /// Allocates room for the counts of a second: 64 KiB, and writes to every page.
    pub fn of_a_second() -> Self {
        let mut room = vec![1; REMEMBERED as usize];
        room.fill(0);
        // Without this, the compiler may leave the zeros to the kernel, which allocates pages only when they are
        // touched.
        std::hint::black_box(&mut room);
        Self(room)
    }

    #[inline]
    pub(super) fn set(&mut self, count: u32, contents: Option<Contents>) {
        if let Some(place) = self.0.get_mut(count as usize) {
            *place = contents.map_or(0, NonZeroU32::get);
        }
    }

    /// Forgets the contents of a count that the stream skipped.
    #[inline]
    pub(super) fn forget(&mut self, count: u32) {
        self.set(count, None);
    }

    pub(super) fn clear(&mut self) {
        self.0.fill(0);
    }

    /// True if the contents of this count are known.
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
