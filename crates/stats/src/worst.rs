//! The largest of many values, with the items that they belong to.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// The largest values so far; of equal values the earlier ones.
#[derive(Debug, Clone)]
pub struct Worst<T> {
    most: usize,
    heap: BinaryHeap<Reverse<Kept<T>>>,
    offered: u64,
}

/// A value in its order: larger values first, then earlier ones.
#[derive(Debug, Clone)]
struct Kept<T> {
    value: i64,
    number: Reverse<u64>,
    item: T,
}

impl<T> Kept<T> {
    fn key(&self) -> (i64, Reverse<u64>) {
        (self.value, self.number)
    }
}

impl<T> PartialEq for Kept<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Kept<T> {}

impl<T> PartialOrd for Kept<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Kept<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl<T> Worst<T> {
    /// Makes a list that keeps the `most` largest.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            heap: BinaryHeap::new(),
            offered: 0,
        }
    }

    /// The smallest kept value, once there is no room for more: from then on only larger ones are kept.
    pub fn floor(&self) -> Option<i64> {
        let least = self.heap.peek().filter(|_| self.heap.len() >= self.most);
        least.map(|Reverse(least)| least.value)
    }

    /// True if a value would be kept.
    #[inline]
    pub fn takes(&self, value: i64) -> bool {
        self.floor().is_none_or(|floor| value > floor)
    }

    /// Keeps a value if it is among the largest. Returns true if it was kept.
    pub fn offer(&mut self, value: i64, item: T) -> bool {
        let is_taken = self.takes(value);
        if is_taken {
            self.offered += 1;
            let number = Reverse(self.offered);
            self.heap.push(Reverse(Kept { value, number, item }));
            if self.heap.len() > self.most {
                self.heap.pop();
            }
        }
        is_taken
    }

    /// Changes the number of kept values to at least `most`.
    pub fn make_room(&mut self, most: usize) {
        self.most = self.most.max(most);
    }

    /// Takes all kept values, the largest first; of equal values the earlier first. None is left.
    pub fn take(&mut self) -> Vec<(i64, T)> {
        let sorted = std::mem::take(&mut self.heap).into_sorted_vec();
        sorted
            .into_iter()
            .map(|Reverse(kept)| (kept.value, kept.item))
            .collect()
    }

    /// Same as [`Worst::take`], but keeps them.
    pub fn listed(&self) -> Vec<&T> {
        let mut kept: Vec<&Kept<T>> = self.heap.iter().map(|Reverse(kept)| kept).collect();
        kept.sort_by_key(|kept| Reverse(kept.key()));
        kept.into_iter().map(|kept| &kept.item).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Worst;

    #[test]
    fn the_largest_and_of_equals_the_earlier() {
        let mut worst = Worst::new(3);
        for (at, value) in [5, 1, 9, 5, 9, 5].into_iter().enumerate() {
            assert_eq!(worst.takes(value), worst.offer(value, at), "{at}");
        }
        assert_eq!(worst.floor(), Some(5));
        assert_eq!(worst.listed(), [&2, &4, &0]);
        assert_eq!(worst.take(), [(9, 2), (9, 4), (5, 0)]);
        assert_eq!((worst.floor(), worst.take()), (None, Vec::new()));
    }

    #[test]
    fn more_room_takes_more() {
        let mut worst = Worst::new(1);
        assert!(worst.offer(4, 'a') && !worst.offer(3, 'b'));
        worst.make_room(2);
        assert!(worst.offer(3, 'c') && !worst.offer(3, 'd'));
        assert_eq!(worst.take(), [(4, 'a'), (3, 'c')]);
    }
}
