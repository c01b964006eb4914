//! Puts findings right: what would be changed ([`plan`]), changes on the running machine with a way back ([`apply`], [`undo`]), and
//! settings for other tools ([`emit`]).
//!
//! Every change is one [`Operation`]: the journal has the old value before the new one is written, the new one is read back, and what
//! did not hold is put back. `undo` goes through the journal backwards, also after a crash in the middle of `apply`.

#![forbid(unsafe_code)]

mod actions;
mod apply;
mod domain;
mod emit;
mod harm;
mod journal;
mod live;
mod machine;
mod operation;
mod plan;
mod remedies;
#[cfg(test)]
mod tests;
mod traps;
mod values;

pub use apply::{Applied, Outcome, apply, undo, undo_behind, undo_forced};
pub use domain::{libvirt_patch, libvirt_patch_of_name};
pub use emit::{KINDS, emit, risks};
pub use harm::harms;
pub use journal::{JOURNAL, Journal, JournalError};
pub use machine::TunedMachine;
pub use operation::{Operation, Target, ThreadId};
pub use plan::{Plan, TuneStep, plan};
pub use remedies::remedies;
pub use traps::{Refusal, refusals};
