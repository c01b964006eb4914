//! Faults of a wire: chosen frames are lost, doubled, delayed, reordered or corrupted, and it is counted exactly which.

mod lane;
mod rule;
mod wire;

pub use lane::{LaneCounts, MOST_HELD, RuleCounts};
pub use rule::{Fault, Rule, Which};
pub use wire::{Direction, Faults, Observer, Side, Wire};
