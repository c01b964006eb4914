//! State of a port's link, from its send calls.

use super::notice::Notice;
use crate::error::ProbeError;
use run::Feed;
use sys::SysError;
use units::Monotonic;

/// State of a link: up, or down and accepting no frames. If it goes down during a run, frames are lost and the run continues.
#[derive(Debug, Default)]
pub(super) struct LinkState {
    is_down: bool,
}

impl LinkState {
    /// True if the last frame was refused because the link is down.
    pub(super) fn is_down(&self) -> bool {
        self.is_down
    }

    /// Records the result of a send call at `at`. With a full transmit queue or a link that is down the frame is lost; the count
    /// of answers shows the loss.
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
