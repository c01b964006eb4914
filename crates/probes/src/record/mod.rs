//! From the measuring threads to the run file: rings, windows, spikes.
//!
//! A measuring thread pushes fixed-size [`Record`]s into its [`Feed`], a preallocated single-producer ring. One ordinary
//! thread, the [`Recorder`], drains all rings, builds the windows and is the only one that writes the run file. A full ring
//! loses records, never time: the loss is counted per series.

mod clock;
mod counted;
mod feed;
mod reasons;
mod recorder;
mod signal;
mod tape;
mod thresholds;
mod waiting;
mod why;
mod window;
mod work;
#[cfg(test)]
mod worst;

pub(crate) use clock::ClockWatch;
pub use counted::{Counted, CountedSpan, CountedSpike};
#[cfg(test)]
pub(crate) use feed::Heard;
pub use feed::{Counter, Describe, Feed, Record};
pub(crate) use feed::{LABEL_BYTES, RECEIVED_POINTS};
pub use recorder::{Events, Live, Recorder, RecorderOptions};
pub use signal::SpikeSignal;
pub use tape::{Tape, TapeLabel, TapeRecord, TapeStream};
pub use thresholds::Thresholds;
pub(crate) use why::FRAME_WORTH_ASKING_NS;
pub use why::{Answer, Explain, Question, QuestionKind};
