//! Description of what a plan will do on this machine.

use super::file::Plan;
use super::roles::Roles;
use super::step::{Beside, PlanLoad, Step};
use super::value::PlanError;
use host::CpuFacts;
use model::{PlannedMember, PlannedStep};
use units::{CpuList, Ns};
use wire::redundancy::Protocol;

/// A plan as it would run with these roles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// A line for each step, those side by side marked.
    pub steps: Vec<String>,
    /// Loads that run during all of them.
    pub loads: Vec<String>,
    /// Commands of the site that it runs, with their times.
    pub actions: Vec<String>,
    /// Effects on the host, in sentences.
    pub does: Vec<String>,
}

impl Plan {
    /// Describes the work of the plan on a machine with these CPUs.
    ///
    /// # Errors
    /// A named CPU cannot be used.
    pub fn outline(&self, facts: &CpuFacts, roles: &Roles) -> Result<Outline, PlanError> {
        let mut steps = Vec::new();
        for (at, group) in self.groups().enumerate() {
            for step in group {
                let seat = self.seat(step, facts, roles)?;
                let time = Ns(self.lasts_ns(group));
                let beside = match step.common.beside_previous {
                    _ if group.len() > 1 => ", side by side",
                    Beside::TooFewCpus => ", after the step before it: there are too few CPUs to measure both at once",
                    Beside::CpusElsewhere => {
                        ", after the step before it: the far machine names its CPUs, so it is not known here whether there are CPUs for both"
                    }
                    _ => "",
                };
                let loads = self.words(&step.common.loads, facts, roles)?;
                let loads = if loads.is_empty() {
                    String::new()
                } else {
                    format!(", with {}", loads.join(", "))
                };
                let relay = step.measure.relay().map(|relay| format!(", with the relay {relay}"));
                let relay = relay.unwrap_or_default();
                steps.push(format!(
                    "{}. {}: {time} on {seat}{beside}{relay}{loads}",
                    at + 1,
                    step.name()
                ));
            }
        }
        Ok(Outline {
            steps,
            loads: self
                .words(&self.loads, facts, roles)?
                .into_iter()
                .chain(self.management_words(facts, roles)?)
                .collect(),
            actions: self.action_words(),
            does: self.does(facts, roles)?,
        })
    }

    /// The steps as the plan's file writes them, for a run that asked for another measuring time of each step, or for the steps of these
    /// labels alone.
    #[must_use]
    pub fn planned(&self, asked_ns: Option<u64>, labels: &[String]) -> Vec<PlannedStep> {
        let asked = asked_ns.map(|ns| self.clone().lasting(ns));
        let asked = asked.as_ref().unwrap_or(self);
        let groups = self.groups().zip(asked.groups());
        groups
            .map(|(group, of_asked)| {
                let settings: Vec<String> = group
                    .iter()
                    .map(Step::settings)
                    .filter(|text| !text.is_empty())
                    .collect();
                PlannedStep {
                    does: group
                        .iter()
                        .map(Step::title)
                        .collect::<Vec<_>>()
                        .join("; side by side with "),
                    members: group.iter().map(member).collect(),
                    settings: settings.join("; "),
                    planned_ns: self.lasts_ns(group),
                    asked_ns: asked.lasts_ns(of_asked),
                    is_chosen: labels.is_empty() || group.iter().any(|step| labels.contains(&step.word())),
                    is_in_turn: group[0].measure.compares_networks(),
                }
            })
            .collect()
    }

    /// Loads and actions of all steps, as the plan's file writes them.
    #[must_use]
    pub fn all_through(&self) -> Vec<String> {
        let loads = self.loads.iter().map(|load| load.kind.to_string());
        let actions = self.actions.iter().map(|action| format!("action {}", action.name));
        loads.chain(actions).collect()
    }

    /// Every command of the site, with its step and its times.
    fn action_words(&self) -> Vec<String> {
        let of_plan = self
            .actions
            .iter()
            .map(|action| format!("in every step: {}", action.words()));
        let of_steps = self.groups().enumerate().flat_map(|(at, group)| {
            let own = group.iter().flat_map(|step| &step.common.actions);
            own.map(move |action| format!("in step {}: {}", at + 1, action.words()))
        });
        of_plan.chain(of_steps).collect()
    }

    /// Describes the host CPUs of the guests' virtual CPUs.
    fn crowding(&self, roles: &Roles) -> String {
        let (each, guests) = (self.guest_cpus() as usize, self.devices());
        let here = roles.measured.iter().chain(roles.recorder.iter().take(1)).count();
        match here < each * guests {
            true => format!(
                "Its guests have {} virtual CPUs, and this run has {here} CPUs for them: they share these, and wait for each other.",
                each * guests
            ),
            false => format!(
                "It boots guests: each of their {} virtual CPUs has a CPU of its own.",
                each * guests
            ),
        }
    }

    /// Loads with the CPUs they run on.
    fn words(&self, loads: &[PlanLoad], facts: &CpuFacts, roles: &Roles) -> Result<Vec<String>, PlanError> {
        let one = |load: &PlanLoad| {
            if let Some(seat) = self.seat_of_load(load)? {
                return Ok(format!("{} on {seat}", load.kind));
            }
            let resolve = |cpus| self.resolve(cpus, facts, roles);
            let cpus = load
                .cpus
                .as_ref()
                .map_or_else(|| Ok(roles.housekeeping.clone()), resolve)?;
            Ok(format!("{} on cpu {cpus}", load.kind))
        };
        loads.iter().map(one).collect()
    }

    /// Effects on the host while it runs, in sentences.
    fn does(&self, facts: &CpuFacts, roles: &Roles) -> Result<Vec<String>, PlanError> {
        let mut taken: Vec<u32> = Vec::new();
        for step in &self.steps {
            taken.extend(self.takes(step, facts, roles)?.iter());
        }
        let taken: CpuList = taken.into_iter().collect();
        let mut does = vec![format!(
            "Its threads run at real-time priority on cpu {taken}: other threads on these CPUs wait for them."
        )];
        if self.is_in_guests() {
            does.push(self.crowding(roles));
        }
        if !self.loads.is_empty()
            || self.management.is_some()
            || self.steps.iter().any(|step| !step.common.loads.is_empty())
        {
            does.push(format!(
                "Its loads keep cpu {} busy at ordinary priority, unless they name others.",
                roles.housekeeping
            ));
        }
        if self.steps.iter().any(|step| !step.common.idle.is_system()) {
            does.push("It holds all CPUs out of deep idle states while it measures (/dev/cpu_dma_latency).".to_owned());
        }
        if self.relay().is_some() {
            does.push("It sends GOOSE, which a device may act on, over the port of --nic.".to_owned());
        } else if self.steps.iter().any(Step::needs_bed) {
            does.push("It makes network namespaces and interfaces of its own, and removes them.".to_owned());
        }
        if let Some(lans) = self.lans() {
            does.push(format!(
                "Its nodes are doubly attached: {} over LAN A and LAN B, each a {} of its own.",
                Protocol::from(lans).word(),
                self.bed.as_ref().map_or("bridge", |bed| bed.of_lans().name())
            ));
        }
        does.push(match self.has_actions() {
            true => "It runs the commands above on this machine with your rights: they may change anything. It changes nothing else.".to_owned(),
            false => "It changes no setting of the host. Everything else it starts ends with it.".to_owned(),
        });
        Ok(does)
    }
}

fn member(step: &Step) -> PlannedMember {
    PlannedMember {
        does: step.title(),
        family: step.measure.family().to_owned(),
        label: step.common.label.clone(),
    }
}
