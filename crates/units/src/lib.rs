//! Basic types that all other crates share: instants of named clocks, readable durations, CPU lists, absolute
//! schedules, unique names, refusals, and text from other sources made safe to display.
//!
//! Durations are integer nanoseconds in names that end in `_ns`. Durations that are printed, compared with signed ones,
//! or added to an instant have the types [`Ns`] and [`SignedNs`]. Each clock has its own instant type, so instants of
//! two clocks cannot be subtracted by accident.

#![forbid(unsafe_code)]

mod cpus;
mod duration;
pub mod foreign;
mod grid;
mod instant;
mod names;
mod ns;
mod period;
mod refusal;
pub mod shell;
mod size;

pub use cpus::{CpuList, CpuListError};
pub use duration::{DurationError, LONGEST_NS, format_ns, parse_ns};
pub use grid::Grid;
pub use instant::{Monotonic, Ptp, Realtime, Tai};
pub use names::FreeNames;
pub use ns::{Ns, SignedNs};
pub use period::Period;
pub use refusal::{Refusal, Refuse, line_of};
pub use size::{SizeError, format_octets, parse_bytes};
