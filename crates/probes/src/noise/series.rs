//! Names and meaning of the series of `noise`.

use super::NoiseConfig;
use super::spin::WAKE_UP_NS;
use model::{QuestionKind, SeriesSpec, kind, setting, under};
use run::Describe;
use units::Ns;

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
        let watched = match config.rest().is_on() {
            false => "without pause".to_owned(),
            true => format!(
                "{} of every {}: pauses below the kernel's real-time budget",
                Ns(config.rest().every_ns),
                Ns(config.rest().every_ns + config.rest().length_ns)
            ),
        };
        let silent_ns = config.rest().length_ns.saturating_add(WAKE_UP_NS);
        let pauses = (setting::PAUSES_NS.to_owned(), silent_ns.to_string());
        let mut settings = vec![
            ("policy".into(), config.options.policy.to_string()),
            ("gaps above".into(), Ns(config.options.gaps_above).to_string()),
            ("watched".into(), watched),
            ("cycle counter".into(), self.counter.clone()),
            (setting::IDLE_STATES.into(), config.on.idle.clone()),
        ];
        settings.extend(config.rest().is_on().then_some(pauses));
        SeriesSpec {
            threshold_ns: config.options.threshold,
            settings,
            ..SeriesSpec::of(
                &kind::NOISE,
                &under(config.on.label.as_deref(), label),
                "a spinning thread did not run: gap start -> gap end",
            )
        }
    }

    fn question(&self, _slot: u16, _value_ns: i64) -> Option<QuestionKind> {
        Some(QuestionKind::Gap)
    }
}
