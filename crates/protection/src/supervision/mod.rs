//! Decides if input can be used: supervision of subscribed streams (LSVS) and GOOSE (LGOS), as pure rules.
//!
//! Nothing is corrected silently. A rule that rejects a stream becomes a reason in [`Blocks`](crate::measure::Blocks), which every function that
//! needs the stream repeats in its output.

mod fuse;
mod goose;
mod quality;
mod samples;
mod simulation;
mod swing;

pub use fuse::{FuseSettings, FuseSupervision, Fuses};
pub use goose::Lgos;
pub use quality::{Questionable, bad_channels};
pub use samples::{Lsvs, SampleState, SampleStatus, SampleSupervision};
pub use simulation::Simulation;
pub use swing::{SwingSettings, SwingSupervision};
