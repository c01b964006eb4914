//! Places for the device under test outside this process. The same binary runs there, and its run file is fetched at the end.

#![forbid(unsafe_code)]

mod asking;
mod away;
mod build;
pub mod container;
pub mod cpu_list;
mod error;
pub mod far;
pub mod guest;
pub mod line;
mod place;
pub mod processes;
mod spec;

pub use asking::{Answers, Asking, OverHost, asking, say};
pub use away::{Away, Files, Job, Returned};
pub use build::build;
pub use error::PlaceError;
pub use place::{ClockOffset, Place, PlaceKind, StatedClock, Vcpu};
pub use spec::{PlaceSpec, up, up_for_test_set};
