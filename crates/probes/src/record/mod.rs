//! From the measuring threads to the run file: rings, windows, spikes.
//!
//! A measuring thread pushes fixed-size [`Record`]s into its [`Feed`], a preallocated single-producer ring. One ordinary
//! thread, the [`Recorder`], drains all rings, builds the windows and is the only one that writes the run file. A full ring
//! loses records, never time: the loss is counted per series.

mod clock;
mod feed;
mod reasons;
mod recorder;
mod signal;
mod why;
mod window;
mod work;

pub(crate) use clock::ClockWatch;
pub(crate) use feed::LABEL_BYTES;
pub use feed::{Counter, Describe, Feed, Record};
pub use recorder::{Events, Live, Recorder, RecorderOptions};
pub use signal::SpikeSignal;
pub use why::{Answer, Explain, Question, QuestionKind};
