//! Tracks every sequence number of a stream: received in order, late, repeated, or lost.

/// Size of the window of numbers that may still arrive late. A missing number that falls further back is lost.
const WINDOW: u32 = u128::BITS;

/// Result for one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OrderStep {
    /// First number of a stream that had begun earlier.
    First,
    /// Newest number so far, with the count of missing numbers before it; 0 for the expected number.
    Next(u64),
    /// Late: a higher number came earlier.
    Late,
    /// Repeated: this number came earlier.
    Again,
    /// Below the window, so already counted as received or as lost.
    Stale,
}

/// Sequence state of one stream.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Order {
    /// Next expected number, one above the newest.
    next: Option<u64>,
    /// First number of the stream; lower numbers belong to an earlier stream.
    first: u64,
    /// Bit n is set if the number n below the newest was received or was never sent.
    seen: u128,
    lost: u64,
}

impl Order {
    /// Starts the stream at `number`: from there on, missing numbers are lost.
    pub(super) fn begin_with(&mut self, number: u64) {
        *self = Self {
            next: Some(number),
            first: number,
            seen: u128::MAX,
            lost: self.lost,
        };
    }

    /// Number expected next.
    pub(super) fn expected(&self) -> Option<u64> {
        self.next
    }

    /// Takes the number of a frame.
    pub(super) fn accept(&mut self, number: u64) -> OrderStep {
        let Some(next) = self.next else {
            self.begin_with(number);
            self.advance(0);
            return OrderStep::First;
        };
        if number >= next {
            let missing = number - next;
            self.advance(missing);
            return OrderStep::Next(missing);
        }
        if number < self.first {
            return OrderStep::Stale;
        }
        let behind = next - 1 - number;
        match u32::try_from(behind).ok().filter(|behind| *behind < WINDOW) {
            None => OrderStep::Stale,
            Some(behind) if self.seen & (1 << behind) != 0 => OrderStep::Again,
            Some(behind) => {
                self.seen |= 1 << behind;
                OrderStep::Late
            }
        }
    }

    /// Advances past `missing` missing numbers to a received one.
    fn advance(&mut self, missing: u64) {
        self.skip(missing + 1);
        self.seen |= 1;
    }

    /// Moves the window by `by` numbers, none of them received so far.
    fn skip(&mut self, by: u64) {
        let leaving = u32::try_from(by).unwrap_or(WINDOW).min(WINDOW);
        let kept = self.seen.checked_shl(leaving).unwrap_or(0);
        let left = match leaving {
            0 => 0,
            _ => (!self.seen >> (WINDOW - leaving)).count_ones(),
        };
        self.lost += u64::from(left) + by.saturating_sub(u64::from(WINDOW));
        self.seen = kept;
        self.next = self.next.map(|next| next.saturating_add(by));
    }

    /// Count of lost numbers since the last call.
    pub(super) fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }

    /// Ends the stream: numbers not received are lost, up to number `end` if it is known.
    pub(super) fn end(&mut self, end: Option<u64>) {
        let Some(next) = self.next else { return };
        self.skip(end.map_or(0, |end| end.saturating_sub(next)));
        self.skip(u64::from(WINDOW));
        self.next = None;
    }
}

#[cfg(test)]
mod tests {
    use super::{Order, OrderStep};
    use proptest::prelude::{Just, Strategy, any, prop};
    use proptest::{prop_assert_eq, proptest};

    fn lost(order: &mut Order, end: Option<u64>) -> u64 {
        order.end(end);
        order.take_lost()
    }

    #[test]
    fn joined_on_its_way_only_what_follows_is_known() {
        let mut order = Order::default();
        assert_eq!(order.accept(500), OrderStep::First);
        assert_eq!(order.accept(499), OrderStep::Stale);
        assert_eq!(order.accept(501), OrderStep::Next(0));
        assert_eq!(order.accept(504), OrderStep::Next(2));
        assert_eq!(order.accept(503), OrderStep::Late);
        assert_eq!(order.accept(503), OrderStep::Again);
        assert_eq!(lost(&mut order, None), 1);
    }

    #[test]
    fn beginning_and_end_are_lost_when_they_are_known() {
        let mut order = Order::default();
        order.begin_with(0);
        assert_eq!(order.accept(3), OrderStep::Next(3));
        assert_eq!(order.accept(1), OrderStep::Late);
        assert_eq!(lost(&mut order, Some(10)), 2 + 6);
        assert_eq!(lost(&mut order, Some(10)), 0, "it has ended before");
        order.begin_with(0);
        assert_eq!(lost(&mut order, Some(1_000)), 1_000, "nothing came at all");
        assert_eq!(lost(&mut Order::default(), Some(7)), 0, "its first number is not known");
    }

    #[test]
    fn a_loss_longer_than_the_window() {
        for missing in [127, 128, 129, 1_000_000] {
            let mut order = Order::default();
            order.begin_with(0);
            order.accept(0);
            assert_eq!(order.accept(missing + 1), OrderStep::Next(missing));
            assert_eq!(order.accept(missing + 2), OrderStep::Next(0));
            assert_eq!(lost(&mut order, Some(missing + 3)), missing, "{missing}");
        }
    }

    #[test]
    fn the_window_ends_128_back() {
        let mut order = Order::default();
        order.begin_with(0);
        order.accept(128);
        assert_eq!(order.accept(0), OrderStep::Stale, "128 numbers back: lost by now");
        assert_eq!(order.accept(1), OrderStep::Late, "127 numbers back");
        assert_eq!(order.take_lost(), 1);
        assert_eq!(lost(&mut order, Some(129)), 126);
    }

    /// Numbers 0..n in a changed order: some are missing, some occur twice, and all are moved a little.
    fn stream() -> impl Strategy<Value = (u64, Vec<u64>)> {
        (1_u64..2_000).prop_flat_map(|n| {
            let fate = prop::collection::vec((0_u8..10, any::<u8>()), n as usize);
            (Just(n), fate).prop_map(|(n, fates)| {
                let mut sent: Vec<(u64, u64)> = Vec::new();
                for (number, (fate, place)) in (0..n).zip(fates) {
                    // Moved by up to 40 places, which is well within the window.
                    let at = number * 2 + u64::from(place % 40) * 2 * u64::from(place % 3 == 0);
                    match fate {
                        0 => {}
                        1 => sent.extend([(at, number), (at + 1, number)]),
                        _ => sent.push((at, number)),
                    }
                }
                sent.sort();
                (n, sent.into_iter().map(|(_, number)| number).collect())
            })
        })
    }

    proptest! {
        #[test]
        fn sent_is_received_and_lost((n, numbers) in stream()) {
            let mut order = Order::default();
            order.begin_with(0);
            let (mut received, mut again, mut lost) = (0, 0, 0);
            for number in &numbers {
                match order.accept(*number) {
                    OrderStep::First | OrderStep::Next(_) | OrderStep::Late => received += 1,
                    OrderStep::Again => again += 1,
                    OrderStep::Stale => panic!("no number is that late"),
                }
                lost += order.take_lost();
            }
            order.end(Some(n));
            lost += order.take_lost();
            let mut distinct = numbers.clone();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!((received, again), (distinct.len() as u64, (numbers.len() - distinct.len()) as u64));
            prop_assert_eq!(received + lost, n);
        }
    }
}
