//! Settings of what is published.

use streamset::goose::ControlBlock;
use sys::thread::Policy;

/// Control blocks to be published, and the thread that does it.
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
