//! A guest that is up: its process and the channel to it, shared by all that is under way in it.

use super::channel::{CallError, Channel};
use super::peer::Peer;
use super::qemu::machine::Machine;
use std::sync::Arc;

/// A guest that is up. It goes when this is dropped.
#[derive(Debug)]
pub(super) struct Up {
    /// The way to its agent; before the machine, whose end would be told as an error.
    pub(super) channel: Arc<Channel>,
    /// Its process.
    pub(super) machine: Machine,
    /// The processor runs it; else it is emulated.
    pub(super) kvm: bool,
}

impl Peer for Up {
    fn channel(&self) -> &Arc<Channel> {
        &self.channel
    }

    fn name(&self) -> &'static str {
        "guest"
    }

    fn last_words(&self, error: &CallError) -> Option<String> {
        // A process that was killed is known to have ended a moment later.
        if matches!(error, CallError::Broken(_)) {
            self.machine.wait_a_moment();
        }
        Some(self.machine.last_words())
    }
}
