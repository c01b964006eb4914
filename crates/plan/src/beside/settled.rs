//! Steps that run side by side with the one before them if there are CPUs for both.

use crate::checked::rules;
use crate::file::Plan;
use crate::roles::Roles;
use crate::step::{Beside, Step};
use crate::value::{Cpus, PlanError};
use host::CpuFacts;
use model::Fact;
use model::fact::{CPUS_LEFT_OUT, JUDGED_CPUS, STEPS_SETTLED};
use units::CpuList;

/// Words of the fact about a step, beside the one before it or after it.
const WORDS: [(bool, &str); 2] = [(true, "beside"), (false, "after")];

/// A step that was to run beside the one before it if possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settled {
    /// First part of its series' names, which no other step has.
    series: String,
    is_beside: bool,
    /// CPUs that it has beside others, if it judges more alone: `wake-up only on cpu 2 of the guest`.
    only: Option<String>,
    /// The CPUs that it leaves to others, with these: `no wake-up on cpu 1 of the guest: it has the ping-pong`.
    lacks: Option<String>,
}

impl Plan {
    /// The facts by which reports of the run know which steps ran beside others, and which CPUs they left out for that.
    pub fn settled_facts(&self) -> Vec<Fact> {
        let of = |fact: &model::FactOf<String>, texts: Vec<String>| {
            (!texts.is_empty()).then(|| fact.fact(Ok(texts.join("; ")), "plan, CPUs of each role"))
        };
        let word = |one: &Settled| {
            let [beside, after] = WORDS.map(|(_, word)| word);
            format!("{}: {}", one.series, if one.is_beside { beside } else { after })
        };
        let steps = self.settlements.iter().map(word).collect();
        let lacks = self.settlements.iter().filter_map(|one| one.lacks.clone()).collect();
        [of(&STEPS_SETTLED, steps), of(&CPUS_LEFT_OUT, lacks)]
            .into_iter()
            .flatten()
            .collect()
    }

    /// The facts of these roles; the judged CPUs are those of every step only as far as the steps beside others have them.
    pub fn facts_of(&self, roles: &Roles) -> Vec<Fact> {
        let only: Vec<&str> = self.settlements.iter().filter_map(|one| one.only.as_deref()).collect();
        let mut facts = roles.facts();
        let judged = facts
            .iter_mut()
            .find(|fact| fact.group == JUDGED_CPUS.group && fact.name == JUDGED_CPUS.name);
        if let Some(Ok(value)) = judged.map(|fact| &mut fact.value).filter(|_| !only.is_empty()) {
            let at = value.find(" (").unwrap_or(value.len());
            value.insert_str(at, &format!(", {}", only.join(", ")));
        }
        facts
    }

    /// The plan's steps beside each other as a run had them that chose the steps of these labels, or all: by its fact [`STEPS_SETTLED`], `said`.
    #[must_use]
    pub fn as_settled(&self, said: Option<&str>, labels: &[String]) -> Self {
        let mut plan = self.clone();
        let is_chosen = |step: &Step| labels.is_empty() || labels.contains(&step.word());
        let chosen: Vec<bool> = self
            .conditions()
            .flat_map(|group| vec![group.iter().any(is_chosen); group.len()])
            .collect();
        let mut begin = 0;
        for number in 0..plan.steps.len() {
            let series = plan.steps[number].series();
            let has_others = chosen[begin..number].contains(&true);
            let beside = &mut plan.steps[number].common.beside_previous;
            if *beside == Beside::IfPossible {
                *beside = match said.and_then(|said| is_beside(said, &series)) {
                    Some(true) => Beside::Yes,
                    Some(false) => Beside::TooFewCpus,
                    None if !(chosen[number] && has_others) => Beside::No,
                    None => Beside::IfPossible,
                };
            }
            if !beside.is_beside() {
                begin = number;
            }
        }
        plan
    }

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
            let settled = self.settlement(number, begin, free.as_ref(), (facts, roles))?;
            self.settlements.push(settled);
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

    /// The outcome for a step, by the CPUs that the steps from `begin` on leave to it.
    fn settlement(
        &self,
        number: usize,
        begin: Option<usize>,
        free: Option<&CpuList>,
        (facts, roles): (&CpuFacts, &Roles),
    ) -> Result<Settled, PlanError> {
        let step = &self.steps[number];
        let (mut only, mut lacks) = (None, None);
        if let (Some(begin), Some(free)) = (begin, free) {
            let lost = self.judges(step, facts, roles)?.without(free);
            let others: Vec<&str> = self.steps[begin..number].iter().map(Step::name).collect();
            let (name, others) = (step.name(), others.join(" and the "));
            let place = if self.is_in_guests() { " of the guest" } else { "" };
            if !lost.is_empty() {
                only = Some(format!("{name} only on cpu {free}{place}"));
                lacks = Some(format!("no {name} on cpu {lost}{place}: it has the {others}"));
            }
        }
        Ok(Settled {
            series: step.series(),
            is_beside: begin.is_some() && free.is_some(),
            only,
            lacks,
        })
    }

    /// CPUs of the last of these steps that the others leave to it, by the numbers of the machine or guest that it judges; `None` if it cannot run
    /// beside them.
    fn left_by(&self, group: &[Step], facts: &CpuFacts, roles: &Roles) -> Result<Option<CpuList>, PlanError> {
        let Some((last, others)) = group.split_last() else {
            return Ok(None);
        };
        if roles.elsewhere.is_some() || rules::not_beside(group, self.lists_networks()).is_some() {
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

    /// CPUs that its threads use, of those that the step judges, by the same numbers.
    fn taken_alone(&self, step: &Step, facts: &CpuFacts, roles: &Roles) -> Result<CpuList, PlanError> {
        let judged = self.judges(step, facts, roles)?;
        Ok(match self.is_in_guests() {
            true => step.measure.takes_in_guest(&judged),
            false => step.measure.takes(&judged),
        })
    }
}

/// True if a step ran beside the one before it, by the fact of its run; `None` if the fact does not name it.
fn is_beside(said: &str, series: &str) -> Option<bool> {
    let mut each = said.split("; ").filter_map(|one| one.rsplit_once(": "));
    let (_, word) = each.find(|(name, _)| *name == series)?;
    WORDS.iter().find(|(_, known)| *known == word).map(|(is, _)| *is)
}
