//! How received messages are supervised.

use streamset::goose::ExpectedBlock;
use wire::goose::Simulation;

/// How the GOOSE control blocks that come are supervised.
#[derive(Debug, Clone, PartialEq)]
pub struct SuperviseConfig {
    /// Silence may last this times timeAllowedtoLive.
    pub tal_factor: f64,
    /// Choice of messages that are taken when some are simulated.
    pub simulation: Simulation,
    /// Take messages that set the simulation flag without the simulate bit.
    pub edition_1: bool,
    /// Most control blocks told apart; further ones are counted and reported, not supervised.
    pub max_blocks: u16,
    /// Control blocks that have to come, at most `max_blocks`: one that never does is an event, and so is one that is not among
    /// them. Empty: whatever comes is right.
    pub expected: Vec<ExpectedBlock>,
}

impl Default for SuperviseConfig {
    /// Up to 64 control blocks; real messages until simulated ones come; timeAllowedtoLive as it is sent.
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
