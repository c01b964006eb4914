//! A sample, what it turned out to be, and how many of each kind there were.

use super::Contents;

/// The counters of a stream. Every sample falls in exactly one of: in order, first after a gap, duplicate, conflicting, out of
/// order, restart, too late, out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Samples given to [`super::Sequence::accept`].
    pub asdus: u64,
    /// Counts that never came.
    pub lost: u64,
    /// Places where at least one count was missing. Stays counted when the missing sample arrives late.
    pub gaps: u64,
    /// Counts that came again, with the same contents as far as these are known.
    pub duplicates: u64,
    /// Counts that came again with other contents.
    pub conflicting: u64,
    /// Counts that came late, at most 16 behind the newest.
    pub out_of_order: u64,
    /// Jumps of the counter that the time since the sample before does not explain: the publisher started again or
    /// resynchronised. Not a loss, and a doubt.
    pub restarts: u64,
    /// Samples that came more than 16 counts late: they were missing, and stay lost, or the stream went on behind them where
    /// it had been.
    pub too_late: u64,
    /// Counts at or beyond the sample rate. They do not move the stream.
    pub out_of_range: u64,
}

/// One sample, as far as its sequence is concerned.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Its count.
    pub smp_cnt: u16,
    /// Its contents, where they are compared.
    pub contents: Option<Contents>,
    /// When it came, in ns of any one clock that does not step; `None` where that is not known.
    pub at_ns: Option<i64>,
    /// Nothing at all was seen of the network since the sample before, so that a silence may be a step of the clock.
    pub alone: bool,
}

impl From<u16> for Sample {
    /// A sample of which only the count is known.
    fn from(smp_cnt: u16) -> Self {
        Self {
            smp_cnt,
            contents: None,
            at_ns: None,
            alone: false,
        }
    }
}

/// The outcome of one sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleStep {
    /// The first of the stream.
    First,
    /// The one expected.
    Next,
    /// So many counts are missing before it.
    Gap(u32),
    /// Already seen.
    Duplicate,
    /// Already seen, with other contents.
    Conflicting,
    /// Late.
    OutOfOrder,
    /// Missing for so long that it stays lost.
    TooLate,
    /// A jump that time does not explain, or a wrap of a counter whose rate is not known.
    Restart,
    /// At or beyond the sample rate.
    OutOfRange,
}

impl SampleStep {
    /// True if the stream moved on with it.
    pub fn is_newest(self) -> bool {
        matches!(self, Self::First | Self::Next | Self::Gap(_) | Self::Restart)
    }
}
