//! Received numbers of a stream.

/// How many numbers before the newest one are remembered, to distinguish a late sample from a repeated one.
const REMEMBERED: u64 = 1_024;

/// Counts of the numbers of one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Samples that came for the first time.
    pub received: u64,
    /// Numbers that never came.
    pub lost: u64,
    /// Number of places at which at least one number was missing.
    pub gaps: u64,
    /// Largest number of consecutive missing numbers.
    pub longest_gap: u64,
    /// Samples that came a second time.
    pub duplicate: u64,
    /// Samples that came after a later one.
    pub reordered: u64,
    /// Samples that came so late that they may be repetitions: their numbers stay lost.
    pub too_late: u64,
    /// Number of restarts of the numbering.
    pub restarts: u64,
    /// Counts at or beyond the stream's rate.
    pub out_of_range: u64,
}

/// Remembers the latest numbers of a stream.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    bits: [u64; REMEMBERED as usize / 64],
    /// The newest number plus one; `None` before the first.
    next: Option<u64>,
    /// Lowest number since the numbering started.
    floor: u64,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            bits: [0; REMEMBERED as usize / 64],
            next: None,
            floor: 0,
        }
    }
}

impl Seen {
    /// Takes a number; returns true if it came for the first time.
    #[inline]
    pub(super) fn take(&mut self, number: u64, is_restart: bool, counts: &mut Counts) -> bool {
        let is_fresh = match self.next {
            Some(next) if number == next && !is_restart => true,
            Some(next) if !is_restart => self.out_of_turn(number, next, counts),
            before => {
                counts.restarts += u64::from(before.is_some());
                self.bits.fill(0);
                self.floor = number;
                self.next = Some(number);
                true
            }
        };
        if is_fresh {
            counts.received += 1;
            self.set(number, true);
            self.next = self.next.map(|next| next.max(number.saturating_add(1)));
        }
        is_fresh
    }

    fn out_of_turn(&mut self, number: u64, next: u64, counts: &mut Counts) -> bool {
        if number > next {
            let missing = number - next;
            counts.lost += missing;
            counts.gaps += 1;
            counts.longest_gap = counts.longest_gap.max(missing);
            if missing >= REMEMBERED {
                self.bits.fill(0);
            } else {
                (next..number).for_each(|lost| self.set(lost, false));
            }
            return true;
        }
        if number < self.floor || next - number > REMEMBERED {
            counts.too_late += 1;
            return false;
        }
        if self.get(number) {
            counts.duplicate += 1;
            return false;
        }
        counts.reordered += 1;
        counts.lost = counts.lost.saturating_sub(1);
        true
    }

    #[inline]
    fn set(&mut self, number: u64, is_seen: bool) {
        let (word, bit) = ((number / 64) as usize % self.bits.len(), number % 64);
        match is_seen {
            true => self.bits[word] |= 1 << bit,
            false => self.bits[word] &= !(1 << bit),
        }
    }

    fn get(&self, number: u64) -> bool {
        self.bits[(number / 64) as usize % self.bits.len()] >> (number % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, Seen};

    fn of(numbers: impl IntoIterator<Item = u64>) -> Counts {
        let (mut seen, mut counts) = (Seen::default(), Counts::default());
        for number in numbers {
            seen.take(number, false, &mut counts);
        }
        counts
    }

    #[test]
    fn lost_late_and_double_samples_are_told_apart() {
        let counts = of((0..5_000).filter(|n| n % 1_000 != 7));
        assert_eq!((counts.received, counts.lost, counts.gaps), (4_995, 5, 5));
        let counts = of([0, 1, 3, 2, 4, 4, 3, 8]);
        assert_eq!((counts.received, counts.lost, counts.reordered), (6, 3, 1));
        assert_eq!((counts.duplicate, counts.longest_gap), (2, 3));
    }

    #[test]
    fn a_long_gap_forgets_nothing_it_should_know() {
        let counts = of([0, 1, 5_000, 4_999, 1, 5_000]);
        assert_eq!((counts.received, counts.lost), (4, 4_997));
        assert_eq!((counts.reordered, counts.too_late, counts.duplicate), (1, 1, 1));
    }

    #[test]
    fn a_new_numbering_is_no_loss() {
        let (mut seen, mut counts) = (Seen::default(), Counts::default());
        seen.take(10, false, &mut counts);
        seen.take(90_000, true, &mut counts);
        seen.take(90_001, false, &mut counts);
        assert_eq!((counts.received, counts.lost, counts.restarts), (3, 0, 1));
    }
}
