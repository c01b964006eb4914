//! Names and meaning of the series of `relay`.

use super::words::Notice;
use super::{RelayConfig, words};
use crate::port::Port;
use crate::subscribe::{SubscribeConfig, Uses};
use ::relay::config::Cpus;
use model::{Counter, EventKind, QuestionKind, SeriesSpec, kind, setting, task};
use run::{Describe, Feed};
use units::{Monotonic, Ns};

/// Slot of `task/NAME`, or of this thread's part of it.
pub(super) const TASK: u16 = 0;

/// Slot of `task-stage/NAME/wake`, of the sending thread.
pub(super) const WAKE: u16 = 1;

/// See [`Part::gathers_ns`]: less than half of the time between samples at 4000 and 4800 Hz.
const GATHER_NS: u64 = 100_000;

/// Reports the number of items that a ring had no room for, unless it is 0.
pub(super) fn tell_refused(refused: u64, at: Monotonic, feed: &mut Feed) {
    if refused > 0 {
        feed.notice(TASK, Notice::Refused, at, refused, 0);
    }
}

/// Part of a relay that one thread runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    Receive,
    Functions,
    Output,
}

impl Part {
    /// Name of the part's task, after that of the relay.
    fn label(self, relay: &str) -> String {
        let task = match self {
            Self::Whole => return relay.to_owned(),
            Self::Receive => task::RECEIVE,
            Self::Functions => task::FUNCTIONS,
            Self::Output => task::OUTPUT,
        };
        format!("{relay}/{task}")
    }

    /// Description of the start and end of the task.
    fn what(self) -> &'static str {
        match self {
            Self::Whole | Self::Functions => "the task begins -> the task ends",
            Self::Receive => "a frame is read -> no frame waits, and all their samples are passed on",
            Self::Output => "functions have decided, or a repetition is due -> it is sent",
        }
    }

    /// CPU of the part.
    pub(super) fn cpu(self, cpus: Cpus) -> Option<u32> {
        match (self, cpus) {
            (_, Cpus::One(cpu)) => cpu,
            (Self::Receive, Cpus::Apart { receive, .. }) => Some(receive),
            (Self::Output, Cpus::Apart { output, .. }) => Some(output),
            (Self::Whole | Self::Functions, Cpus::Apart { functions, .. }) => Some(functions),
        }
    }

    /// Time for which the receiving thread gathers frames before it reads them, if another thread of the relay has the same CPU: a
    /// turn for each of 20 streams, 4000 times a second, would leave the functions no time.
    pub(super) fn gathers_ns(self, cpus: Cpus) -> Option<u64> {
        match (self, cpus) {
            (
                Self::Receive,
                Cpus::Apart {
                    receive,
                    functions,
                    output,
                },
            ) if receive == functions || receive == output => Some(GATHER_NS),
            _ => None,
        }
    }

    /// True if the part runs in cycles.
    fn has_cycle(self) -> bool {
        matches!(self, Self::Whole | Self::Functions)
    }

    /// Number of slots of its series, for a relay with this many streams.
    pub(super) fn slots(self, streams: usize) -> u16 {
        match self {
            Self::Whole => SLOTS,
            Self::Receive => 1,
            Self::Functions => SLOTS.saturating_add(u16::try_from(streams).unwrap_or(u16::MAX)),
            Self::Output => 2,
        }
    }
}

/// A stage of the task.
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
    const ALL: [Self; 6] = [
        Self::Receive,
        Self::Align,
        Self::Measure,
        Self::Decide,
        Self::Send,
        Self::Record,
    ];

    /// Name and description of the stage, in the only thread of a relay or in the thread of the functions.
    fn words(self, part: Part) -> (&'static str, &'static str) {
        match (self, part) {
            (Self::Receive, Part::Functions) => {
                ("take", "the task begins -> every sample passed on is with its stream")
            }
            (Self::Receive, _) => ("receive", "the task begins -> every frame that its socket held is read"),
            (Self::Align, _) => ("align", "samples are taken -> they are in their windows"),
            (Self::Measure, _) => (
                "measure",
                "samples are in their windows -> phasors and frequency are known",
            ),
            (Self::Decide, _) => (
                "decide",
                "phasors are known -> functions and trips have decided, and the stated load is carried",
            ),
            (Self::Send, Part::Functions) => ("tell", "functions have decided -> the changes are passed on"),
            (Self::Send, _) => ("send", "functions have decided -> the changes are published"),
            (Self::Record, _) => (
                "record",
                "the changes are sent -> samples and states are passed on for disturbance records",
            ),
        }
    }

    /// Measures the stage, which began at `began` and ends now.
    pub(super) fn took(self, began: Monotonic, feed: &mut Feed) -> Monotonic {
        let now = sys::clock::monotonic();
        feed.sample(self as u16, now, now - began, 0);
        now
    }
}

/// Number of slots of the task and its stages.
const SLOTS: u16 = 1 + Stage::ALL.len() as u16;

/// Slot of `use` of a stream, in the thread of the functions.
pub(super) fn use_slot(stream: usize) -> u16 {
    SLOTS.saturating_add(u16::try_from(stream).unwrap_or(u16::MAX))
}

