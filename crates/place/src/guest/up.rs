//! A running guest: its process and its channel, shared by all commands in it.

use super::channel::{CallError, Channel};
use super::peer::{PATIENCE, Peer};
use super::qemu::machine::Machine;
use std::sync::Arc;
use std::time::Duration;

/// Time that an emulated guest may take to answer: with loads in it and on its host, a minute was too short.
const EMULATED_PATIENCE: Duration = Duration::from_secs(240);

/// A running guest. Dropping it ends the guest.
#[derive(Debug)]
pub(super) struct Up {
    /// The channel to its agent. It is dropped before the machine, whose end would be reported as
    /// an error otherwise.
    pub(super) channel: Arc<Channel>,
    /// Its process.
    pub(super) machine: Machine,
    /// True if KVM runs it, false if it is emulated.
    pub(super) kvm: bool,
}

impl Peer for Up {
    fn channel(&self) -> &Arc<Channel> {
        &self.channel
    }

    fn name(&self) -> &'static str {
        "guest"
    }

    fn patience(&self) -> Duration {
        match self.kvm {
            true => PATIENCE,
            false => EMULATED_PATIENCE,
        }
    }

    fn last_words(&self, error: &CallError) -> Option<String> {
        // The end of a killed process is only visible a moment later.
        if matches!(error, CallError::Broken(_)) {
            self.machine.wait_a_moment();
        }
        Some(self.machine.last_words())
    }
}
