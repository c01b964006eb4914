//! A running measurement: how its file is made, and how samples get from the measuring threads into that file.
//!
//! [`NewRun`] makes the run file for every source: live probes, a capture, an import, a merge.
//!
//! A measuring thread pushes fixed-size [`FeedItem`]s into its [`Feed`], a preallocated single-producer ring. One ordinary
//! thread, the [`Recorder`], drains all rings, builds the windows and is the only one that writes the run file. A full ring
//! loses records, never time: the loss is counted per series.

#![forbid(unsafe_code)]

mod adopted;
mod clock;
mod copied;
mod counted;
mod courses;
mod delays;
mod feed;
mod labels;
mod new;
mod pulse;
mod read;
mod reasons;
mod recorder;
pub mod sealing;
mod signal;
mod stop;
mod survey;
mod tape;
#[cfg(test)]
mod test_run;
mod thresholds;
mod waiting;
mod why;
mod window;
mod work;
#[cfg(test)]
mod worst;

pub use adopted::Adopted;
pub use clock::ClockWatch;
pub use copied::copy;
pub use counted::{Counted, CountedSpan, CountedSpike};
pub use delays::are_delays_counted;
pub use feed::{Describe, Feed, FeedItem, Heard, LABEL_BYTES, Notice, RECEIVED_POINTS};
pub use labels::LabelsAt;
pub use new::{NewRun, remove};
pub use pulse::Pulse;
pub use read::ReadSeries;
pub use recorder::{Events, Live, Recorder, RecorderOptions};
pub use signal::SpikeSignal;
pub use stop::Stop;
pub use survey::survey;
pub use tape::{Tape, TapeRecord, TapeStream};
pub use thresholds::Thresholds;
pub use why::{Answer, Explain, FRAME_WORTH_ASKING_NS, Shared};
