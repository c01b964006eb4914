//! Protection relays, independent of the machine they run on.
//!
//! [`measure`] turns samples into phasors. The functions evaluate the phasors; each is an IEC 61850 logical node with its ANSI number. This crate
//! reads no clock, file or socket, and allocates memory only during setup: time is the number of a sample, and the same samples always give the same
//! trips.
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
mod knee;
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
pub use function::{Direction, Function, Inputs, Node, Output, Source, Waves};
pub use list::FunctionSettings;
pub use phases::Phases;
pub use rated::Rated;
