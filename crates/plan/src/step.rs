//! The steps of a plan, and their loads.

use super::action::PlanAction;
use super::measure::{LIST, Measure};
use super::value::{Cpus, Duration, in_words};
use bed::load::{LoadKind, kind_from};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A load that runs during a step, or during all of them: `kind`, its keys as on the command line, `cpus`, and `there`. The kind `command` has `line`
/// and `at`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "BTreeMap<String, toml::Value>")]
pub struct PlanLoad {
    /// Kind of load.
    pub kind: LoadKind,
    /// CPUs of the load; the housekeeping CPUs if none are named.
    pub cpus: Option<Cpus>,
    /// True if it runs where the device under test is.
    pub there: bool,
    /// True if it is a command at the test set's end of the bed.
    pub at_test_set: bool,
}

impl TryFrom<BTreeMap<String, toml::Value>> for PlanLoad {
    type Error = String;

    fn try_from(table: BTreeMap<String, toml::Value>) -> Result<Self, String> {
        let mut values: BTreeMap<String, String> = table.into_iter().map(|(key, value)| (key, plain(&value))).collect();
        let kind = values.remove("kind").ok_or("a load has no kind")?;
        let cpus = values.remove("cpus").map(Cpus::try_from).transpose()?;
        let there = match values.remove("there").as_deref() {
            None | Some("false") => false,
            Some("true") => true,
            Some(other) => return Err(format!("there = {other}: use true or false")),
        };
        let at_test_set = match values.remove("at").as_deref() {
            None => false,
            Some(_) if kind != "command" => {
                return Err(format!("a {kind} load has no \"at\": it is a key of commands"));
            }
            Some("test-set") => true,
            Some(other) => {
                return Err(format!(
                    "at = {other}: use \"test-set\", or there = true for the device"
                ));
            }
        };
        let kind = match (kind.as_str(), values.remove("line"), values.keys().next()) {
            ("command", Some(line), None) => LoadKind::Command { line, namespace: None },
            ("command", ..) => {
                return Err("a command load has the keys line = \"PROGRAM ARGUMENTS\", at and there".into());
            }
            (_, Some(_), _) => return Err(format!("a {kind} load has no \"line\"")),
            (kind, None, _) => kind_from(kind, &values).map_err(|error| error.to_string())?,
        };
        match (there, at_test_set) {
            (true, true) => Err("at and there: a command runs at one end".into()),
            (false, false) if kind.asks_for_interface() => {
                Err("line: {interface} is that of an end of the bed: add at = \"test-set\", or there = true".into())
            }
            _ => Ok(Self {
                kind,
                cpus,
                there,
                at_test_set,
            }),
        }
    }
}

impl PlanLoad {
    /// Refuses a load that is not possible in a plan that measures over these networks; the text says why.
    pub(super) fn check(&self, has_bed: bool, networks: usize) -> Result<(), String> {
        let is_at_an_end = self.at_test_set || self.kind.asks_for_interface();
        match is_at_an_end {
            true if !has_bed => Err("it runs at an end of the test bed, but no step measures there".into()),
            true if networks > 1 => {
                Err("a command at an end of the bed needs exactly one network: leave one in bed.networks".into())
            }
            _ => Ok(()),
        }
    }
}

/// Keys of a step that its row says in other columns, or that are written apart.
const APART: [&str; 6] = ["probe", "duration", "label", "beside_previous", "load", "action"];

/// A value as written on the command line; the items of a list with a plus between them.
fn listed(value: &toml::Value) -> String {
    match value.as_array() {
        Some(items) => items.iter().map(plain).collect::<Vec<_>>().join(" + "),
        None => plain(value),
    }
}

/// A value as written on the command line.
fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Treatment of idle states during a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Idle {
    /// `/dev/cpu_dma_latency` is held at 0.
    Held,
    /// The system's setting stays as in service.
    #[default]
    System,
}

