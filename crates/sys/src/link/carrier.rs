//! Changes of an interface's carrier between two looks at it.

use super::LinkInfo;
use std::fmt;

/// Change of a carrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarrierChange {
    /// The carrier is lost.
    Lost,
    /// The carrier is back.
    Back,
    /// The carrier was lost this many times between the two looks, and is now in the same state as before.
    Flapped(u32),
}

impl LinkInfo {
    /// The change of the carrier since `before`, even if it was over before this look.
    pub fn carrier_change(&self, before: &Self) -> Option<CarrierChange> {
        match (before.carrier, self.carrier) {
            (true, false) => Some(CarrierChange::Lost),
            (false, true) => Some(CarrierChange::Back),
            _ => match self.carrier_losses_since(before) {
                0 => None,
                losses => Some(CarrierChange::Flapped(losses)),
            },
        }
    }

    /// How many times the carrier was lost since `before`; 0 if the kernel does not count this.
    pub fn carrier_losses_since(&self, before: &Self) -> u32 {
        let counts = self.carrier_losses.zip(before.carrier_losses);
        counts.map_or(0, |(now, before)| now.wrapping_sub(before))
    }
}

impl fmt::Display for CarrierChange {
    /// Writes the words after the name of the interface.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost => f.write_str("lost its carrier"),
            Self::Back => f.write_str("has its carrier again"),
            Self::Flapped(losses) => write!(f, "lost its carrier and regained it (losses: {losses})"),
        }
    }
}
