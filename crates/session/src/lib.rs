//! A run while it is measured: its session, who waits for its measurements, its entry among the runs of this machine, and
//! its room on the disk and in memory.

#![forbid(unsafe_code)]

pub mod detach;
pub mod memory;
pub mod preflight;
pub mod room;
pub mod roster;
pub mod runner;
mod session;

pub use session::{Explainer, Inventory, NO_RECORDER, Session, SessionError, SessionSpec, flight};
