//! Reading a plan: every key checked, every refusal with file, line and key.

mod wrong;

use super::beside;
use super::faults::{self, PlanFault};
use super::management::{self, ManagementTable};
use super::matrix::{Cell, MatrixTable};
use super::networks::Networks;
use super::step::{Load, Step};
use place::Kind;
use serde::Deserialize;
use session::SessionError;
use std::path::Path;
use units::{CpuList, LONGEST_NS, format_ns};

/// Why a plan cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// Neither a plan inside the binary nor a file.
    #[error("{name}: no such plan (inside triptime: {have}; or give the path of a TOML file)")]
    NotFound {
        /// What was asked for.
        name: String,
        /// The embedded plans.
        have: String,
    },
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// CPUs that are named and cannot be used.
    #[error("{plan}: {problem}")]
    Cpu {
        /// Plan name or file.
        plan: String,
        /// Who named which, and why not.
        problem: String,
    },
    /// Not TOML, or a key or value that cannot be. The text has line, column and key.
    #[error("{name}: {problem}")]
    Invalid {
        /// Plan name or file.
        name: String,
        /// What and where.
        problem: String,
    },
}

impl From<PlanError> for SessionError {
    fn from(error: PlanError) -> Self {
        Self::Wrong(error.to_string())
    }
}

/// A duration in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Duration(pub u64);

impl TryFrom<String> for Duration {
    type Error = units::DurationError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        units::parse_ns(&text).map(Self)
    }
}

/// Which CPUs a role gets.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Cpus {
    /// The lowest CPU that is neither isolated nor another process's own, where there is one.
    First,
    /// The isolated CPUs that no other process owns; where there are none, every CPU but the housekeeping ones; the same ones
    /// when there are no others.
    Rest,
    /// Every CPU that no other process owns.
    All,
    /// These.
    List(CpuList),
}

impl TryFrom<String> for Cpus {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.as_str() {
            "first" => Ok(Self::First),
            "rest" => Ok(Self::Rest),
            "all" => Ok(Self::All),
            list => match list.parse::<CpuList>() {
                Ok(list) if !list.is_empty() => Ok(Self::List(list)),
                _ => Err(format!(
                    "\"{list}\" is not \"first\", \"rest\", \"all\" or a CPU list such as 1-3,5"
                )),
            },
        }
    }
}

/// The two roles a CPU can have.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuRoles {
    /// Loads, recorder, test set.
    pub housekeeping: Cpus,
    /// Device under test.
    pub measured: Cpus,
}

/// Tables of publications that a plan can print its result as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReportTable {
    /// Samples, minimum, average, maximum, overflows per CPU, as the VMware real-time guide has them.
    Vm,
    /// Scheduling jitter, maximum (average), per environment, as ABB and the University of Torino have it.
    Jitter,
    /// Classes of wake-up latency for AVB, as Sienda has them.
    Avb,
    /// The round trip over each network beside the others.
    Networks,
    /// The task of a virtual relay and the age of its samples, as ABB and the University of Torino have them.
    Vpc,
}

/// A plan, checked.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// What it is for, in one sentence.
    pub what: String,
    /// Limit profile that judges it: a name or a file.
    pub limits: String,
    /// Published table that the result is printed as, too.
    #[serde(default)]
    pub table: Option<ReportTable>,
    /// Length of a window.
    pub window: Duration,
    /// Where the devices under test are; in this process, if nothing is said.
    #[serde(default)]
    pub place: Kind,
    /// Virtual CPUs of each guest; 2 if nothing is said.
    #[serde(default)]
    pub vcpus: Option<u32>,
    /// Who runs where.
    pub cpus: CpuRoles,
    /// Networks that the round trip is measured over; without it, over a bridge.
    #[serde(default)]
    pub bed: Option<Networks>,
    /// What the wire between test set and device does to frames; with any, a wire of our own takes the bridge's place.
    #[serde(default, rename = "fault")]
    pub faults: Vec<PlanFault>,
    /// Where the chances of faults come from: the same seed chooses the same frames.
    #[serde(default)]
    pub fault_seed: u64,
    /// A second network of the devices, and what is on it.
    #[serde(default)]
    pub management: Option<ManagementTable>,
    /// What runs beside.
    #[serde(default, rename = "load")]
    pub loads: Vec<Load>,
    /// Combinations of places, networks, loads and isolation, each of which is measured as a plan of its own.
    #[serde(default)]
    pub matrix: Option<MatrixTable>,
    /// The one of them that this plan is.
    #[serde(default)]
    pub cell: Option<Cell>,
    /// What is measured, in order.
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
    /// The text it was read from.
    #[serde(skip)]
    pub text: String,
}

