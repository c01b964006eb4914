//! Faults of a wire: chosen frames are lost, doubled, delayed, reordered or corrupted, with exact counts.

mod lane;
mod rule;
mod wire;

pub use lane::{LaneCounts, MOST_HELD, RuleCounts};
pub use rule::{Fault, Rule, Which};
pub use wire::{Direction, Faults, Observer, Side, Wire};