impl Idle {
    /// True if the system's setting is kept.
    pub fn is_system(self) -> bool {
        self == Self::System
    }
}

/// Relation of a step to the one before it: side by side, or after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "toml::Value")]
pub enum Beside {
    /// After it.
    #[default]
    No,
    /// With it.
    Yes,
    /// With it if there are CPUs for both, otherwise after it.
    IfPossible,
    /// After it: that was to be found out, and there are too few CPUs for both.
    TooFewCpus,
    /// After it: that was to be found out, but another machine names the CPUs of both.
    CpusElsewhere,
}

impl TryFrom<toml::Value> for Beside {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Self, String> {
        match (value.as_bool(), value.as_str()) {
            (Some(false), _) => Ok(Self::No),
            (Some(true), _) => Ok(Self::Yes),
            (None, Some("if-possible")) => Ok(Self::IfPossible),
            _ => Err(format!("beside_previous = {value}: use true, false or \"if-possible\"")),
        }
    }
}

impl Beside {
    /// True if it runs, or is to run, with the one before it.
    pub fn is_beside(self) -> bool {
        matches!(self, Self::Yes | Self::IfPossible)
    }
}

/// Keys that every step has.
#[derive(Debug, Clone, Deserialize)]
pub struct Common {
    /// Measuring time.
    pub duration: Duration,
    /// The judged CPUs; the plan's measured ones if none are named.
    #[serde(default)]
    pub cpus: Option<Cpus>,
    /// The CPUs of the test set; the plan's housekeeping ones if none are named.
    #[serde(default)]
    pub test_set: Option<Cpus>,
    /// Second part of the series' names.
    #[serde(default)]
    pub label: Option<String>,
    /// Treatment of idle states.
    #[serde(default)]
    pub idle: Idle,
    /// Loads that run during this step only.
    #[serde(default, rename = "load")]
    pub loads: Vec<PlanLoad>,
    /// Commands of the site that run during this step only.
    #[serde(default, rename = "action")]
    pub actions: Vec<PlanAction>,
    /// Relation to the step before it: side by side, or after it.
    #[serde(default)]
    pub beside_previous: Beside,
    /// Number of guests that it is measured in at the same time.
    #[serde(default = "one")]
    pub guests: usize,
}

fn one() -> usize {
    1
}

/// Names of these keys in a plan.
const COMMON: [&str; 9] = [
    "duration",
    "cpus",
    "test_set",
    "label",
    "idle",
    "load",
    "action",
    "beside_previous",
    "guests",
];

/// One measurement of a plan.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "toml::Table")]
pub struct Step {
    /// CPUs, duration and loads.
    pub common: Common,
    /// Its measurement.
    pub(super) measure: Rc<dyn Measure>,
    /// The step as written in the plan, for a place that does a part of it.
    pub(super) written: toml::Table,
}

impl TryFrom<toml::Table> for Step {
    type Error = String;

    fn try_from(mut own: toml::Table) -> Result<Self, String> {
        let mut written = own.clone();
        // Commands of the site run on the machine of the plan alone.
        written.remove("action");
        let probe = own.remove("probe").ok_or("missing field `probe`")?;
        let known = LIST.iter().find(|(name, _)| probe.as_str() == Some(name));
        let Some((_, read)) = known else {
            let names: Vec<String> = LIST.iter().map(|(name, _)| format!("`{name}`")).collect();
            return Err(format!(
                "probe = {probe}: no such probe, use one of {}",
                names.join(", ")
            ));
        };
        let common: toml::Table = COMMON
            .into_iter()
            .filter_map(|key| own.remove(key).map(|value| (key.to_owned(), value)))
            .collect();
        let common: Common = toml::Value::Table(common)
            .try_into()
            .map_err(|error| in_words(&error))?;
        let step = Self {
            common,
            measure: Rc::from(read(own)?),
            written,
        };
        step.check()?;
        Ok(step)
    }
}

