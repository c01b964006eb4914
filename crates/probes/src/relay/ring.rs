//! Rings from one thread of a relay to another.

use rtrb::{Consumer, Producer, RingBuffer};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Makes a ring whose every slot has been written, so that none causes a page fault later.
pub(super) fn touched<T: Copy>(room: usize, blank: T) -> (Producer<T>, Consumer<T>) {
    let (mut to, mut from) = RingBuffer::new(room);
    while to.push(blank).is_ok() {}
    while from.pop().is_ok() {}
    (to, from)
}

/// The sending end. Items without room are counted.
pub(super) struct To<T> {
    ring: Producer<T>,
    refused: Arc<AtomicU64>,
}

/// The receiving end.
pub(super) struct From<T> {
    ring: Consumer<T>,
    refused: Arc<AtomicU64>,
    /// Number of refused items already reported.
    told: u64,
}

/// Makes both ends of a ring with this many slots.
pub(super) fn ring<T: Copy>(room: usize, blank: T) -> (To<T>, From<T>) {
    let (to, from) = touched(room, blank);
    let refused = Arc::new(AtomicU64::new(0));
    let to = To {
        ring: to,
        refused: Arc::clone(&refused),
    };
    let from = From {
        ring: from,
        refused,
        told: 0,
    };
    (to, from)
}

impl<T: Copy> To<T> {
    /// Adds an item.
    pub(super) fn push(&mut self, one: T) {
        if self.ring.push(one).is_err() {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Adds all items at once, at most `most`, or none; then it returns false and counts one refusal.
    pub(super) fn push_all(&mut self, most: usize, all: impl Iterator<Item = T>) -> bool {
        let room = self.ring.write_chunk_uninit(most);
        let has_room = room.map(|room| room.fill_from_iter(all)).is_ok();
        self.refused.fetch_add(u64::from(!has_room), Ordering::Relaxed);
        has_room
    }
}

impl<T: Copy> From<T> {
    /// Takes the oldest item.
    pub(super) fn pop(&mut self) -> Option<T> {
        self.ring.pop().ok()
    }

    /// Number of waiting items.
    pub(super) fn waiting(&self) -> usize {
        self.ring.slots()
    }

    /// Number of refused items at the first call that finds any; 0 after that.
    pub(super) fn first_refused(&mut self) -> u64 {
        match self.told {
            0 => self.refused(),
            _ => 0,
        }
    }

    /// Number of items refused since the last call.
    pub(super) fn refused(&mut self) -> u64 {
        let refused = self.refused.load(Ordering::Relaxed);
        refused - std::mem::replace(&mut self.told, refused)
    }
}

#[cfg(test)]
mod tests {
    use super::ring;

    #[test]
    fn what_has_no_room_is_counted_and_told_at_first_and_at_last() {
        let (mut to, mut from) = ring(3, 0);
        assert!(to.push_all(2, [1, 2].into_iter()));
        assert!(!to.push_all(2, [3, 4].into_iter()), "all or none");
        to.push(5);
        to.push(6);
        assert_eq!(from.waiting(), 3);
        assert_eq!((from.first_refused(), from.first_refused()), (2, 0));
        assert_eq!(
            [from.pop(), from.pop(), from.pop(), from.pop()],
            [Some(1), Some(2), Some(5), None]
        );
        assert_eq!(from.refused(), 0);
        to.push(7);
        assert!(!to.push_all(3, [8, 9, 10].into_iter()));
        assert_eq!((from.first_refused(), from.refused()), (0, 1));
    }
}
