//! A sample, its classification, and the counters of each class.

use super::Contents;

/// The counters of a stream. Every sample falls in exactly one of: in order, first after a gap, duplicate, conflicting, out of
/// order, restart, too late, out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Samples given to [`super::Sequence::accept`].
    pub asdus: u64,
    /// Counts that never arrived.
    pub lost: u64,
    /// Lost counts that the next samples may still disprove.
    pub undecided: u64,
    /// Places where at least one count was missing. Stays counted when the missing sample arrives late.
    pub gaps: u64,
    /// Counts that arrived again, with the same contents as far as these are known.
    pub duplicates: u64,
    /// Counts that arrived again with other contents.
    pub conflicting: u64,
    /// Counts that arrived late, overtaken by at most 16 later ones; by at most 32 if more than 16 were held back.
    pub out_of_order: u64,
    /// Jumps of the counter that the time since the previous sample does not explain: the publisher restarted or
    /// resynchronised. Not a loss, but a doubt.
    pub restarts: u64,
    /// Samples that arrived later than that. Either they had been counted as lost and still are, or the
    /// stream then continued with its earlier numbers.
    pub too_late: u64,
    /// Counts at or beyond the sample rate. They do not move the stream.
    pub out_of_range: u64,
}

/// A sample, reduced to the fields that its sequence needs.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Sample counter.
    pub smp_cnt: u16,
    /// Fingerprint of its contents, if contents are compared.
    pub contents: Option<Contents>,
    /// Arrival time in ns of a clock that is never stepped; `None` if it is not known.
    pub at_ns: Option<i64>,
    /// True if no frame at all was seen on the network since the previous sample, so that a silence may be a step of
    /// the clock.
    pub alone: bool,
}

impl From<u16> for Sample {
    /// A sample with only its count known.
    fn from(smp_cnt: u16) -> Self {
        Self {
            smp_cnt,
            contents: None,
            at_ns: None,
            alone: false,
        }
    }
}

/// Classification of one sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleStep {
    /// The first of the stream.
    First,
    /// The expected sample, or the first one after samples that came early.
    Next,
    /// This many counts are missing before it, without those that came early.
    Gap(u32),
    /// Seen before.
    Duplicate,
    /// Seen before, with other contents.
    Conflicting,
    /// Late.
    OutOfOrder,
    /// Missing for so long that it stays counted as lost.
    TooLate,
    /// A jump that time does not explain, or a wrap of a counter whose rate is not known.
    Restart,
    /// At or beyond the sample rate.
    OutOfRange,
}

impl SampleStep {
    /// Number of counts from the newest sample until now, with count `from`, to this one, which has count `to`. It is negative if the stream goes
    /// on before samples that overtook it.
    #[inline]
    pub fn counts(self, from: u16, to: u16, rate: u32) -> i64 {
        let rate = i64::from(rate.max(1));
        let ahead = (i64::from(to) - i64::from(from)).rem_euclid(rate);
        let expected = match self {
            Self::Gap(missing) => 1 + i64::from(missing),
            _ => 1,
        };
        match ahead {
            // The gap may have whole turns.
            _ if expected % rate == ahead => expected,
            _ if ahead < rate / 2 => ahead,
            _ => ahead - rate,
        }
    }

    /// True if the sample moved the stream on.
    pub fn is_newest(self) -> bool {
        matches!(self, Self::First | Self::Next | Self::Gap(_) | Self::Restart)
    }
}

#[cfg(test)]
mod tests {
    use super::SampleStep::{Gap, Next};

    #[test]
    fn steps_are_as_long_as_they_say_or_as_their_counts_show() {
        let steps = [
            (Next, 7, 8, 1),
            (Next, 3_999, 0, 1),
            (Gap(3), 3_998, 2, 4),
            (Gap(8_003), 0, 4, 8_004),
            // Three samples before it had come early.
            (Next, 3_998, 2, 4),
            (Gap(1), 10, 15, 5),
            // It goes on before a sample that came early, in the next second.
            (Next, 5, 3_990, -15),
        ];
        for (step, from, to, counts) in steps {
            assert_eq!(step.counts(from, to, 4_000), counts, "{step:?} from {from} to {to}");
        }
    }
}
