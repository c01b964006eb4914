//! The steps of a plan, and the loads beside them.

use super::file::{Cpus, Duration, PlanPeriod, PlanPolicy};
use crate::load::{LoadKind, kind_from};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A load that runs beside a step, or beside all of them: `kind`, its keys as on the command line, and `cpus`. The kind
/// `command` has one key, `line`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "BTreeMap<String, toml::Value>")]
pub struct Load {
    /// What it does.
    pub kind: LoadKind,
    /// Where; the housekeeping CPUs if none are named.
    pub cpus: Option<Cpus>,
}

impl TryFrom<BTreeMap<String, toml::Value>> for Load {
    type Error = String;

    fn try_from(table: BTreeMap<String, toml::Value>) -> Result<Self, String> {
        let mut values: BTreeMap<String, String> = table.into_iter().map(|(key, value)| (key, plain(&value))).collect();
        let kind = values.remove("kind").ok_or("a load has no kind")?;
        let cpus = values.remove("cpus").map(Cpus::try_from).transpose()?;
        let kind = match (kind.as_str(), values.remove("line"), values.keys().next()) {
            ("command", Some(line), None) => LoadKind::Command { line },
            ("command", ..) => return Err("a command load has one key: line = \"PROGRAM ARGUMENTS\"".into()),
            (_, Some(_), _) => return Err(format!("a {kind} load has no \"line\"")),
            (kind, None, _) => kind_from(kind, &values).map_err(|error| error.to_string())?,
        };
        Ok(Self { kind, cpus })
    }
}

/// A value as it would be written on the command line.
fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What becomes of idle states during a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Idle {
    /// `/dev/cpu_dma_latency` is held at 0.
    #[default]
    Held,
    /// As the system has them.
    System,
}

impl Idle {
    /// Whether they are left as the system has them.
    pub fn is_system(self) -> bool {
        self == Self::System
    }
}

/// Wake-up latency.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WakeupStep {
    /// How long.
    pub duration: Duration,
    /// Time between due instants.
    pub interval: PlanPeriod,
    /// Policy of the threads.
    pub policy: PlanPolicy,
    /// CPUs; the measured ones if none are named.
    #[serde(default)]
    pub cpus: Option<Cpus>,
    /// Second part of the series' names.
    #[serde(default)]
    pub label: Option<String>,
    /// What becomes of idle states.
    #[serde(default)]
    pub idle: Idle,
    /// What runs beside this step only.
    #[serde(default, rename = "load")]
    pub loads: Vec<Load>,
}

/// Gaps seen by spinning threads.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoiseStep {
    /// How long.
    pub duration: Duration,
    /// Gaps longer than this are samples.
    pub threshold: Duration,
    /// Policy of the threads.
    pub policy: PlanPolicy,
    /// CPUs; the measured ones if none are named.
    #[serde(default)]
    pub cpus: Option<Cpus>,
    /// Second part of the series' names.
    #[serde(default)]
    pub label: Option<String>,
    /// What becomes of idle states.
    #[serde(default)]
    pub idle: Idle,
    /// What runs beside this step only.
    #[serde(default, rename = "load")]
    pub loads: Vec<Load>,
}

/// How both ends of a round trip wait for frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Receive {
    /// Without pause, on a CPU of its own each.
    Spin,
    /// Asleep.
    Block,
}

/// Round trip from the test set to the device under test.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReflectStep {
    /// How long.
    pub duration: Duration,
    /// Time between frames; `0` is back to back.
    pub interval: Duration,
    /// Policy of both ends.
    pub policy: PlanPolicy,
    /// How both ends wait; spinning if none is named, where each thread on the way has a CPU of its own.
    #[serde(default)]
    pub receive: Option<Receive>,
}

/// Streams from the test set to a subscriber on the device under test.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampledValuesStep {
    /// How long.
    pub duration: Duration,
    /// How many streams.
    pub streams: u16,
    /// Samples a second of each.
    pub rate: u32,
    /// ASDUs in a frame.
    pub asdus: u8,
    /// Policy of both ends.
    pub policy: PlanPolicy,
    /// Time each frame from point to point inside this kernel, where that can be done.
    #[serde(default)]
    pub trace: bool,
    /// Times from one point to the next above this are kept with their cause; the limit on them if none is named.
    #[serde(default)]
    pub trace_threshold: Option<Duration>,
}

