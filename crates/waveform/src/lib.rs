//! The contents of sampled-value streams: recorded faults (COMTRADE) and synthesised ones, as members of a dataset.
//!
//! [`comtrade`] reads and writes records, [`synth`] describes signals, [`replay`] fits a record to a dataset, and [`sample`] makes a
//! [`sample::SampleTable`] of either: the octets of every sample, ready for a hot thread that only copies.
//!
//! [`network`] calculates what a relay measures in a fault on its line.
//! [`scenario`] adds what a relay has to do about a signal, and [`type_test`] makes many such signals of a few numbers.
//!
//! Currents are amperes and voltages volts, instantaneous and primary, in `f64`; a missing value is NaN until it becomes a
//! member of quality invalid.

#![forbid(unsafe_code)]

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
