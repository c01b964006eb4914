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

/// Interpolation between the record's samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interpolation {
    /// A sinc of 16 samples on either side with a Blackman window, which also removes frequencies that the new rate cannot represent. Linear near the
    /// record's ends, near a change of its rate, near missing values, and if time stamps determine the times.
    #[default]
    Sinc,
    /// Straight lines from sample to sample.
    Linear,
}

/// Side of the transformer for published values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Side {
    /// Primary values, as required by 9-2LE; secondary channels are multiplied by their ratio.
    #[default]
    Primary,
    /// Values as in the record.
    AsRecorded,
}

/// The signal after the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ending {
    /// Repeats the record after whole cycles: it is cut where it is most similar to its start, and both ends are cross-faded over one cycle, so that
    /// neither phase nor value jumps.
    #[default]
    Cycles,
    /// Repeats the record after this many nanoseconds of zeros.
    Mute(u64),
    /// Zeros without end.
    Once,
}

/// Settings of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// Channels of members, if the record's own phases and units do not identify them.
    pub assignments: Vec<Assignment>,
    /// Interpolation between samples.
    pub interpolation: Interpolation,
    /// Primary or as recorded.
    pub side: Side,
    /// The signal after the record.
    pub ending: Ending,
}

#[cfg(test)]
mod tests;
