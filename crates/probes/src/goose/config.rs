//! What is published, and how received messages are supervised.

use sys::thread::Policy;
use wire::ether::Mac;
use wire::goose::{Curve, Expectation, Message, Simulation, Value};

/// What is to be published, and by which thread.
#[derive(Debug, Clone)]
pub struct GooseConfig {
    /// The control blocks.
    pub blocks: Vec<ControlBlock>,
    /// Sleep until this long before the due instant, then spin.
    pub spin_ahead_ns: u64,
    /// How long to publish; `None` until told to stop.
    pub duration_ns: Option<u64>,
    /// Scheduling policy.
    pub policy: Policy,
    /// CPU to run on.
    pub cpu: Option<u32>,
    /// Samples above are counted as overflow and kept as spikes.
    pub threshold_ns: Option<u64>,
}

/// One control block: its message at the start of the run, and what becomes of it.
#[derive(Debug, Clone)]
pub struct ControlBlock {
    /// The first message, but for its source and its times: those among its members follow `t`.
    pub message: Message,
    /// When it is repeated.
    pub curve: Curve,
    /// Changes of members along the run.
    pub changes: Vec<Change>,
}

/// A change of members.
#[derive(Debug, Clone)]
pub struct Change {
    /// When, from the start of the run.
    pub at_ns: u64,
    /// How long after that again, and again.
    pub every_ns: Option<u64>,
    /// Which members become what. Values that a member has already make no new state.
    pub set: Vec<(usize, Value)>,
}

/// A control block that the configuration of the subscriber names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedBlock {
    /// Destination address.
    pub destination: Mac,
    /// APPID.
    pub appid: u16,
    /// Reference.
    pub gocb_ref: Vec<u8>,
    /// What its messages must say; else they are refused.
    pub expectation: Expectation,
}

/// How the GOOSE control blocks that come are supervised.
#[derive(Debug, Clone, PartialEq)]
pub struct SuperviseConfig {
    /// Silence may last this times timeAllowedtoLive.
    pub tal_factor: f64,
    /// Which messages are taken when some are simulated.
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
