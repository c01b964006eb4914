//! Settings of the published control blocks.

use streamset::goose::ControlBlock;
use sys::thread::Policy;

/// Control blocks to be published, and settings of the publishing thread.
#[derive(Debug, Clone)]
pub struct GooseConfig {
    /// The control blocks.
    pub blocks: Vec<ControlBlock>,
    /// Time before the due instant at which the thread stops sleeping and spins, in ns.
    pub spin_ahead_ns: u64,
    /// Duration of the publishing; `None` publishes until a stop is requested.
    pub duration_ns: Option<u64>,
    /// Scheduling policy.
    pub policy: Policy,
    /// CPU to run on.
    pub cpu: Option<u32>,
    /// Samples above this are counted as overflow and kept as spikes.
    pub threshold_ns: Option<u64>,
}