impl Plan {
    /// The plan called `name`: one of those inside the binary, or a file.
    ///
    /// # Errors
    /// No such plan, or what is wrong in it, with line, column and key.
    pub fn load(name: &str) -> Result<Self, PlanError> {
        if let Some((_, text)) = super::EMBEDDED.iter().find(|(embedded, _)| *embedded == name) {
            return Self::parse(name, text);
        }
        if !Path::new(name).exists() {
            let have: Vec<&str> = super::EMBEDDED.iter().map(|(name, _)| *name).collect();
            return Err(PlanError::NotFound {
                name: name.to_owned(),
                have: have.join(", "),
            });
        }
        let text = std::fs::read_to_string(name).map_err(|source| PlanError::Unreadable {
            path: name.to_owned(),
            source,
        })?;
        Self::parse(name, &text)
    }

    /// A plan from its text; `name` is only for messages.
    ///
    /// # Errors
    /// What is wrong, with line, column and key.
    pub fn parse(name: &str, text: &str) -> Result<Self, PlanError> {
        let invalid = |problem: String| PlanError::Invalid {
            name: name.to_owned(),
            problem,
        };
        let mut plan: Self = toml::from_str(text).map_err(|error| invalid(wrong::said(text, &error)))?;
        if plan.steps.is_empty() {
            return Err(invalid("no [[step]]: a plan needs at least one".into()));
        }
        if plan.window.0 < 100_000_000 {
            return Err(invalid(
                "window: use at least 100ms: the extremes of a shorter window say nothing".into(),
            ));
        }
        if let Some(step) = plan.steps.iter().find(|step| step.common.duration.0 == 0) {
            return Err(invalid(format!("duration of step \"{}\" is zero", step.name())));
        }
        if plan.vcpus == Some(0) {
            return Err(invalid("vcpus: a guest has one virtual CPU at least".into()));
        }
        if plan.loads.iter().any(|load| load.there) {
            return Err(invalid(
                "[[load]] there: a load in the place of the device runs beside a step: put it into [[step.load]]"
                    .into(),
            ));
        }
        beside::check(&plan).map_err(invalid)?;
        if let Some(name) = twice(&plan.steps) {
            return Err(invalid(format!(
                "two steps measure {name}: give them different labels (label = \"...\")"
            )));
        }
        if let Some(bed) = &plan.bed {
            bed.check(&plan.steps).map_err(invalid)?;
        }
        management::check(&plan).map_err(invalid)?;
        plan.check_loads().map_err(invalid)?;
        plan.check_devices().map_err(invalid)?;
        faults::check(&plan.faults, plan.bed.as_ref(), &plan.steps).map_err(invalid)?;
        text.clone_into(&mut plan.text);
        plan.check_length()?;
        if let Some(matrix) = &plan.matrix {
            matrix.check(&plan).map_err(invalid)?;
        }
        Ok(plan)
    }

    /// Limits that its steps have of themselves, each once, as a profile has them; `None`: they have none.
    ///
    /// # Errors
    /// A step that cannot be told what its keys say.
    pub fn own_limits(&self) -> Result<Option<String>, PlanError> {
        let mut all: Vec<String> = Vec::new();
        for step in &self.steps {
            let limits = step.measure.limits(step.common.label.as_deref());
            let limits = limits.map_err(|problem| PlanError::Invalid {
                name: self.name.clone(),
                problem,
            })?;
            for limit in limits {
                if !all.contains(&limit) {
                    all.push(limit);
                }
            }
        }
        Ok((!all.is_empty()).then(|| all.concat()))
    }

