//! The words in which every other crate measures: instants of named clocks, durations as people write them, CPU lists,
//! absolute schedules, names that are given once, and texts of others made safe to show.
//!
//! Durations are integer nanoseconds in names that end in `_ns`. Where they are printed, compared with one of the other sign, or
//! added to an instant, they are [`Ns`] and [`SignedNs`]. Instants are newtypes of the clock they were read from,
//! so two clocks cannot be subtracted by accident.

#![forbid(unsafe_code)]

mod cpus;
mod duration;
pub mod foreign;
mod grid;
mod instant;
mod names;
mod ns;
mod period;
pub mod shell;
mod size;

pub use cpus::{CpuList, CpuListError};
pub use duration::{DurationError, LONGEST_NS, format_ns, parse_ns};
pub use grid::Grid;
pub use instant::{Monotonic, Ptp, Realtime, Tai};
pub use names::FreeNames;
pub use ns::{Ns, SignedNs};
pub use period::Period;
pub use size::{SizeError, format_octets, parse_bytes};
