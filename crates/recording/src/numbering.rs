//! Makes the number of a sample from its count: the count plus whole turns of the counter, from the place of the sample in the stream's sequence.

use crate::block::flag;
use wire::sequence::{Quiet, Sample, SampleStep, Sequence};

/// Assumed length of a turn of a counter of unknown rate.
const ALL_COUNTS: u64 = 65_536;

/// Numbers the samples of one stream.
#[derive(Debug, Clone, Copy, Default)]
pub struct Numbering {
    /// Number of the newest sample.
    newest: u64,
    /// Assumed length of a turn of the counter so far.
    turn: u64,
}

impl Numbering {
    /// Returns number and [`flag`]s of the next sample. `step` is the step to it in the stream's sequence.
    pub fn number(&mut self, smp_cnt: u16, step: SampleStep, rate: Option<u32>) -> (u64, u8) {
        let turn = rate.map_or(ALL_COUNTS, u64::from).max(1);
        let unrated = if rate.is_none() { flag::UNRATED } else { 0 };
        let moved = self.turn_at(turn);
        let (number, flags) = self.place(u64::from(smp_cnt), step, turn);
        (number, flags | unrated | moved)
    }

    /// Sets the length of a turn to `turn`: the numbers continue with one that fits the count, which is not a loss.
    fn turn_at(&mut self, turn: u64) -> u8 {
        let before = std::mem::replace(&mut self.turn, turn);
        if before == turn || before == 0 {
            return 0;
        }
        let count = self.newest % before;
        if self.newest % turn == count {
            return 0;
        }
        self.newest = next_with(self.newest, count, turn);
        flag::RESTART
    }

    fn place(&mut self, count: u64, step: SampleStep, turn: u64) -> (u64, u8) {
        let (newest, flags) = match step {
            SampleStep::First => (count, 0),
            SampleStep::Next | SampleStep::Gap(_) => (self.after(count, step, turn), 0),
            SampleStep::Restart => (next_with(self.newest, count, turn), flag::RESTART),
            SampleStep::Duplicate | SampleStep::Conflicting | SampleStep::OutOfOrder | SampleStep::TooLate => {
                let behind = (self.newest % turn + turn - count % turn) % turn;
                return (self.newest.saturating_sub(behind), 0);
            }
            SampleStep::OutOfRange => return (count, flag::OUT_OF_RANGE),
        };
        self.newest = newest;
        (newest, flags)
    }

    /// The number of a sample that moved the stream on.
    fn after(&self, count: u64, step: SampleStep, turn: u64) -> u64 {
        let counted = |count: u64| u16::try_from(count).unwrap_or(u16::MAX);
        let turn_counts = u32::try_from(turn).unwrap_or(u32::MAX);
        let counts = step.counts(counted(self.newest % turn), counted(count), turn_counts);
        self.newest.saturating_add_signed(counts)
    }
}

/// A stream whose samples are numbered by its counter and by the time between them.
#[derive(Debug, Clone)]
pub struct NumberedStream {
    sequence: Sequence,
    numbering: Numbering,
    /// Instant of the newest sample.
    newest_ns: Option<i64>,
}

impl NumberedStream {
    /// A stream of `rate` samples a second; the rate is learned if it is not given.
    pub fn new(rate: Option<u32>) -> Self {
        Self {
            sequence: rate.map_or_else(Sequence::learning, Sequence::new),
            numbering: Numbering::default(),
            newest_ns: None,
        }
    }

    /// Returns number and [`flag`]s of the next sample, which came at `at_ns` of any single clock.
    pub fn number(&mut self, smp_cnt: u16, at_ns: i64) -> (u64, u8) {
        self.number_after(smp_cnt, at_ns, Quiet::default())
    }

