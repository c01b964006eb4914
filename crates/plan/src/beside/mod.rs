//! Steps side by side: which of them run together, and why they may not.

use super::file::{Plan, PlanError};
use super::roles::Roles;
use super::step::Step;
use host::CpuFacts;
use probes::Need;
use sys::privilege::Capability;
use sys::thread::Policy;
use units::CpuList;

impl Plan {
    /// The steps in their order, those that run side by side together.
    pub fn groups(&self) -> impl Iterator<Item = &[Step]> {
        self.steps.chunk_by(|_, next| next.common.beside_previous)
    }

    /// The CPUs of this machine that a step judges, and those of its test set. What it judges in a guest runs on those that the plan
    /// measures.
    ///
    /// # Errors
    /// A CPU that is named and cannot be used.
    pub(super) fn cpus_of(&self, step: &Step, facts: &CpuFacts, roles: &Roles) -> Result<[CpuList; 2], PlanError> {
        let named = |cpus: &Option<_>, usual: &CpuList| match cpus {
            Some(cpus) => self.resolve(cpus, facts, roles),
            None => Ok(usual.clone()),
        };
        let judged = match self.is_in_guests() {
            true => roles.measured.clone(),
            false => named(&step.common.cpus, &roles.measured)?,
        };
        Ok([judged, named(&step.common.test_set, &roles.housekeeping)?])
    }

    /// Whether steps side by side have CPUs of their own, on a machine with these roles.
    ///
    /// # Errors
    /// The first CPU that two of them would share; in guests also one that a guest has not.
    pub fn check_beside(&self, facts: &CpuFacts, roles: &Roles) -> Result<(), PlanError> {
        self.check_inside()?;
        for group in self.groups().filter(|group| group.len() > 1) {
            let mut taken: Vec<(&Step, CpuList)> = Vec::new();
            for step in group {
                let cpus = self.own_to_it(step, facts, roles)?;
                for (other, theirs) in &taken {
                    if let Some(cpu) = cpus.iter().find(|cpu| theirs.contains(*cpu)) {
                        return Err(PlanError::Cpu {
                            plan: self.name.clone(),
                            problem: format!(
                                "steps \"{}\" and \"{}\" run side by side, and both take cpu {cpu}: give each CPUs of its \
                                 own (cpus = \"...\", and test_set = \"...\" for one that measures over the test bed)",
                                other.name(),
                                step.name()
                            ),
                        });
                    }
                }
                taken.push((step, cpus));
            }
        }
        Ok(())
    }

    /// The CPUs of this machine that no step beside it may take. Those of a guest are looked at apart.
    fn own_to_it(&self, step: &Step, facts: &CpuFacts, roles: &Roles) -> Result<CpuList, PlanError> {
        match self.is_in_guests() {
            true => {
                let [_, test_set] = self.cpus_of(step, facts, roles)?;
                Ok(test_set.first().filter(|_| step.needs_bed()).into_iter().collect())
            }
            false => self.takes(step, facts, roles),
        }
    }

    /// How many devices under test are there at once: those of steps side by side together.
    pub fn devices_at_once(&self) -> usize {
        let of_group = |group: &[Step]| group.iter().map(Step::devices).sum();
        self.groups().map(of_group).max().unwrap_or(1)
    }

    /// All CPUs of this machine that some step judges.
    ///
    /// # Errors
    /// A CPU that is named and cannot be used.
    pub fn all_judged(&self, facts: &CpuFacts, roles: &Roles) -> Result<CpuList, PlanError> {
        let mut all: Vec<u32> = roles.measured.iter().collect();
        for step in &self.steps {
            let [judged, _] = self.cpus_of(step, facts, roles)?;
            all.extend(judged.iter());
        }
        Ok(all.into_iter().collect())
    }

    /// What the plan needs of a machine with these roles.
    ///
    /// # Errors
    /// A CPU that is named and cannot be used.
    pub fn needs(&self, facts: &CpuFacts, roles: &Roles) -> Result<Vec<Need>, PlanError> {
        let mut needs = vec![Need::Wish(Capability::IpcLock)];
        for step in &self.steps {
            let [judged, _] = self.cpus_of(step, facts, roles)?;
            needs.extend(step.measure.needs(&judged));
            needs.extend(self.takes(step, facts, roles)?.iter().map(Need::Cpu));
            let of_bed: &[Need] = match (step.needs_bed(), &roles.elsewhere) {
                (false, _) => &[],
                (true, None) => &bed::NEEDS,
                (true, Some(_)) => &bed::NEEDS_OF_PORT,
            };
            needs.extend(of_bed.iter().cloned());
        }
        Ok(needs)
    }

    /// The CPUs that some step takes wholly, at real-time priority.
    ///
    /// # Errors
    /// A CPU that is named and cannot be used.
    pub fn occupied(&self, facts: &CpuFacts, roles: &Roles) -> Result<CpuList, PlanError> {
        let mut occupied = Vec::new();
        for step in self.steps.iter().filter(|step| step.measure.occupies()) {
            occupied.extend(self.takes(step, facts, roles)?.iter());
        }
        Ok(occupied.into_iter().collect())
    }

    /// Every CPU on which a step has a measuring thread.
    pub(super) fn takes(&self, step: &Step, facts: &CpuFacts, roles: &Roles) -> Result<CpuList, PlanError> {
        let [judged, test_set] = self.cpus_of(step, facts, roles)?;
        let judged = match roles.elsewhere {
            None => step.measure.takes(&judged),
            Some(_) => CpuList::default(),
        };
        Ok(match step.needs_bed() {
            true => judged.iter().chain(test_set.first()).collect(),
            false => judged,
        })
    }
}

/// What keeps steps from running side by side, whatever the machine.
///
/// # Errors
/// The first reason, in words.
pub(super) fn check(plan: &Plan) -> Result<(), String> {
    if plan.steps.first().is_some_and(|step| step.common.beside_previous) {
        return Err("beside_previous: the first step has none before it".to_owned());
    }
    for group in plan.groups().filter(|group| group.len() > 1) {
        let of = |step: &Step| (step.common.duration, step.common.idle);
        let first = &group[0];
        if let Some(other) = group.iter().find(|step| of(step) != of(first)) {
            return Err(format!(
                "steps \"{}\" and \"{}\" run side by side: give them one duration and one idle",
                first.name(),
                other.name()
            ));
        }
        let roams = |step: &&Step| {
            let needs = step.measure.needs(&CpuList::default());
            needs
                .iter()
                .any(|need| matches!(need, Need::Policy(Policy::Deadline { .. })))
        };
        if let Some(step) = group.iter().find(roams) {
            return Err(format!(
                "beside_previous: a thread of a deadline policy runs on any CPU, and would take those of the steps beside \"{}\": \
                 use fifo or rr",
                step.name()
            ));
        }
        if plan.bed.is_some() && group.iter().any(Step::needs_bed) {
            return Err(
                "beside_previous: a step that compares networks measures them in turn, and nothing beside it"
                    .to_owned(),
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
