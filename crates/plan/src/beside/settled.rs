//! Steps that run side by side with the one before them if there are CPUs for both.

use crate::checked::rules;
use crate::file::Plan;
use crate::roles::Roles;
use crate::step::{Beside, Step};
use crate::value::{Cpus, PlanError};
use host::CpuFacts;
use units::CpuList;

impl Plan {
    /// The plan for a machine with these roles: each step that is to run beside the one before it if possible does so, on the CPUs that the others
    /// leave, or comes after it. `host_cpus` are those that were named for guests, instead of those that the roles give them.
    ///
    /// # Errors
    /// A named CPU cannot be used.
    pub fn settled(mut self, facts: &CpuFacts, roles: &Roles, host_cpus: Option<&CpuList>) -> Result<Self, PlanError> {
        let wanted = self.guest_cpus() as usize * self.devices();
        let usual = roles.host_cpus(wanted);
        let has_own = host_cpus.or(usual.as_ref()).is_some_and(|cpus| cpus.len() >= wanted);
        let is_crowded = self.is_in_guests() && !has_own;
        for number in 0..self.steps.len() {
            if self.steps[number].common.beside_previous != Beside::IfPossible {
                continue;
            }
            let begin = self.steps[..number]
                .iter()
                .rposition(|step| !step.common.beside_previous.is_beside());
            let free = match begin {
                Some(begin) if !is_crowded => self.left_by(&self.steps[begin..=number], facts, roles)?,
                _ => None,
            };
            if let (Some(begin), Some(_)) = (begin, &free) {
                // Otherwise they would count as judging CPUs that are measured by another step.
                for at in begin..number {
                    let taken = self.taken_alone(&self.steps[at], facts, roles)?;
                    self.steps[at].common.cpus = Some(Cpus::List(taken));
                }
            }
            let common = &mut self.steps[number].common;
            common.beside_previous = match (begin, free) {
                (Some(_), Some(free)) => {
                    common.cpus = Some(Cpus::List(free));
                    Beside::Yes
                }
                (Some(_), None) if roles.elsewhere.is_some() => Beside::CpusElsewhere,
                (Some(_), None) => Beside::TooFewCpus,
                (None, _) => Beside::No,
            };
        }
        Ok(self)
    }

    /// CPUs of the last of these steps that the others leave to it, by the numbers of the machine or guest that it judges; `None` if it cannot run
    /// beside them.
    fn left_by(&self, group: &[Step], facts: &CpuFacts, roles: &Roles) -> Result<Option<CpuList>, PlanError> {
        let Some((last, others)) = group.split_last() else {
            return Ok(None);
        };
        if roles.elsewhere.is_some() || rules::not_beside(group, self.bed.is_some()).is_some() {
            return Ok(None);
        }
        let judged = self.judges(last, facts, roles)?;
        let mut free = judged.clone();
        for other in others {
            free = free.without(&self.taken_alone(other, facts, roles)?);
            if !self.is_in_guests() {
                free = free.without(&self.own_to_it(other, facts, roles)?);
            }
        }
        let is_named = matches!(last.common.cpus, Some(Cpus::List(_)));
        Ok(Some(free).filter(|free| !free.is_empty() && (!is_named || *free == judged)))
    }

    /// Those of the CPUs that a step judges that its threads use, by the same numbers.
    fn taken_alone(&self, step: &Step, facts: &CpuFacts, roles: &Roles) -> Result<CpuList, PlanError> {
        let judged = self.judges(step, facts, roles)?;
        Ok(match self.is_in_guests() {
            true => step.measure.takes_in_guest(&judged),
            false => step.measure.takes(&judged),
        })
    }
}
