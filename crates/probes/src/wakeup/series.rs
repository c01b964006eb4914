//! Names and meaning of the series of `wakeup`.

use super::WakeupConfig;
use crate::notice::notices;
use model::{EventKind, QuestionKind, SeriesClock, SeriesSpec, kind, setting, under};
use run::Describe;
use sys::thread::Policy;
use sys::wait::WakeClock;
use units::{Ns, SignedNs};

notices! {
    /// Notices of `wakeup`.
    pub(super) enum Notice {
        /// A sample above the break value ended the measurement: its value in ns, and its cycle.
        Broken = 1,
        /// Number of cycles missed during the warm-up.
        LateStart = 2,
    }
}

/// Names and settings of `wakeup/cpuN`.
pub(super) struct Wakeup {
    config: WakeupConfig,
    offset_ns: i64,
}

impl Wakeup {
    pub(super) fn of(config: &WakeupConfig, offset_ns: i64) -> Self {
        Self {
            config: config.clone(),
            offset_ns,
        }
    }
}

impl Describe for Wakeup {
    fn series(&self, _slot: u16, label: &str) -> SeriesSpec {
        let config = &self.config;
        let clock = match WakeClock::from(config.options.clock) {
            WakeClock::Monotonic => "monotonic",
            WakeClock::Realtime => "realtime",
            WakeClock::Tai => "tai",
        };
        let mut settings = vec![
            ("policy".into(), config.options.policy.to_string()),
            ("interval".into(), config.options.interval.to_string()),
            ("spin ahead".into(), Ns(config.options.spin_ahead).to_string()),
            ("clock".into(), clock.into()),
            (setting::IDLE_STATES.into(), config.on.idle.clone()),
        ];
        if matches!(config.options.policy, Policy::Deadline { .. }) {
            let why = "the scheduler's choice: deadline threads cannot be pinned";
            settings.push(("cpu".into(), why.into()));
        }
        if self.offset_ns > 0 {
            settings.push((
                "offset to the first thread".into(),
                SignedNs(self.offset_ns).to_string(),
            ));
        }
        SeriesSpec {
            clock: match WakeClock::from(config.options.clock) {
                WakeClock::Monotonic => SeriesClock::Monotonic,
                WakeClock::Realtime | WakeClock::Tai => SeriesClock::Realtime,
            },
            interval_ns: Some(config.options.interval.as_f64()),
            threshold_ns: config.options.threshold_ns(),
            settings,
            ..SeriesSpec::of(
                &kind::WAKEUP,
                &under(config.on.label.as_deref(), label),
                "timer due -> thread running",
            )
        }
    }

    fn notice(&self, code: u16, name: &str, a: u64, b: u64) -> Option<(EventKind, String)> {
        let told = match Notice::of(code)? {
            Notice::Broken => {
                let value = Ns(a);
                let text = format!("{name}: cycle {b} took {value}: above --break-above; the measurement ends here");
                (EventKind::Break, text)
            }
            Notice::LateStart => (
                EventKind::Note,
                format!("{name}: the warm-up slept through {a} cycles; the measurement begins with the next one"),
            ),
        };
        Some(told)
    }

    fn question(&self, _slot: u16, _value_ns: i64) -> Option<QuestionKind> {
        Some(QuestionKind::WakeUp)
    }
}
