//! What the series of a test set are called and mean.

use super::TripConfig;
use model::{EventKind, SeriesSpec, kind};
use run::Describe;
use units::format_ns;
use waveform::scenario::{Expect, Scenario};

/// Slot of a scenario's trips, or of its shots without a trip.
pub(super) fn outcome_slot(scenario: usize) -> u16 {
    u16::try_from(2 * scenario).unwrap_or(u16::MAX)
}

/// Slot of a scenario's starts.
pub(super) fn start_slot(scenario: usize) -> u16 {
    u16::try_from(2 * scenario + 1).unwrap_or(u16::MAX)
}

/// Codes of notices: what is said of single shots, whose number is the first figure.
pub(super) mod notice {
    pub(in crate::trip) const NOT_SENT: u16 = 0;
    pub(in crate::trip) const NOT_HEARD: u16 = 1;
    pub(in crate::trip) const WAS_SET: u16 = 2;
    pub(in crate::trip) const UNKNOWN: u16 = 3;
    pub(in crate::trip) const FAILED: u16 = 4;
    pub(in crate::trip) const LATE: u16 = 5;
    pub(in crate::trip) const EARLY: u16 = 6;
    pub(in crate::trip) const FALSE: u16 = 7;
}

/// Names and settings of the series.
pub(super) struct Trip {
    config: TripConfig,
    interface: String,
}

impl Trip {
    pub(super) fn of(config: &TripConfig, interface: &str) -> Self {
        Self {
            config: config.clone(),
            interface: interface.to_owned(),
        }
    }

    fn settings(&self, seen: &str, expect: Option<Expect>) -> Vec<(String, String)> {
        let config = &self.config;
        let cpu = |cpu: Option<u32>| cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string());
        let mut settings = vec![
            ("scenario".to_owned(), seen.to_owned()),
            ("interface".into(), self.interface.clone()),
            ("stream".into(), config.stream.sv_id.clone()),
            ("trip member".into(), config.trip.to_string()),
            ("settle".into(), format_ns(config.settle_ns as f64)),
            ("seed".into(), config.seed.to_string()),
            ("policy".into(), config.policy.to_string()),
            ("cpu".into(), cpu(config.cpu)),
            ("goose cpu".into(), cpu(config.goose_cpu)),
            ("receive".into(), config.receive.word().into()),
            ("spin ahead".into(), format_ns(config.spin_ahead_ns as f64)),
        ];
        if let Some(Expect::Trip { within_ns: Some(ns) }) = expect {
            settings.push(("required within".into(), format_ns(ns as f64)));
        }
        if let Some(ns) = config.breaker_ns {
            settings.push(("breaker".into(), format_ns(ns as f64)));
        }
        settings
    }
}

impl Describe for Trip {
    fn series(&self, slot: u16, label: &str) -> SeriesSpec {
        let number = usize::from(slot / 2);
        let scenario = self.config.scenarios.get(number);
        let case = self
            .config
            .security
            .get(number.saturating_sub(self.config.scenarios.len()));
        let seen = scenario.map(|scenario| scenario.what.as_str());
        let seen = seen.or(case.map(|case| case.what())).unwrap_or_default();
        let (kind, what) = match (slot % 2, scenario.is_some_and(Scenario::wants_trip)) {
            (1, _) => (
                &kind::START,
                "instant the first faulted sample is due -> kernel has the first GOOSE frame with the start bit",
            ),
            (_, true) => (
                &kind::TRIP,
                "instant the first faulted sample is due -> kernel has the first GOOSE frame with the trip bit",
            ),
            (_, false) => (
                &kind::SECURITY,
                "instant the disturbance begins -> the relay is watched no longer",
            ),
        };
        SeriesSpec {
            settings: self.settings(seen, scenario.map(|scenario| scenario.expect)),
            // The kernel's stamps are of the wall clock, and moved to this one: a step moves no message.
            ..SeriesSpec::of(kind, label, what)
        }
    }

    fn notice(&self, code: u16, name: &str, shot: u64, ns: u64) -> (EventKind, String) {
        let at = format_ns(ns as f64);
        let (kind, what) = match code {
            notice::NOT_SENT => (
                EventKind::NotCounted,
                "not counted: the test set did not send all of its samples in time".into(),
            ),
            notice::NOT_HEARD => (
                EventKind::NotCounted,
                "not counted: the test set did not take all GOOSE messages, or its link was down".into(),
            ),
            notice::WAS_SET => (
                EventKind::NotCounted,
                "not measured: the trip bit was set already; give the relay more time to reset (--settle)".into(),
            ),
            notice::UNKNOWN => (
                EventKind::NotCounted,
                "not measured: no GOOSE message of the relay had come before".into(),
            ),
            notice::FAILED => (EventKind::Note, "failure to trip: none while the fault lasted".into()),
            notice::LATE => (
                EventKind::Note,
                format!("failure to trip: the trip came {at} after the fault began, when it was over"),
            ),
            notice::EARLY => (EventKind::Note, format!("trip before the fault, {at} early")),
            _ => (EventKind::Note, format!("false trip, {at} after the disturbance began")),
        };
        (kind, format!("{name}: shot {shot} {what}"))
    }
}
