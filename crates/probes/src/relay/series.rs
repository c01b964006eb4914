//! What the series of this probe are called and mean.

use super::{RelayConfig, words};
use crate::port::Port;
use model::{EventKind, QuestionKind, SeriesSpec, kind, setting};
use run::{Describe, Feed};
use units::{Monotonic, format_ns};

/// Slot of `task/NAME`.
pub(super) const TASK: u16 = 0;

/// A part of the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Receive = 1,
    Align = 2,
    Measure = 3,
    Decide = 4,
    Send = 5,
    Record = 6,
}

impl Stage {
    const ALL: [(Self, &'static str, &'static str); 6] = [
        (
            Self::Receive,
            "receive",
            "the task begins -> every frame that its socket held is read",
        ),
        (
            Self::Align,
            "align",
            "frames are read -> their samples are in their windows",
        ),
        (
            Self::Measure,
            "measure",
            "samples are in their windows -> phasors and frequency are known",
        ),
        (
            Self::Decide,
            "decide",
            "phasors are known -> functions and trips have decided, and the stated load is carried",
        ),
        (
            Self::Send,
            "send",
            "functions have decided -> what changed is published",
        ),
        (
            Self::Record,
            "record",
            "what changed is published -> samples and states are handed over for disturbance records",
        ),
    ];

    /// It began at `began` and ends now.
    pub(super) fn took(self, began: Monotonic, feed: &mut Feed) -> Monotonic {
        let now = sys::clock::monotonic();
        feed.sample(self as u16, now, now - began, 0);
        now
    }
}

/// Slots of the task and its parts.
pub(super) const SLOTS: u16 = 1 + Stage::ALL.len() as u16;

/// Makes the series of the relay `name`, which may record.
pub(super) fn announce(feed: &mut Feed, name: &str, records: bool) {
    feed.announce(TASK, name);
    let is_there = |stage: &Stage| records || *stage != Stage::Record;
    for (stage, word, _) in Stage::ALL.into_iter().filter(|(stage, ..)| is_there(stage)) {
        feed.announce(stage as u16, &format!("{name}/{word}"));
    }
}

/// Names and settings of the series of a relay.
pub(super) struct Relay {
    config: RelayConfig,
    interface: String,
}

impl Relay {
    pub(super) fn of(config: &RelayConfig, port: &Port) -> Self {
        Self {
            config: config.clone(),
            interface: port.interface().to_owned(),
        }
    }

    fn settings(&self) -> Vec<(String, String)> {
        let (config, relay) = (&self.config, &self.config.relay);
        let cpu = config.cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string());
        let load = relay.load;
        let mut settings = vec![
            ("interface".into(), self.interface.clone()),
            ("streams".into(), relay.streams.len().to_string()),
            ("functions".into(), relay.functions.len().to_string()),
            ("task cycle".into(), format_ns(relay.task_ns as f64)),
            ("waits for samples".into(), format_ns(relay.wait_ns as f64)),
            ("instances of each function".into(), load.instances.to_string()),
            ("working set".into(), format!("{} MiB", load.working_set_mib)),
            ("busy beside its work".into(), format_ns(load.busy_ns as f64)),
            (
                "records".into(),
                if config.records.is_some() { "yes" } else { "no" }.into(),
            ),
            ("policy".into(), config.policy.to_string()),
            (setting::CPU.into(), cpu),
            ("spin ahead".into(), format_ns(config.spin_ahead_ns as f64)),
        ];
        if !config.shares_cpu_with.is_empty() {
            settings.push((setting::SHARES_CPU.into(), config.shares_cpu_with.join(", ")));
        }
        settings
    }
}

impl Describe for Relay {
    fn series(&self, slot: u16, label: &str) -> SeriesSpec {
        let stage = Stage::ALL.into_iter().find(|(stage, ..)| *stage as u16 == slot);
        let (kind, what) = match stage {
            Some((_, _, what)) => (&kind::TASK_STAGE, what),
            None => (&kind::TASK, "the task begins -> the task ends"),
        };
        SeriesSpec {
            interval_ns: Some(self.config.relay.task_ns as f64),
            settings: self.settings(),
            ..SeriesSpec::of(kind, label, what)
        }
    }

    fn notice(&self, code: u16, _name: &str, a: u64, b: u64) -> (EventKind, String) {
        (EventKind::Relay, words::text(&self.config.relay, code, a, b))
    }

    /// A task that takes long was held up on its CPU.
    fn question(&self, slot: u16, _value_ns: i64) -> Option<QuestionKind> {
        (slot == TASK).then_some(QuestionKind::WakeUp)
    }
}
