//! What the series of this probe are called and mean.

use super::WakeupConfig;
use crate::record::Describe;
use store::model::{SeriesClock, SeriesSpec};
use sys::thread::Policy;
use units::format_ns;

/// Names and settings of `wakeup/cpuN`.
pub(super) struct Wakeup {
    policy: Policy,
    interval_ns: u64,
    spin_ahead_ns: u64,
    threshold_ns: Option<u64>,
    idle: String,
}

impl Wakeup {
    pub(super) fn of(config: &WakeupConfig) -> Self {
        Self {
            policy: config.policy,
            interval_ns: config.interval_ns,
            spin_ahead_ns: config.spin_ahead_ns,
            threshold_ns: config.threshold_ns,
            idle: config.idle.clone(),
        }
    }
}

impl Describe for Wakeup {
    fn series(&self, _slot: u16, label: &str) -> SeriesSpec {
        SeriesSpec {
            name: format!("wakeup/{label}"),
            what: "timer due -> thread running".into(),
            clock: SeriesClock::Monotonic,
            interval_ns: Some(self.interval_ns as f64),
            threshold_ns: self.threshold_ns,
            settings: vec![
                ("policy".into(), self.policy.to_string()),
                ("interval".into(), format_ns(self.interval_ns as f64)),
                ("spin ahead".into(), format_ns(self.spin_ahead_ns as f64)),
                ("idle states".into(), self.idle.clone()),
            ],
        }
    }
}
