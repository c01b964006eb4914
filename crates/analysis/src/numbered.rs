//! A stream with its own counter, and its frames that come far too late.

use crate::arrival::Arrival;
use crate::losses::{Loss, Losses};
use wire::order::{Order, OrderPlace};

/// Frames in a row far behind the newest that are a new start of the counter, and not frames that come too late.
const NEW_START: usize = 8;

/// Follows one counter.
#[derive(Debug, Default)]
pub(crate) struct Numbered {
    pub(crate) order: Order,
    /// Numbers far behind the newest, until more of them or the next in order show what they are.
    aside: Vec<u64>,
    /// Frames that came so late that they had been counted, as lost or as come.
    pub(crate) too_late: u64,
    /// The newest frame: its number, and which of the capture it is.
    newest: Option<(u64, u64)>,
    losses: Losses,
}

impl Numbered {
    /// Takes the next number of a counter that never begins anew within its stream; true if the frame is to be measured.
    pub(crate) fn accept_of_session(&mut self, number: u64, arrival: &Arrival) -> bool {
        if self.order.place(number) == OrderPlace::Restart {
            self.too_late += 1;
            return false;
        }
        self.take(number, "number", arrival) != OrderPlace::Duplicate
    }

    /// Takes the next number of a counter of 8 bits; true if the frame is to be measured.
    pub(crate) fn accept_u8(&mut self, number: u8, arrival: &Arrival) -> bool {
        let number = self.order.widen_u8(number);
        if self.order.place(number) != OrderPlace::Restart {
            self.too_late += self.aside.drain(..).len() as u64;
            return self.take(number, "sequence_num", arrival) != OrderPlace::Duplicate;
        }
        self.aside.push(number);
        if self.aside.len() == NEW_START {
            self.begin_anew();
        }
        true
    }

    /// Takes a number in its place, and notes where some are missing before it.
    fn take(&mut self, number: u64, counter: &'static str, arrival: &Arrival) -> OrderPlace {
        let place = self.order.accept(number);
        match (place, self.newest) {
            (OrderPlace::Gap(missing), Some((from, after_frame))) => self.losses.add(Loss {
                after_frame,
                frame: arrival.frame,
                at_ns: arrival.at_ns,
                counter,
                from,
                to: number,
                missing,
            }),
            (OrderPlace::Late, _) => self.losses.found(number),
            _ => {}
        }
        if !matches!(place, OrderPlace::Late | OrderPlace::Duplicate) {
            self.newest = Some((number, arrival.frame));
        }
        place
    }

    /// Where frames are missing.
    pub(crate) fn take_losses(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.losses).finish()
    }

    /// The capture has ended: what is missing is lost.
    pub(crate) fn settle(&mut self) {
        self.begin_anew();
        self.order.settle();
    }

    /// Accepts the numbers set aside as a new start of the counter.
    fn begin_anew(&mut self) {
        for number in self.aside.drain(..) {
            self.order.accept(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Numbered;
    use crate::arrival::Arrival;
    use wire::sequence::Quiet;

    const FRAME: Arrival = Arrival {
        frame: 1,
        time_ns: None,
        at_ns: 0,
        quiet: Quiet::NONE,
    };

    fn of_8_bits(numbers: impl IntoIterator<Item = u32>) -> Numbered {
        let mut numbered = Numbered::default();
        for number in numbers {
            numbered.accept_u8(number as u8, &FRAME);
        }
        numbered.settle();
        numbered
    }

    #[test]
    fn one_far_too_late_costs_no_other() {
        for behind in [17, 60, 100] {
            let numbers = (0..=300 + behind).filter(|number| *number != 300);
            let after = numbers.chain([300]).chain(301 + behind..900);
            let numbered = of_8_bits(after);
            let order = &numbered.order;
            assert_eq!((order.lost, order.restarts, numbered.too_late), (1, 0, 1), "{behind}");
        }
        let mut numbered = Numbered::default();
        for number in (0..1_000).filter(|number| *number != 300).chain([300, 300, 1_000]) {
            numbered.accept_of_session(number, &FRAME);
        }
        numbered.settle();
        let order = &numbered.order;
        assert_eq!((order.lost, order.restarts, numbered.too_late), (1, 0, 2));
    }

    #[test]
    fn a_counter_that_goes_on_from_there_began_anew() {
        let numbered = of_8_bits((0..300).chain(200..400));
        let order = &numbered.order;
        assert_eq!((order.lost, order.restarts, numbered.too_late), (0, 1, 0));
    }
}
