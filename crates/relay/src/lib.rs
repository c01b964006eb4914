//! A virtual protection relay without sockets, clocks or threads.
//!
//! [`config`] reads the relay's file, [`engine`] is its task, and [`replay`] plays recorded faults through it, faster than real
//! time. A live relay uses the same engine: it pushes the received samples, and calls the task once a millisecond.
//!
//! Time is measured by sample numbers. The same samples give the same trips every time, whatever the machine does meanwhile.

#![forbid(unsafe_code)]

pub mod config;
pub mod disturbance;
pub mod engine;
mod error;
pub mod events;
pub mod inputs;
pub mod intake;
pub mod library;
pub mod metering;
mod pace;
pub mod ptp;
pub mod replay;
mod type_test;
pub mod words;

pub use config::Config;
pub use engine::{Engine, Sample};
pub use error::ReplayError;
pub use pace::Pace;
pub use type_test::type_test;
