//! A stream with its own counter, including frames that come far too late.

use crate::arrival::Arrival;
use crate::losses::{Loss, Losses};
use wire::order::{Order, OrderPlace};

/// Number of consecutive frames far before the newest number that show a restart of the counter, not late frames.
const NEW_START: usize = 8;

/// Follows one counter.
#[derive(Debug, Default)]
pub(crate) struct Numbered {
    pub(crate) order: Order,
    /// Numbers far before the newest one, kept until further numbers show whether they are late or a restart.
    aside: Vec<u64>,
    /// Frames that came so late that they had already been counted, as lost or as received.
    pub(crate) too_late: u64,
    /// The newest frame: its number in the stream, and its number in the capture.
    newest: Option<(u64, u64)>,
    losses: Losses,
}

impl Numbered {
    /// Takes the next number of a counter that never restarts within its stream; returns true if the frame is to be measured.
    pub(crate) fn accept_of_session(&mut self, number: u64, arrival: &Arrival) -> bool {
        if self.order.place(number) == OrderPlace::Restart {
            self.too_late += 1;
            return false;
        }
        self.take(number, "number", arrival) != OrderPlace::Duplicate
    }

    /// Takes the next number of a counter of 8 bits; returns true if the frame is to be measured.
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

    /// Takes a number whose place is known, and notes the place of numbers missing before it.
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

    /// Places at which frames are missing.
    pub(crate) fn take_losses(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.losses).finish()
    }

    /// Ends the stream with the capture: all missing frames are lost.
    pub(crate) fn settle(&mut self) {
        self.begin_anew();
        self.order.settle();
    }

    /// Accepts the numbers that were set aside as a restart of the counter.
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