impl Step {
    /// Refuses common keys that this step does not use.
    fn check(&self) -> Result<(), String> {
        if self.common.label.is_some() && !self.measure.takes_label() {
            return Err(format!(
                "unknown field `label`: the series of a step \"{}\" are named after its network or its streams",
                self.name()
            ));
        }
        if self.common.test_set.is_some() && !self.needs_bed() {
            return Err(format!("test_set: a step \"{}\" has no test set", self.name()));
        }
        match self.common.guests {
            0 => Err("guests: use at least 1".to_owned()),
            2.. if self.needs_bed() => Err(format!(
                "guests: a step \"{}\" is over the test bed: give a step \"trip\" as many relays, each is in a guest of its own",
                self.name()
            )),
            _ => Ok(()),
        }
    }

    /// Holds idle states off regardless of the plan, also in a place that does a part of the step.
    pub(super) fn hold_idle(&mut self) {
        self.common.idle = Idle::Held;
        self.written.insert("idle".to_owned(), "held".into());
    }

    /// The step's name in events and progress.
    pub fn name(&self) -> &'static str {
        self.measure.words()
    }

    /// Its label, by which the command line chooses it; without one, the name of its probe as written in the plan.
    pub(super) fn word(&self) -> String {
        let probe = || self.written.get("probe").and_then(toml::Value::as_str);
        let word = self.common.label.as_deref().or_else(probe);
        word.unwrap_or_default().to_owned()
    }

    /// Its name, and its label if it has one.
    pub(super) fn title(&self) -> String {
        match &self.common.label {
            Some(label) => format!("{} ({label})", self.name()),
            None => self.name().to_owned(),
        }
    }

    /// Its keys, loads and actions as the plan's file writes them.
    pub(super) fn settings(&self) -> String {
        let keys = self.written.iter().filter(|(key, _)| !APART.contains(&key.as_str()));
        let keys = keys.map(|(key, value)| format!("{key} {}", listed(value)));
        let loads = self.common.loads.iter().map(|load| format!("load {}", load.kind));
        let actions = self
            .common
            .actions
            .iter()
            .map(|action| format!("action {}", action.name));
        keys.chain(loads).chain(actions).collect::<Vec<_>>().join(", ")
    }

    /// First part of its series' names.
    pub(super) fn series(&self) -> String {
        let family = self.measure.family();
        match &self.common.label {
            Some(label) => format!("{family}/{label}"),
            None => family.to_owned(),
        }
    }

    /// True if it needs the test bed of network namespaces.
    pub fn needs_bed(&self) -> bool {
        self.measure.needs_bed()
    }

    /// True if one of its ends is the test set.
    pub fn has_test_set(&self) -> bool {
        self.measure.has_test_set()
    }

    /// True if it needs the test bed, and none of its ends is the test set.
    pub fn is_between_devices(&self) -> bool {
        self.needs_bed() && !self.has_test_set()
    }

    /// True if a relay that is not of this program can be at its other end.
    pub(super) fn takes_relay(&self) -> bool {
        self.measure.family() == "pong"
    }

    /// The step with a relay at its other end, if it can have one; its series then have their usual label.
    pub(super) fn with_relay(&mut self, keys: &toml::Table) -> Result<(), String> {
        self.written.remove("label");
        self.written.extend(keys.clone());
        let Self { measure, written, .. } = Self::try_from(self.written.clone())?;
        (self.measure, self.written) = (measure, written);
        self.common.label = None;
        Ok(())
    }

    /// Number of devices under test side by side.
    pub(super) fn devices(&self) -> usize {
        self.measure.devices().max(self.common.guests)
    }

    /// True if both of its ends wait by spinning.
    pub(super) fn spins(&self) -> bool {
        self.measure.spins()
    }

    /// Its measurement, if it is of this type.
    #[cfg(test)]
    pub(super) fn measures<T: Measure>(&self) -> Option<&T> {
        let measure: &dyn std::any::Any = self.measure.as_ref();
        measure.downcast_ref()
    }
}
