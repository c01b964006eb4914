//! The last frames, bounded by octets and by age: the oldest one goes first.

use std::collections::VecDeque;
use wire::ether::VlanTag;

/// A frame as it is kept, without its octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// Its number, from 0, since the watch began.
    pub number: u64,
    /// Its stamp on the watch's clock, in ns.
    pub at_ns: i64,
    /// Its stamp on the wall clock, in ns since 1970 UTC.
    pub wall_ns: i64,
    /// The outer VLAN tag that the kernel took out of it.
    pub vlan: Option<VlanTag>,
    len: u32,
}

/// Octets that a frame takes in addition to its own.
const EACH: usize = size_of::<Kept>();

/// The last frames.
#[derive(Debug)]
pub struct Ring {
    kept: VecDeque<Kept>,
    octets: VecDeque<u8>,
    most_octets: usize,
    longest_ns: i64,
    next: u64,
    gone_ns: Option<i64>,
}

impl Ring {
    /// Keeps at most so many octets of memory, and frames no older than this.
    pub fn new(most_octets: usize, longest_ns: i64) -> Self {
        Self {
            kept: VecDeque::new(),
            octets: VecDeque::new(),
            most_octets,
            longest_ns,
            next: 0,
            gone_ns: None,
        }
    }

    /// Keeps a frame. One that is larger than the ring is numbered, but not kept.
    pub fn push(&mut self, data: &[u8], vlan: Option<VlanTag>, at_ns: i64, wall_ns: i64) {
        let number = self.next;
        self.next += 1;
        while self
            .kept
            .front()
            .is_some_and(|kept| at_ns.saturating_sub(kept.at_ns) > self.longest_ns || !self.has_room(data.len()))
        {
            self.drop_oldest();
        }
        if !self.has_room(data.len()) {
            return;
        }
        self.octets.extend(data);
        self.kept.push_back(Kept {
            number,
            at_ns,
            wall_ns,
            vlan,
            len: u32::try_from(data.len()).unwrap_or(u32::MAX),
        });
    }

    fn has_room(&self, len: usize) -> bool {
        self.bytes() + len + EACH <= self.most_octets
    }

    fn drop_oldest(&mut self) {
        if let Some(kept) = self.kept.pop_front() {
            self.octets.drain(..kept.len as usize);
            self.gone_ns = Some(kept.at_ns);
        }
    }

    /// Stamp of the last frame that was kept and had to go: up to then frames are not here. `None` if none went.
    pub fn gone_ns(&self) -> Option<i64> {
        self.gone_ns
    }

    /// The number that the next frame will have.
    pub fn next_number(&self) -> u64 {
        self.next
    }

    /// Octets of memory in use, by frames and their places.
    pub fn bytes(&self) -> usize {
        self.octets.len() + self.kept.len() * EACH
    }

    /// The oldest frame.
    pub fn oldest(&self) -> Option<&Kept> {
        self.kept.front()
    }

    /// Number of the first frame that was stamped at `from_ns` or later; that of the next one if there is none.
    pub fn first_since(&self, from_ns: i64) -> u64 {
        // Stamps of a port never go backwards.
        let index = self.kept.partition_point(|kept| kept.at_ns < from_ns);
        self.kept.get(index).map_or(self.next, |kept| kept.number)
    }

    /// Gives frames to `each`, from number `from` on and before number `until`, until more than `most` octets were given. Returns the number
    /// to go on with, and how many frames from `from` on are not here any more.
    pub fn copy(&self, from: u64, until: u64, most: usize, mut each: impl FnMut(&Kept, [&[u8]; 2])) -> (u64, u64) {
        let Some(oldest) = self.kept.front() else {
            let end = until.min(self.next).max(from);
            return (end, end - from);
        };
        let first = self.kept.partition_point(|kept| kept.number < from);
        let missing_at_begin = oldest.number.min(until).saturating_sub(from);
        let mut place: usize = self.kept.range(..first).map(|kept| kept.len as usize).sum();
        let (mut given, mut next, mut missing) = (0, from + missing_at_begin, missing_at_begin);
        for kept in self.kept.range(first..) {
            if kept.number >= until || given > most {
                break;
            }
            missing += kept.number.saturating_sub(next);
            next = kept.number + 1;
            given += kept.len as usize;
            each(kept, self.pieces(place, kept.len as usize));
            place += kept.len as usize;
        }
        (next, missing)
    }