/// What the frames of a paced stream look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanFraming {
    /// Our test frame.
    #[default]
    Test,
    /// AVTP.
    Avtp,
    /// Sampled values.
    Sv,
}

/// One frame each interval from the device under test to a listener.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TalkListenStep {
    /// How long.
    pub duration: Duration,
    /// Time between frames.
    pub interval: PlanPeriod,
    /// Sleep until this long before the due instant, then spin.
    #[serde(default = "no_time")]
    pub spin_ahead: Duration,
    /// What the frames look like.
    #[serde(default)]
    pub framing: PlanFraming,
    /// Policy of both ends.
    pub policy: PlanPolicy,
    /// Second part of the series' names.
    #[serde(default)]
    pub label: Option<String>,
}

fn no_time() -> Duration {
    Duration(0)
}

/// One measurement of a plan.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "probe", rename_all = "kebab-case")]
pub enum Step {
    /// Wake-up latency.
    Wakeup(WakeupStep),
    /// Gaps seen by spinning threads.
    Noise(NoiseStep),
    /// Round trip.
    Reflect(ReflectStep),
    /// Published and subscribed streams.
    SampledValues(SampledValuesStep),
    /// A talker and a listener.
    TalkListen(TalkListenStep),
}

impl Step {
    /// The step's name in events and progress.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Wakeup(_) => "wake-up",
            Self::Noise(_) => "noise",
            Self::Reflect(_) => "round trip",
            Self::SampledValues(_) => "sampled values",
            Self::TalkListen(_) => "talk and listen",
        }
    }

    /// How long it measures.
    pub fn duration_ns(&self) -> u64 {
        match self {
            Self::Wakeup(step) => step.duration.0,
            Self::Noise(step) => step.duration.0,
            Self::Reflect(step) => step.duration.0,
            Self::SampledValues(step) => step.duration.0,
            Self::TalkListen(step) => step.duration.0,
        }
    }

    /// Changes how long it measures.
    pub(super) fn set_duration_ns(&mut self, ns: u64) {
        let duration = match self {
            Self::Wakeup(step) => &mut step.duration,
            Self::Noise(step) => &mut step.duration,
            Self::Reflect(step) => &mut step.duration,
            Self::SampledValues(step) => &mut step.duration,
            Self::TalkListen(step) => &mut step.duration,
        };
        duration.0 = ns;
    }

    /// What its series' names begin with.
    pub(super) fn series(&self) -> String {
        let labelled = |family: &str, label: &Option<String>| match label {
            Some(label) => format!("{family}/{label}"),
            None => family.to_owned(),
        };
        match self {
            Self::Wakeup(step) => labelled("wakeup", &step.label),
            Self::Noise(step) => labelled("noise", &step.label),
            Self::Reflect(_) => "rtt".into(),
            Self::SampledValues(_) => "age".into(),
            Self::TalkListen(step) => labelled("talk", &step.label),
        }
    }

    /// What runs beside this step only.
    pub fn loads(&self) -> &[Load] {
        match self {
            Self::Wakeup(step) => &step.loads,
            Self::Noise(step) => &step.loads,
            Self::Reflect(_) | Self::SampledValues(_) | Self::TalkListen(_) => &[],
        }
    }

    /// What becomes of idle states during it.
    pub fn idle(&self) -> Idle {
        match self {
            Self::Wakeup(step) => step.idle,
            Self::Noise(step) => step.idle,
            Self::Reflect(_) | Self::SampledValues(_) | Self::TalkListen(_) => Idle::Held,
        }
    }

    /// Whether it needs the test bed of network namespaces.
    pub fn needs_bed(&self) -> bool {
        matches!(self, Self::Reflect(_) | Self::SampledValues(_) | Self::TalkListen(_))
    }
}
