//! A plan with all its tables, and the values that follow from several of them.

use super::action::PlanAction;
use super::beside::Settled;
use super::checked::rules;
use super::faults::PlanFault;
use super::management::ManagementTable;
use super::matrix::{Cell, MatrixTable};
use super::networks::Networks;
use super::step::{PlanLoad, Step};
use super::value::{CpuRoles, Duration, PlanError};
use model::Layout;
use place::PlaceKind;
use probes::subscribe::lan_limit;
use serde::Deserialize;

/// A plan, checked.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// Its purpose, in one sentence.
    pub what: String,
    /// Limit profile that judges it: a name or a file.
    pub limits: String,
    /// Published table that the result is also printed as.
    #[serde(default)]
    pub table: Option<Layout>,
    /// Length of a window.
    pub window: Duration,
    /// Location of the devices under test; in this process by default.
    #[serde(default)]
    pub place: PlaceKind,
    /// Virtual CPUs of each guest; 2 by default.
    #[serde(default)]
    pub vcpus: Option<u32>,
    /// CPUs of each role.
    pub cpus: CpuRoles,
    /// Networks that the round trip is measured over, or the LANs of doubly attached nodes; without it, over a bridge.
    #[serde(default)]
    pub bed: Option<Networks>,
    /// Faults of the wire between test set and device; if there are any, a simulated wire replaces the bridge.
    #[serde(default, rename = "fault")]
    pub faults: Vec<PlanFault>,
    /// Seed for the chances of faults: the same seed chooses the same frames.
    #[serde(default)]
    pub fault_seed: u64,
    /// A second network of the devices, and what is on it.
    #[serde(default)]
    pub management: Option<ManagementTable>,
    /// Loads that run during all steps.
    #[serde(default, rename = "load")]
    pub loads: Vec<PlanLoad>,
    /// Commands of the site that run during each step.
    #[serde(default, rename = "action")]
    pub actions: Vec<PlanAction>,
    /// Combinations of places, networks, loads and isolation, each measured as a separate plan.
    #[serde(default)]
    pub matrix: Option<MatrixTable>,
    /// The cell of the matrix that this plan measures, if it is one.
    #[serde(default)]
    pub cell: Option<Cell>,
    /// Measurements, in order.
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
    /// The steps that were to run beside others if possible, as [`Plan::settled`] found it.
    #[serde(skip)]
    pub(crate) settlements: Vec<Settled>,
    /// The source text of the plan.
    #[serde(skip)]
    pub text: String,
}

impl Plan {
    /// Limits that the steps define themselves, each once, as a profile; `None` if they define none.
    ///
    /// # Errors
    /// A step whose files, named by its keys, cannot be used.
    pub fn own_limits(&self) -> Result<Option<String>, PlanError> {
        let mut all: Vec<String> = Vec::new();
        for step in &self.steps {
            let label = step.common.label.as_deref();
            let invalid = |problem| PlanError::Invalid {
                name: self.name.clone(),
                problem,
            };
            let mut limits = step.measure.limits(label).map_err(invalid)?;
            if self.lans().is_some() {
                let judged = step.measure.judged_lans(label).map_err(invalid)?;
                limits.extend(judged.iter().map(|lans| lan_limit(Some(lans))));
            }
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

    /// The plan with every step without a bed measured in this many guests at the same time.
    #[must_use]
    pub fn in_guests(mut self, guests: usize) -> Self {
        let of_cpus = self.steps.iter_mut().filter(|step| !step.needs_bed());
        of_cpus.for_each(|step| step.common.guests = guests);
        self
    }

    /// The plan with idle states held off in every step.
    #[must_use]
    pub fn holding_idle(mut self) -> Self {
        self.steps.iter_mut().for_each(Step::hold_idle);
        self
    }

    /// The plan with another window length.
    #[must_use]
    pub fn in_windows(mut self, window_ns: u64) -> Self {
        self.window.0 = window_ns;
        self
    }

    /// Number of devices under test side by side in its bed: as many as the step with the most.
    pub fn devices(&self) -> usize {
        self.steps.iter().map(Step::devices).max().unwrap_or(1)
    }

    /// True if a step has a network between test set and device.
    pub fn needs_bed(&self) -> bool {
        self.steps.iter().any(Step::needs_bed)
    }

    /// True if a step measures over every network in turn.
    pub fn compares_networks(&self) -> bool {
        self.lists_networks() && self.steps.iter().any(|step| step.measure.compares_networks())
    }

    /// Refuses ports of this machine as one more network beside those of the plan, if a step cannot be measured over several.
    ///
    /// # Errors
    /// The step that keeps every frame.
    pub fn check_beside_ports(&self) -> Result<(), PlanError> {
        rules::recorded_once(&self.steps).map_err(|refusal| PlanError::Invalid {
            name: self.name.clone(),
            problem: refusal.in_text(&self.text),
        })
    }

    /// The steps in their order, those that run side by side together.
    pub fn groups(&self) -> impl Iterator<Item = &[Step]> {
        self.steps.chunk_by(|_, next| next.common.beside_previous.is_beside())
    }

    /// Measuring time of all steps together, in ns; steps side by side take the time of one.
    pub fn duration_ns(&self) -> u64 {
        let lengths = self.groups().map(|group| self.lasts_ns(group));
        lengths.fold(0, u64::saturating_add)
    }

    /// Measuring time of steps side by side, in ns, over every network of the plan if they compare networks.
    pub(crate) fn lasts_ns(&self, group: &[Step]) -> u64 {
        match &self.bed {
            Some(bed) if group[0].measure.compares_networks() => group[0].common.duration.0.saturating_mul(bed.times()),
            _ => group[0].common.duration.0,
        }
    }
}