    /// The plan with every step `duration_ns` long.
    #[must_use]
    pub fn lasting(mut self, duration_ns: u64) -> Self {
        self.steps
            .iter_mut()
            .for_each(|step| step.common.duration.0 = duration_ns);
        self
    }

    /// The plan with idle states held off in every step.
    #[must_use]
    pub fn holding_idle(mut self) -> Self {
        self.steps.iter_mut().for_each(Step::hold_idle);
        self
    }

    /// The same plan in windows of another length.
    #[must_use]
    pub fn in_windows(mut self, window_ns: u64) -> Self {
        self.window.0 = window_ns;
        self
    }

    /// How many devices under test its bed has side by side: as many as the step with the most.
    pub fn devices(&self) -> usize {
        self.steps.iter().map(Step::devices).max().unwrap_or(1)
    }

    /// Whether a step has a network between test set and device.
    pub fn needs_bed(&self) -> bool {
        self.steps.iter().any(Step::needs_bed)
    }

    /// Whether a step measures over every network in turn.
    pub fn compares_networks(&self) -> bool {
        self.bed.is_some() && self.steps.iter().any(|step| step.measure.compares_networks())
    }

    fn check_loads(&self) -> Result<(), String> {
        let networks = self.bed.as_ref().map_or(1, |bed| bed.networks.len());
        let of_steps = self.steps.iter().flat_map(|step| &step.common.loads);
        let mut all = self.loads.iter().chain(of_steps);
        all.try_for_each(|load| load.check(self.needs_bed(), networks))
    }

    /// What several devices side by side cannot be with, in words.
    fn check_devices(&self) -> Result<(), String> {
        if self.devices() == 1 {
            return Ok(());
        }
        if !self.faults.is_empty() {
            return Err("fault: the wire that makes faults has one device: give each step one relay".into());
        }
        let networks = self.bed.iter().flat_map(|bed| &bed.networks);
        if let Some(network) = networks.copied().find(|network| !network.takes_several()) {
            return Err(format!(
                "bed.networks: {} has one device, and a step has several relays: use bridge, macvlan or openvswitch",
                network.name()
            ));
        }
        match self.steps.iter().any(|step| step.measure.is_traced()) {
            true => {
                Err("trace = true: beside several relays a frame has several ways: make a plan of its own of it".into())
            }
            false => Ok(()),
        }
    }

    /// How long all steps together measure; steps side by side take the time of one.
    pub fn duration_ns(&self) -> u64 {
        let lengths = self.groups().map(|group| self.lasts_ns(group));
        lengths.fold(0, u64::saturating_add)
    }

    /// Refuses a plan that nobody would see the end of; so every sum of its durations is in range.
    ///
    /// # Errors
    /// It takes longer than any duration may be; the longest step is named.
    pub fn check_length(&self) -> Result<(), PlanError> {
        let total_ns = self.duration_ns();
        if total_ns <= LONGEST_NS {
            return Ok(());
        }
        let longest = |(_, step): &(usize, &Step)| self.lasts_ns(std::slice::from_ref(*step));
        let (at, name) = self
            .steps
            .iter()
            .enumerate()
            .max_by_key(longest)
            .map_or((0, ""), |(at, step)| (at, step.name()));
        Err(PlanError::Invalid {
            name: self.name.clone(),
            problem: format!(
                "line {}: duration of step \"{name}\": all steps together, over each network and round, take {}: at most {}",
                wrong::line_of_duration(&self.text, at),
                format_ns(total_ns as f64),
                format_ns(LONGEST_NS as f64)
            ),
        })
    }

    /// How long steps side by side measure, over every network of the plan where they compare these.
    pub(crate) fn lasts_ns(&self, group: &[Step]) -> u64 {
        match &self.bed {
            Some(bed) if group[0].measure.compares_networks() => group[0].common.duration.0.saturating_mul(bed.times()),
            _ => group[0].common.duration.0,
        }
    }
}

/// Series that two steps would both write.
fn twice(steps: &[Step]) -> Option<String> {
    let names: Vec<String> = steps.iter().map(Step::series).collect();
    let again = (1..names.len()).find(|at| names[..*at].contains(&names[*at]))?;
    Some(names[again].clone())
}

#[cfg(test)]
mod tests;
