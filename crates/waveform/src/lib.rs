//! The contents of sampled-value streams: recorded faults (COMTRADE) and synthesised ones, as members of a dataset.
//!
//! [`comtrade`] reads and writes records, [`synth`] describes signals, [`replay`] fits a record to a dataset, and [`sample`] makes a
//! [`sample::SampleTable`] from either: the bytes of every sample, so that a real-time thread only has to copy them.
//!
//! [`network`] calculates the currents and voltages that a relay measures during a fault on its line.
//! [`scenario`] adds the required action of a relay to a signal, and [`type_test`] makes many such signals from a few numbers.
//!
//! Currents are in amperes and voltages in volts, instantaneous and primary, as `f64`; a missing value is NaN until it becomes a member of quality
//! invalid.

#![forbid(unsafe_code)]

mod circuit;
pub mod comtrade;
mod error;
mod library;
pub mod network;
pub mod replay;
pub mod sample;
pub mod scenario;
mod signal;
pub mod synth;
pub mod type_test;

pub use error::WaveformError;
pub use signal::{Signal, Tables};
