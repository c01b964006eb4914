//! Frames that are held back, in the order in which they are to go on.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Monotonic;

/// A frame and its place among those that came in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Numbered {
    pub(super) place: u64,
    pub(super) octets: Vec<u8>,
}

/// Frames with the instants they are due at; frames due together go in the order they came.
#[derive(Debug, Default)]
pub(super) struct Delayed {
    heap: BinaryHeap<Reverse<(i64, Numbered)>>,
}

impl Delayed {
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    pub(super) fn push(&mut self, due: Monotonic, frame: Numbered) {
        self.heap.push(Reverse((due.as_ns(), frame)));
    }

    /// When the next one is due.
    pub(super) fn next_due(&self) -> Option<Monotonic> {
        self.heap.peek().map(|Reverse((due, _))| Monotonic::from_ns(*due))
    }

    /// The next one that is due by `now`.
    pub(super) fn pop(&mut self, now: Monotonic) -> Option<Numbered> {
        let due = self.next_due()? <= now;
        due.then(|| self.heap.pop().map(|Reverse((_, frame))| frame)).flatten()
    }
}
