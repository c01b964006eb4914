//! Remedies for findings: planned changes ([`plan`]), changes on the running machine that can be undone ([`apply`], [`undo`]), and settings
//! for other tools ([`emit`]).
//!
//! Every change is one [`Operation`]: the journal records the old value before the new one is written, the new one is read back, and a
//! change that did not take effect is undone. `undo` processes the journal backwards, also after a crash in the middle of `apply`.

#![forbid(unsafe_code)]

mod actions;
mod apply;
mod domain;
mod effective;
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
