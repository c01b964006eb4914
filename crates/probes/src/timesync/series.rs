//! The series of the clock.

use model::{Counter, SeriesSpec, kind};
use run::Describe;

/// Slot of the distance from the master.
pub(super) const OFFSET: u16 = 0;
/// Slot of the mean path delay.
pub(super) const DELAY: u16 = 1;
/// Slot of the distance from the network card's clock.
pub(super) const CARD: u16 = 2;
/// Number of slots.
pub(super) const SLOTS: usize = 3;

/// Names and settings of `clock/*`.
pub(super) struct Clocks {
    pub(super) settings: Vec<(String, String)>,
}

impl Describe for Clocks {
    fn series(&self, slot: u16, label: &str) -> SeriesSpec {
        let what = match slot {
            OFFSET => "distance of this clock from its PTP master, without its sign",
            DELAY => "mean path delay to the PTP master, or to the neighbour with the peer-to-peer mechanism",
            _ => "distance of the system clock from the network card's clock, beyond whole seconds, without its sign",
        };
        let spec = SeriesSpec {
            settings: self.settings.clone(),
            // The value is a reading of another clock, not a difference of our own stamps: a step of that clock is a valid value.
            ..SeriesSpec::of(&kind::CLOCK, label, what)
        };
        match slot {
            DELAY => spec.not_counting(&[Counter::Lost]),
            _ => spec,
        }
    }
}
