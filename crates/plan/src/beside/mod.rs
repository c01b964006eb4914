//! Steps side by side: which steps run together, and why some may not.

use super::file::Plan;
use super::roles::Roles;
use super::step::Step;
use super::value::PlanError;
use host::CpuFacts;
use probes::Need;
use sys::privilege::Capability;
use units::CpuList;

impl Plan {
    /// The CPUs of this machine that a step judges, and those of its test set. A step that judges CPUs in a guest runs on the CPUs that the plan
    /// measures.
    ///
    /// # Errors
    /// A named CPU cannot be used.
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

    /// Checks that steps side by side have different CPUs on a machine with these roles.
    ///
    /// # Errors
    /// The first CPU that two of them would share; in guests also a CPU that a guest does not have.
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

    /// The CPUs of this machine that no concurrent step may use. The CPUs of a guest are checked separately.
    pub(super) fn own_to_it(&self, step: &Step, facts: &CpuFacts, roles: &Roles) -> Result<CpuList, PlanError> {
        match self.is_in_guests() {
            true => {
                let [_, test_set] = self.cpus_of(step, facts, roles)?;
                Ok(test_set.first().filter(|_| step.has_test_set()).into_iter().collect())
            }
            false => self.takes(step, facts, roles),
        }
    }

    /// Number of devices under test at a time: those of steps side by side are added.
    pub fn devices_at_once(&self) -> usize {
        let of_group = |group: &[Step]| group.iter().map(Step::devices).sum();
        self.groups().map(of_group).max().unwrap_or(1)
    }

    /// All CPUs of this machine that some step judges.
    ///
    /// # Errors
    /// A named CPU cannot be used.
    pub fn all_judged(&self, facts: &CpuFacts, roles: &Roles) -> Result<CpuList, PlanError> {
        let mut all: Vec<u32> = roles.measured.iter().collect();
        for step in &self.steps {
            let [judged, _] = self.cpus_of(step, facts, roles)?;
            all.extend(judged.iter());
        }
        Ok(all.into_iter().collect())
    }

    /// The plan's requirements on a machine with these roles.
    ///
    /// # Errors
    /// A named CPU cannot be used.
    pub fn needs(&self, facts: &CpuFacts, roles: &Roles) -> Result<Vec<Need>, PlanError> {
        let mut needs = vec![Need::Wish(Capability::IpcLock)];
        for step in &self.steps {
            let [judged, _] = self.cpus_of(step, facts, roles)?;
            needs.extend(step.measure.needs(&judged));
            needs.extend(self.takes(step, facts, roles)?.iter().map(Need::Cpu));
            let is_own_port = self.relay().is_some() && !self.is_in_guests();
            let of_bed: &[Need] = match (step.needs_bed(), roles.elsewhere.is_some() || is_own_port) {
                (false, _) => &[],
                (true, false) => &bed::NEEDS,
                (true, true) => &bed::NEEDS_OF_PORT,
            };
            needs.extend(of_bed.iter().cloned());
        }
        Ok(needs)
    }

    /// The CPUs that some step occupies completely, at real-time priority.
    ///
    /// # Errors
    /// A named CPU cannot be used.
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
        Ok(match step.has_test_set() {
            true => judged.iter().chain(test_set.first()).collect(),
            false => judged,
        })
    }
}

mod settled;
pub(crate) use settled::Settled;
#[cfg(test)]
mod tests;
