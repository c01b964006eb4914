//! A wire with faults on order: two tap interfaces, each in a namespace of its own, joined by a thread that loses, doubles, holds
//! back, swaps and spoils the frames that rules choose, and counts exactly what it did.
//!
//! ```text
//!   test set                                    device under test
//!   [ ts0 ]---tap---( rules, both ways )---tap---[ dut0 ]
//! ```
//!
//! It shows that the counters of the probes count. Which frames a rule chooses depends on the frames, the rule and the seed
//! alone, not on time: the same frames meet the same faults in every run.

mod bed;
mod counts;
mod hold;
mod injector;
mod line;
mod number;
mod rule;
#[cfg(test)]
mod tests;

pub use bed::FaultBed;
pub use counts::{LineCounts, RuleCounts};
pub use injector::{Injector, Observer, Point};
pub use line::MOST_HELD;
pub use rule::{Direction, Fault, Frames, Pick, Rule, RuleError};