    fn pieces(&self, place: usize, len: usize) -> [&[u8]; 2] {
        let (first, second) = self.octets.as_slices();
        match place.checked_sub(first.len()) {
            Some(place) => [&second[place..place + len], &[]],
            None => {
                let end = (place + len).min(first.len());
                [&first[place..end], &second[..place + len - end]]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{EACH, Ring};
    use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};

    fn contents(ring: &Ring, from: u64, until: u64) -> (Vec<(u64, Vec<u8>)>, u64, u64) {
        let mut all = Vec::new();
        let (next, missing) = ring.copy(from, until, usize::MAX, |kept, pieces| {
            all.push((kept.number, pieces.concat()));
        });
        (all, next, missing)
    }

    #[test]
    fn the_oldest_go_and_are_told_as_missing() {
        let mut ring = Ring::new(3 * (EACH + 4), i64::MAX);
        for number in 0..5u8 {
            ring.push(&[number; 4], None, i64::from(number) * 10, 0);
        }
        let (all, next, missing) = contents(&ring, 0, 5);
        assert_eq!((all.len(), next, missing), (3, 5, 2));
        assert_eq!(all[0], (2, vec![2; 4]));
        assert_eq!(ring.gone_ns(), Some(10));
        assert_eq!(ring.first_since(25), 3);
        assert_eq!(ring.first_since(1_000), 5);
        // Frames that are not wanted are not missing.
        assert_eq!(contents(&ring, 3, 4), (vec![(3, vec![3; 4])], 4, 0));
    }

    #[test]
    fn frames_that_are_too_old_go_although_there_is_room() {
        let mut ring = Ring::new(1 << 20, 100);
        for at_ns in [0, 50, 101, 500] {
            ring.push(&[1], None, at_ns, 0);
        }
        assert_eq!(ring.oldest().map(|kept| kept.at_ns), Some(500));
    }

    #[test]
    fn a_frame_larger_than_the_ring_is_missing_and_no_other_is() {
        let mut ring = Ring::new(EACH + 4, i64::MAX);
        ring.push(&[0; 100], None, 0, 0);
        ring.push(&[1; 4], None, 0, 0);
        assert_eq!(contents(&ring, 0, 2), (vec![(1, vec![1; 4])], 2, 1));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_is_copied_in_parts_is_what_came(lengths in proptest::collection::vec(0usize..40, 1..200), room in 1usize..4_000) {
            let mut ring = Ring::new(room, i64::MAX);
            let mut cursor = 0;
            let (mut got, mut lost) = (0u64, 0u64);
            for (number, length) in lengths.iter().enumerate() {
                ring.push(&vec![number as u8; *length], None, number as i64, 0);
                prop_assert!(ring.bytes() <= room);
                if number % 3 == 0 {
                    let (next, missing) = ring.copy(cursor, u64::MAX, 10, |kept, pieces| {
                        got += 1;
                        assert_eq!(pieces.concat(), vec![kept.number as u8; lengths[kept.number as usize]]);
                    });
                    lost += missing;
                    cursor = next;
                }
            }
            let (next, missing) = ring.copy(cursor, ring.next_number(), usize::MAX, |_, _| got += 1);
            // A frame larger than the ring, at its very end, is found missing by the next one.
            let tail = ring.next_number() - next;
            prop_assert_eq!(got + lost + missing + tail, lengths.len() as u64);
        }
    }
}
