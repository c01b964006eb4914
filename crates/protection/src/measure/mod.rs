//! Turns samples into the input of the functions: phasors, harmonics, RMS, symmetrical components, frequency.
//!
//! A [`Reference`] rotates at the tracked frequency and is shared by all bays of one electrical island, so that phasors of different streams can be
//! combined. A [`Bay`] takes the samples of eight channels and fills a [`Measured`] whenever the protection task asks. A [`Tracker`] measures the
//! frequency from the phasors, and steers the reference.
//!
//! Samples are numbered: sample `n` of every bay belongs to the same instant.

mod bay;
mod correlator;
mod dc;
mod frequency;
mod health;
mod reference;
mod sequence;
mod set;
mod settings;
mod spikes;
mod synch;

pub use bay::{Bay, LONGEST_TASK_MS};
pub use frequency::{Frequency, Tracker, TrackerSettings};
pub use health::{Blocks, Channels, Health, Swing};
pub use reference::{ORDERS, Reference};
pub use sequence::Sequence;
pub use set::{Channel, Measured};
pub use settings::{BaySettings, Residual, Spikes, Substitute};
pub use synch::Synch;
