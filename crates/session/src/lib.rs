//! A run while it is measured: its session, the threads that wait for its measurements, its entry among the runs of this machine,
//! and its room on the disk and in memory.

#![forbid(unsafe_code)]

pub mod detach;
pub mod effect;
mod ended;
pub mod instrument;
pub mod keeper;
pub mod memory;
pub mod preflight;
pub mod room;
pub mod roster;
mod run;
pub mod runner;
mod session;
mod spec;
pub mod steward;
pub mod window;

pub use self::run::Run;
pub use ended::{Became, Ended};
pub use session::{Aside, NO_RECORDER, Sealed, Session, SessionError, flight, host_explainer};
pub use spec::{Explainer, Inventory, RunSpec, beside};