    /// The same, with `quiet` for the times in which no stream sent anything.
    pub fn number_after(&mut self, smp_cnt: u16, at_ns: i64, quiet: Quiet) -> (u64, u8) {
        let step = self.sequence.accept(Sample {
            at_ns: Some(at_ns),
            alone: self.newest_ns.is_some_and(|newest_ns| quiet.covers(newest_ns, at_ns)),
            ..Sample::from(smp_cnt)
        });
        if step.is_newest() {
            self.newest_ns = Some(at_ns);
        }
        self.numbering.number(smp_cnt, step, self.sequence.rate())
    }

    /// Sequence of its counter.
    pub fn sequence(&self) -> &Sequence {
        &self.sequence
    }

    /// The same, to end it and to take its findings.
    pub fn sequence_mut(&mut self) -> &mut Sequence {
        &mut self.sequence
    }
}

/// The next number beyond `newest` whose count is `count`.
fn next_with(newest: u64, count: u64, turn: u64) -> u64 {
    newest + 1 + (count % turn + turn - (newest + 1) % turn) % turn
}

#[cfg(test)]
mod tests {
    use super::{NumberedStream, Numbering, next_with};
    use crate::{StreamInfo, flag};
    use wire::sequence::{SampleStep, Sequence};

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
    fn a_sample_that_overtakes_others_moves_no_number() {
        let mut stream = NumberedStream::new(Some(4_000));
        let mut number = |count: u16, at: i64| stream.number(count, at * 250_000).0;
        assert_eq!(number(3_970, 0), 3_970);
        // 40 samples are held back, and the one after them comes first.
        assert_eq!(number(11, 41), 4_011);
        for held in 3_971..4_011 {
            assert_eq!(number((held % 4_000) as u16, 41), held);
        }
        assert_eq!(number(12, 42), 4_012);
    }

    #[test]
    fn counts_stay_right_when_the_rate_is_learned_late() {
        let (mut sequence, mut numbering) = (Sequence::learning(), Numbering::default());
        let (mut restarts, mut unrated) = (0, 0);
        for count in (0..5).flat_map(|_| 0..1_000_u16) {
            let step = sequence.accept(count);
            let rate = sequence.rate();
            let (number, flags) = numbering.number(count, step, rate);
            let info = StreamInfo {
                rate: Some(1_000),
                ..StreamInfo::named(0, "x")
            };
            assert_eq!(info.count(number, flags), count, "number {number}, flags {flags}");
            restarts += u32::from(flags & flag::RESTART != 0);
            unrated += u32::from(flags & flag::UNRATED != 0);
        }
        assert_eq!(
            (restarts, unrated),
            (2, 2_000),
            "the first turn, and when the second told the rate"
        );
    }

    #[test]
    fn a_silence_is_counted_by_time_whatever_came_late_in_it() {
        let mut stream = NumberedStream::new(Some(4_000));
        assert_eq!(stream.number(100, 0), (100, 0));
        assert_eq!(stream.number(101, 250_000), (101, 0));
        // A late copy of the first sample does not end the silence.
        assert_eq!(stream.number(100, 400_000_000), (100, 0));
        assert_eq!(stream.number(101, 1_000_250_000), (4_101, 0));
        // Whole turns are counted if the following samples do not show that they were held back.
        stream.sequence_mut().end(Some(1_000_250_000));
        assert_eq!(stream.sequence().counters().lost, 3_999);
    }

    #[test]
    fn a_restart_goes_on_with_a_number_of_its_count() {
        let mut numbering = Numbering::default();
        assert_eq!(numbering.number(10, SampleStep::First, Some(4_000)), (10, 0));
        assert_eq!(
            numbering.number(3_000, SampleStep::Restart, Some(4_000)),
            (3_000, flag::RESTART)
        );
        assert_eq!(
            numbering.number(5, SampleStep::Restart, Some(4_000)),
            (4_005, flag::RESTART)
        );
        assert_eq!(
            numbering.number(4_100, SampleStep::OutOfRange, Some(4_000)),
            (4_100, flag::OUT_OF_RANGE)
        );
        assert_eq!(numbering.number(6, SampleStep::Next, Some(4_000)), (4_006, 0));
        assert_eq!(next_with(7, 7, 10), 17);
    }
}