/// Makes the series of a thread of the relay. `subscription` holds the settings of the reception of its streams.
pub(super) fn announce(feed: &mut Feed, part: Part, config: &RelayConfig, subscription: &SubscribeConfig) {
    let name = &config.relay.name;
    if part == Part::Output && config.relay.gooses.is_empty() {
        return;
    }
    feed.announce(TASK, &part.label(name));
    if part == Part::Output {
        feed.announce(WAKE, &format!("{name}/wake"));
    }
    if !part.has_cycle() {
        return;
    }
    let is_there = |stage: &Stage| config.records.is_some() || *stage != Stage::Record;
    for stage in Stage::ALL.into_iter().filter(is_there) {
        feed.announce(stage as u16, &format!("{name}/{}", stage.words(part).0));
    }
    if part == Part::Functions {
        Uses::announce(subscription, SLOTS, feed);
    }
}

/// Names and settings of the series of a thread of a relay.
pub(super) struct Words {
    config: RelayConfig,
    part: Part,
    interface: String,
    uses: Uses,
}

impl Words {
    pub(super) fn of(config: &RelayConfig, part: Part, port: &Port, subscription: &SubscribeConfig) -> Self {
        Self {
            config: config.clone(),
            part,
            interface: port.interface().to_owned(),
            uses: Uses::of(subscription, port),
        }
    }

    fn settings(&self) -> Vec<(String, String)> {
        let (config, relay) = (&self.config, &self.config.relay);
        let cpu = self.part.cpu(relay.cpus);
        let sharing = cpu.map(|cpu| config.sharing(cpu)).unwrap_or_default();
        let cpu = cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string());
        let load = relay.load;
        let mut settings = vec![
            ("interface".into(), self.interface.clone()),
            ("streams".into(), relay.streams.len().to_string()),
            ("functions".into(), relay.functions.len().to_string()),
            ("task cycle".into(), Ns(relay.task_ns).to_string()),
            ("waits for samples".into(), Ns(relay.wait_ns).to_string()),
            ("instances of each function".into(), load.instances.to_string()),
            ("working set".into(), format!("{} MiB", load.working_set_mib)),
            ("busy beside its work".into(), Ns(load.busy_ns).to_string()),
            (
                "records".into(),
                if config.records.is_some() { "yes" } else { "no" }.into(),
            ),
            ("at loss of the host's PTP".into(), relay.ptp_loss.name().into()),
            ("policy".into(), config.policy.to_string()),
            (setting::CPU.into(), cpu),
            ("spin ahead".into(), Ns(config.spin_ahead_ns).to_string()),
        ];
        if let Some(ns) = self.part.gathers_ns(relay.cpus) {
            settings.push(("gathers frames for".into(), Ns(ns).to_string()));
        }
        if !sharing.is_empty() {
            settings.push((setting::SHARES_CPU.into(), sharing.join(", ")));
        }
        settings
    }
}

impl Describe for Words {
    fn series(&self, slot: u16, label: &str) -> SeriesSpec {
        if let Some(stream) = slot.checked_sub(SLOTS) {
            // The functions number the samples that they are given, and see nothing else of the stream.
            let unseen = [Counter::Duplicate, Counter::Conflicting, Counter::Reordered];
            return self.uses.series(stream, label).not_counting(&unseen);
        }
        let stage = Stage::ALL.into_iter().find(|stage| *stage as u16 == slot);
        let (kind, what) = match (slot, self.part, stage) {
            (TASK, part, _) => (&kind::TASK, part.what()),
            (_, Part::Whole | Part::Functions, Some(stage)) => (&kind::TASK_STAGE, stage.words(self.part).1),
            _ => (
                &kind::TASK_STAGE,
                "functions have decided -> the sending thread has woken and takes the changes",
            ),
        };
        SeriesSpec {
            interval_ns: self.part.has_cycle().then_some(self.config.relay.task_ns as f64),
            settings: self.settings(),
            ..SeriesSpec::of(kind, label, what)
        }
    }

    fn notice(&self, code: u16, _name: &str, a: u64, b: u64) -> Option<(EventKind, String)> {
        let relay = &self.config.relay;
        let told = match (Notice::of(code)?, self.part) {
            (Notice::Refused, Part::Output) => {
                let text = format!(
                    "{}: in {a} cycles the sending thread had not read earlier changes: new changes were passed on later",
                    relay.name
                );
                (EventKind::Incomplete, text)
            }
            (Notice::Refused, _) => {
                let text = format!(
                    "{}: the functions had not read earlier samples: {a} received samples and inputs were not processed",
                    relay.name
                );
                (EventKind::Incomplete, text)
            }
            (event, _) => (EventKind::Relay, words::text(relay, event, a, b)?),
        };
        Some(told)
    }

    /// A task that takes long may have been held up on its CPU.
    fn question(&self, slot: u16, _value_ns: i64) -> Option<QuestionKind> {
        (slot == TASK).then_some(QuestionKind::WakeUp)
    }
}
