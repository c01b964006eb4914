//! The clock of the host, as an input of the relay.

use super::outputs::{ALARM, WARNING, WELL};
use crate::events::Change;
use crate::ptp::{PtpLoss, PtpState};
use protection::measure::Blocks;

/// State of the host's PTP, and the relay's response to its loss.
#[derive(Debug)]
pub(super) struct HostClock {
    loss: PtpLoss,
    /// `None` in a replay, which has no host: then the relay does as with a synchronised clock.
    state: Option<PtpState>,
    told: Option<PtpState>,
}

impl HostClock {
    pub(super) fn new(loss: PtpLoss) -> Self {
        Self {
            loss,
            state: None,
            told: None,
        }
    }

    pub(super) fn set(&mut self, state: PtpState) {
        self.state = self.loss.looks().then_some(state);
    }

    /// Reasons that block every function.
    pub(super) fn blocks(&self) -> Blocks {
        self.state.map_or(Blocks::NONE, |state| self.loss.blocks(state))
    }

    /// Effect on the relay's health.
    pub(super) fn health(&self) -> u8 {
        match self.state {
            Some(state) if self.loss.blocks(state).any() => ALARM,
            Some(state) if self.loss.warns(state) => WARNING,
            _ => WELL,
        }
    }

    /// Reports a change since the last task; returns true if there was one.
    pub(super) fn change(&mut self, tell: impl FnOnce(Change)) -> bool {
        if self.state == self.told {
            return false;
        }
        self.told = self.state;
        if let Some(state) = self.state {
            tell(Change::Ptp(state));
        }
        true
    }
}
