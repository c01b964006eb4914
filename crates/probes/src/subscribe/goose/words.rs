//! Names and descriptions of the series of a control block.

use super::{SLOTS, SuperviseConfig};
use model::{SeriesClock, SeriesSpec, kind};
use wire::goose::Simulation;

/// Names and settings of the series of the supervision.
pub(in crate::subscribe) struct Words {
    pub(super) config: SuperviseConfig,
    first_slot: u16,
}

impl Words {
    pub(in crate::subscribe) fn of(config: &SuperviseConfig, first_slot: u16) -> Self {
        Self {
            config: config.clone(),
            first_slot,
        }
    }

    /// The series of slot `slot`, if it belongs to a control block; `settings` are those of the whole probe.
    pub(in crate::subscribe) fn series(
        &self,
        slot: u16,
        label: &str,
        mut settings: Vec<(String, String)>,
    ) -> Option<SeriesSpec> {
        let (kind, what) = match slot.checked_sub(self.first_slot)? % SLOTS {
            0 => (
                &kind::GOOSE,
                "kernel receive stamp of one message -> receive stamp of the next",
            ),
            _ => (
                &kind::GOOSE_TRANSFER,
                "t of a new state -> application has its first message (sqNum 0)",
            ),
        };
        settings.extend([
            (
                "expires after".into(),
                format!("timeAllowedtoLive x {}", self.config.tal_factor),
            ),
            ("simulated messages".into(), simulation(self.config.simulation).into()),
        ]);
        Some(SeriesSpec {
            clock: SeriesClock::Realtime,
            settings,
            ..SeriesSpec::of(kind, label, what)
        })
    }
}

fn simulation(simulation: Simulation) -> &'static str {
    match simulation {
        Simulation::Both => "accepted like real ones",
        Simulation::Off => "refused (Sim off)",
        Simulation::On => "accepted instead of real ones once the first has come (Sim on)",
    }
}
