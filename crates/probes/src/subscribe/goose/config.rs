//! Settings of the supervision of received messages.

use streamset::goose::ExpectedBlock;
use wire::goose::Simulation;

/// Settings of the supervision of received GOOSE control blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct SuperviseConfig {
    /// Longest allowed silence, as a multiple of timeAllowedtoLive.
    pub tal_factor: f64,
    /// Choice between simulated and real messages.
    pub simulation: Simulation,
    /// True to accept messages that set the simulation flag without the simulate bit.
    pub edition_1: bool,
    /// Maximum number of control blocks to track; further ones are counted and reported, not supervised.
    pub max_blocks: u16,
    /// Expected control blocks, at most `max_blocks`. One that never comes is an event, and so is one that is not in the list. If
    /// the list is empty, every control block is accepted.
    pub expected: Vec<ExpectedBlock>,
}

impl Default for SuperviseConfig {
    /// Up to 64 control blocks; real messages until simulated ones come; timeAllowedtoLive as sent.
    fn default() -> Self {
        Self {
            tal_factor: 1.0,
            simulation: Simulation::On,
            edition_1: false,
            max_blocks: 64,
            expected: Vec::new(),
        }
    }
}
