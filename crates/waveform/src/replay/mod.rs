//! Replaying a COMTRADE record: its channels as members of a dataset, at another rate.

mod describe;
mod mapping;
mod phases;
mod render;
mod resample;
mod unit;
mod values;

pub use describe::describe;
pub use mapping::{Assignment, parse_assignments};
pub(crate) use render::{POSSIBLE_HZ, members};
pub use render::{Replay, table};
pub use values::values;

/// How values between the record's samples are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interpolation {
    /// A sinc of 16 samples on either side under a Blackman window, which also keeps frequencies out that the new rate cannot
    /// hold. Linear within that distance of the record's ends, of a change of its rate and of missing values, and where time
    /// stamps rule.
    #[default]
    Sinc,
    /// Straight lines from sample to sample.
    Linear,
}

/// The side of the transformer that values are published as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Side {
    /// Primary values, as 9-2LE wants them; secondary channels are multiplied with their ratio.
    #[default]
    Primary,
    /// As they are in the record.
    AsRecorded,
}

/// The signal after the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ending {
    /// It begins anew after whole cycles: it is cut where it is most like its begin, and the two are faded into each other over
    /// one cycle, so that neither phase nor value jumps.
    #[default]
    Cycles,
    /// It begins anew after this many nanoseconds of zeros.
    Mute(u64),
    /// Zeros for ever.
    Once,
}

/// How a record is replayed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// Channels of members, where the record's own phases and units do not say them.
    pub assignments: Vec<Assignment>,
    /// How values between samples are found.
    pub interpolation: Interpolation,
    /// Primary or as recorded.
    pub side: Side,
    /// The signal after the record.
    pub ending: Ending,
}

#[cfg(test)]
mod tests;
