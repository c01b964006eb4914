//! Follows a counter that does not wrap, and counts lost, repeated and late numbers. The counter of sampled values
//! wraps each second; [`crate::sequence`] follows it.

use crate::sequence::WINDOW;

/// Place of a number in the sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderPlace {
    /// The first number.
    First,
    /// The expected number.
    Next,
    /// This many numbers are missing before it.
    Gap(u64),
    /// Seen before; at most 16 lower than the newest.
    Duplicate,
    /// Late; at most 16 lower than the newest.
    Late,
    /// Lower than that: the counter restarted.
    Restart,
}

/// Follows one counter. The counts only grow: a missing number is counted as lost once it is too old to arrive late.
#[derive(Debug, Clone, Default)]
pub struct Order {
    newest: Option<u64>,
    /// Bit n: the number n below the newest was seen.
    seen: u64,
    /// Bit n: the number n below the newest is missing, and not yet counted as lost.
    missing: u64,
    /// Numbers that never arrived.
    pub lost: u64,
    /// Places where at least one number was missing.
    pub gaps: u64,
    /// Numbers that arrived more than once.
    pub duplicates: u64,
    /// Numbers that arrived late.
    pub late: u64,
    /// Number of restarts of the counter.
    pub restarts: u64,
}

impl Order {
    /// The place that `number` would get; does not change the state.
    pub fn place(&self, number: u64) -> OrderPlace {
        let Some(newest) = self.newest else {
            return OrderPlace::First;
        };
        match number.checked_sub(newest) {
            Some(1) => OrderPlace::Next,
            Some(ahead) if ahead > 1 => OrderPlace::Gap(ahead - 1),
            _ => match newest - number {
                behind if behind > u64::from(WINDOW) => OrderPlace::Restart,
                behind if self.seen >> behind & 1 == 1 => OrderPlace::Duplicate,
                _ => OrderPlace::Late,
            },
        }
    }

    /// Takes the next number and returns its place.
    pub fn accept(&mut self, number: u64) -> OrderPlace {
        let place = self.place(number);
        match place {
            OrderPlace::First => self.begin(number),
            OrderPlace::Next => self.advance(number, 1),
            OrderPlace::Gap(missing) => {
                self.advance(number, missing + 1);
                self.gaps += 1;
            }
            OrderPlace::Duplicate => self.duplicates += 1,
            OrderPlace::Late => {
                let bit = 1 << (self.newest.unwrap_or(number) - number);
                self.missing &= !bit;
                self.seen |= bit;
                self.late += 1;
            }
            OrderPlace::Restart => {
                self.settle();
                self.begin(number);
                self.restarts += 1;
            }
        }
        place
    }

    /// Widens a number of an 8-bit counter to the full number nearest to the newest.
    pub fn widen_u8(&self, number: u8) -> u64 {
        // Starts above 0 to leave room for numbers from before the first one.
        match self.newest {
            None => 256 + u64::from(number),
            Some(newest) => newest.saturating_add_signed(i64::from(number.wrapping_sub(newest as u8) as i8)),
        }
    }

    /// Restarts the sequence at `number`, whatever came before.
    pub fn begin(&mut self, number: u64) {
        self.newest = Some(number);
        self.seen = 1;
        self.missing = 0;
    }

    /// Counts every missing number as lost; call it when no late number can arrive any more.
    pub fn settle(&mut self) {
        self.lost += u64::from(self.missing.count_ones());
        self.missing = 0;
    }

    fn advance(&mut self, number: u64, ahead: u64) {
        let window = u64::from(WINDOW);
        self.newest = Some(number);
        if ahead > window + 1 {
            self.settle();
            self.lost += ahead - 1 - window;
            self.seen = 1;
            self.missing = ones(window);
            return;
        }
        let missing = self.missing << ahead | ones(ahead - 1);
        let out_of_reach = missing & !(ones(window) | 1);
        self.lost += u64::from(out_of_reach.count_ones());
        self.missing = missing & ones(window);
        self.seen = (self.seen << ahead | 1) & (ones(window) | 1);
    }
}

/// Bits 1 to `count`, which is at most 16.
fn ones(count: u64) -> u64 {
    ((1 << count) - 1) << 1
}

#[cfg(test)]
mod tests {
    use super::{Order, OrderPlace};

    fn after(numbers: impl IntoIterator<Item = u64>) -> Order {
        let mut order = Order::default();
        for number in numbers {
            order.accept(number);
        }
        order.settle();
        order
    }

    #[test]
    fn each_kind_of_number() {
        let mut order = Order::default();
        let places: Vec<OrderPlace> = [5, 6, 9, 8, 8, 10, 4, 100, 3].map(|n| order.accept(n)).into();
        use OrderPlace::{Duplicate, First, Gap, Late, Next, Restart};
        assert_eq!(
            places,
            [First, Next, Gap(2), Late, Duplicate, Next, Late, Gap(89), Restart]
        );
        assert_eq!((order.lost, order.gaps, order.duplicates), (1 + 89, 2, 1));
        assert_eq!((order.late, order.restarts), (2, 1));
    }

    #[test]
    fn the_window_ends_sixteen_back() {
        assert_eq!(after((0..20).filter(|&n| n != 3).chain([3])).lost, 0);
        let late = after((0..21).filter(|&n| n != 3).chain([3]));
        assert_eq!((late.lost, late.restarts), (1, 1));
    }

    #[test]
    fn every_loss_is_counted_once() {
        for gap in 1..100 {
            let order = after((0..10).chain(10 + gap..50 + gap));
            assert_eq!((order.lost, order.gaps), (gap, 1), "{gap} lost");
        }
        assert_eq!(after((0..1000).filter(|n| n % 7 != 3)).lost, 143);
    }

    #[test]
    fn eight_bits_go_round() {
        let mut order = Order::default();
        for number in (0..1000_u32).filter(|n| n % 100 != 50) {
            order.accept(order.widen_u8(number as u8));
        }
        order.settle();
        assert_eq!((order.lost, order.gaps, order.restarts), (10, 10, 0));
        let mut order = Order::default();
        assert_eq!(order.accept(order.widen_u8(0)), OrderPlace::First);
        assert_eq!(
            order.accept(order.widen_u8(255)),
            OrderPlace::Late,
            "from before the first"
        );
        assert_eq!(order.accept(order.widen_u8(1)), OrderPlace::Next);
    }
}
