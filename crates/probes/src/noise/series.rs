//! What the series of this probe are called and mean.

use super::NoiseConfig;
use crate::record::{Describe, QuestionKind};
use store::model::{SeriesClock, SeriesSpec};
use units::format_ns;

/// Names and settings of `noise/cpuN`.
pub(super) struct Noise {
    config: NoiseConfig,
    counter: String,
}

impl Noise {
    pub(super) fn of(config: &NoiseConfig, mhz: f64) -> Self {
        Self {
            config: config.clone(),
            counter: format!("{mhz:.3} MHz"),
        }
    }
}

impl Describe for Noise {
    fn series(&self, _slot: u16, label: &str) -> SeriesSpec {
        let config = &self.config;
        let name = match &config.label {
            Some(under) => format!("noise/{under}/{label}"),
            None => format!("noise/{label}"),
        };
        let watched = match config.rest.is_on() {
            false => "without pause".to_owned(),
            true => format!(
                "{} of every {}: pauses below the kernel's real-time budget",
                format_ns(config.rest.every_ns as f64),
                format_ns((config.rest.every_ns + config.rest.length_ns) as f64)
            ),
        };
        let mut settings = vec![
            ("policy".into(), config.policy.to_string()),
            ("threshold".into(), format_ns(config.threshold_ns as f64)),
            ("watched".into(), watched),
            ("cycle counter".into(), self.counter.clone()),
            ("idle states".into(), config.idle.clone()),
        ];
        settings.extend(config.more_settings.iter().cloned());
        SeriesSpec {
            name,
            what: "a spinning thread did not run: gap start -> gap end".into(),
            clock: SeriesClock::Monotonic,
            interval_ns: None,
            threshold_ns: config.spike_above_ns,
            settings,
        }
    }

    fn question(&self, _slot: u16, _value_ns: i64) -> Option<QuestionKind> {
        Some(QuestionKind::Gap)
    }
}
