//! The hook that records every sample of a stream.
//!
//! A sample's number is its count plus whole turns of the counter, from where the stream's sequence placed it.

use crate::reception::Arrival;
use crate::record::Feed;
use recording::{MAX_SAMPLES, Record, flag};
use units::Realtime;
use wire::sequence::Step;

/// The points of a subscriber's recording.
pub(super) const POINTS: [&str; 2] = ["kernel", "application"];

/// Frames that the tape holds between two looks of the recorder: those of 3.6 s at 144 000 frames/s, of 0.4 s at 1.2 million. A write
/// to a slow disk takes that long now and then. 25 MB.
pub(super) const TAPE_FRAMES: usize = 1 << 19;

/// A counter of unknown rate is taken to run this far.
const ALL_COUNTS: u64 = 65_536;

/// Numbers a stream's samples.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Numbering {
    /// Number of the newest sample.
    newest: u64,
    run: Option<Run>,
}

/// Samples of one frame whose numbers follow each other.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: u64,
    samples: u16,
    flags: u8,
}

impl Numbering {
    /// Takes a sample of a frame of stream `stream`, which its sequence found to be `step`.
    pub(super) fn sample(&mut self, stream: u16, smp_cnt: u16, step: Step, rate: Option<u32>, arrival: &Arrival, feed: &mut Feed) {
        let (number, flags) = self.number(smp_cnt, step, rate);
        match &mut self.run {
            Some(run)
                if flags == 0
                    && run.flags & flag::OUT_OF_RANGE == 0
                    && number == run.first + u64::from(run.samples)
                    && run.samples < MAX_SAMPLES =>
            {
                run.samples += 1;
            }
            _ => {
                self.end_frame(stream, arrival, feed);
                self.run = Some(Run {
                    first: number,
                    samples: 1,
                    flags,
                });
            }
        }
    }

    /// Records what is left of a frame.
    pub(super) fn end_frame(&mut self, stream: u16, arrival: &Arrival, feed: &mut Feed) {
        if let Some(run) = self.run.take()
            && let Some(tape) = feed.tape()
        {
            tape.push(Record {
                stream,
                samples: run.samples,
                flags: run.flags,
                number: run.first,
                stamps: [arrival.kernel.map(Realtime::as_ns), Some(arrival.wall.as_ns()), None, None],
            });
        }
    }

    fn number(&mut self, smp_cnt: u16, step: Step, rate: Option<u32>) -> (u64, u8) {
        let turn = rate.map_or(ALL_COUNTS, u64::from).max(1);
        let count = u64::from(smp_cnt);
        let (newest, flags) = match step {
            Step::First => (count, 0),
            Step::Next => (self.newest + 1, 0),
            Step::Gap(missing) => (self.newest + 1 + u64::from(missing), 0),
            Step::Restart => (next_with(self.newest, count, turn), flag::RESTART),
            Step::Duplicate | Step::OutOfOrder | Step::TooLate => {
                let behind = (self.newest % turn + turn - count % turn) % turn;
                return (self.newest.saturating_sub(behind), 0);
            }
            Step::OutOfRange => return (count, flag::OUT_OF_RANGE),
        };
        self.newest = newest;
        (newest, flags)
    }
}

/// The next number beyond `newest` whose count is `count`.
fn next_with(newest: u64, count: u64, turn: u64) -> u64 {
    newest + 1 + (count % turn + turn - (newest + 1) % turn) % turn
}

#[cfg(test)]
mod tests {
    use super::{Numbering, next_with};
    use recording::flag;
    use wire::sequence::{Sequence, Step};

    #[test]
    fn numbers_go_on_over_the_wrap_and_over_losses() {
        let mut sequence = Sequence::new(4_000);
        let mut numbering = Numbering::default();
        let counts = [3_998, 3_999, 0, 2, 1, 2, 3, 5];
        let mut number = |count: u16| numbering.number(count, sequence.accept(count), Some(4_000));
        let numbers: Vec<u64> = counts.into_iter().map(|count| number(count).0).collect();
        assert_eq!(numbers, [3_998, 3_999, 4_000, 4_002, 4_001, 4_002, 4_003, 4_005]);
    }

    #[test]
    fn a_restart_goes_on_with_a_number_of_its_count() {
        let mut numbering = Numbering::default();
        numbering.number(10, Step::First, Some(4_000));
        assert_eq!(numbering.number(3_000, Step::Restart, Some(4_000)), (3_000, flag::RESTART));
        assert_eq!(numbering.number(5, Step::Restart, Some(4_000)), (4_005, flag::RESTART));
        assert_eq!(numbering.number(4_100, Step::OutOfRange, Some(4_000)), (4_100, flag::OUT_OF_RANGE));
        assert_eq!(numbering.number(6, Step::Next, Some(4_000)), (4_006, 0));
        assert_eq!(next_with(7, 7, 10), 17);
    }
}
