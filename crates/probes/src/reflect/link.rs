//! State of a port's link, from its send calls.

use super::notice::Notice;
use crate::error::ProbeError;
use run::Feed;
use sys::SysError;
use units::Monotonic;

/// State of an interface: up, or down and taking no frames. One that goes down during a run loses frames; the run goes on.
#[derive(Debug, Default)]
pub(super) struct LinkState {
    is_down: bool,
}

impl LinkState {
    /// True if the last frame was refused because the link is down.
    pub(super) fn is_down(&self) -> bool {
        self.is_down
    }

    /// Notes what a send call at `at` came to. A full transmit queue and a link that is down lose the frame; whoever counts
    /// answers sees that.
    pub(super) fn after_send(
        &mut self,
        outcome: Result<(), SysError>,
        at: Monotonic,
        feed: &mut Feed,
    ) -> Result<(), ProbeError> {
        let is_down = match outcome {
            Ok(()) => false,
            Err(error) if error.is_transient() => return Ok(()),
            Err(SysError::InterfaceDown { .. }) => true,
            Err(error) => return Err(error.into()),
        };
        if is_down != self.is_down {
            self.is_down = is_down;
            feed.notice(0, Notice::Link, at, u64::from(is_down), 0);
        }
        Ok(())
    }
}
