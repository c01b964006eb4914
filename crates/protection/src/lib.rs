//! Protection relays, without the machine they run on.
//!
//! Samples become phasors in [`measure`]; the functions work on those, each an IEC 61850 logical node with its ANSI number.
//! Nothing here reads a clock, a file or a socket, and nothing allocates once it is made: time is the number of a sample, and
//! the same samples give the same trips every time.
//!
//! The formulas come from the standards that each item names, as in our reference (`iec61850.md`, section 3); where a value
//! could not be read in the standard itself, the docstring says so. No conformance is claimed.

#![forbid(unsafe_code)]

pub mod admittance;
pub mod breaker;
mod complex;
pub mod differential;
pub mod direction;
pub mod distance;
mod error;
pub mod frequency;
mod function;
mod list;
pub mod measure;
pub mod overcurrent;
mod phases;
pub mod power;
mod rated;
pub mod supervision;
mod timing;
pub mod trip;
pub mod voltage;

pub use complex::Complex;
pub use error::SettingError;
pub use function::{Direction, Function, Inputs, Node, Output, Source};
pub use list::FunctionSettings;
pub use phases::Phases;
pub use rated::Rated;
