//! Combinations with actions that are refused.

use super::PlanAction;
use crate::file::Plan;
use crate::refusal::Refusal;
use crate::step::Step;
use crate::value::PlanError;
use bed::program;
use units::Ns;

/// Most executions of an action in a step: each is a row of the report.
const MOST: usize = 10_000;

/// Number of its table, from 0, and its step if it is one of a step.
type Where = (Option<usize>, usize);

impl Plan {
    /// True if the plan runs commands of the site.
    pub fn has_actions(&self) -> bool {
        !self.actions.is_empty() || self.steps.iter().any(|step| !step.common.actions.is_empty())
    }

    /// The actions that run during steps side by side, those of the plan first.
    pub(crate) fn actions_of<'a>(&'a self, group: &'a [Step]) -> impl Iterator<Item = &'a PlanAction> {
        let own = group.iter().flat_map(|step| &step.common.actions);
        self.actions.iter().chain(own)
    }

    /// Refuses actions that the steps, in their present length, cannot have.
    ///
    /// # Errors
    /// The first of them, with its line.
    pub fn check_actions(&self) -> Result<(), PlanError> {
        self.refused_action().map_err(|refusal| PlanError::Invalid {
            name: self.name.clone(),
            problem: refusal.in_text(&self.text),
        })
    }

    fn refused_action(&self) -> Result<(), Refusal> {
        if !self.has_actions() {
            return Ok(());
        }
        if self.matrix.is_some() {
            let problem = "a matrix has no actions: measure them in a plan without [matrix]";
            return Err(self.refusal((None, 0), "name", problem));
        }
        let mut first = 0;
        for group in self.groups() {
            self.check_group(first, group)?;
            first += group.len();
        }
        Ok(())
    }

    fn check_group(&self, first: usize, group: &[Step]) -> Result<(), Refusal> {
        let of_plan = self.actions.iter().enumerate().map(|(at, action)| ((None, at), action));
        let of_steps = group.iter().enumerate().flat_map(|(step, one)| {
            let own = one.common.actions.iter().enumerate();
            own.map(move |(at, action)| ((Some(first + step), at), action))
        });
        let all: Vec<(Where, &PlanAction)> = of_plan.chain(of_steps).collect();
        let length_ns = group[0].common.duration.0;
        for (number, (place, action)) in all.iter().enumerate() {
            if all[..number].iter().any(|(_, other)| other.name == action.name) {
                let problem = format!("\"{}\": two actions of a step have this name", action.name);
                return Err(self.refusal(*place, "name", problem));
            }
            if self.lists_networks() && group[0].measure.compares_networks() {
                let problem = format!(
                    "action \"{}\": the step \"{}\" measures over networks in turn, and an action is only under one of them: leave [bed] out",
                    action.name,
                    group[0].name()
                );
                return Err(self.refusal(*place, "name", problem));
            }
            let due = action.due_ns(length_ns);
            if due.len() > MOST {
                let problem = format!(
                    "action \"{}\": {} times in a step: at most {MOST}",
                    action.name,
                    due.len()
                );
                return Err(self.refusal(*place, "every", problem));
            }
            let is_late = |due_ns: &u64| *due_ns >= length_ns;
            if due.is_empty() || due.iter().any(is_late) {
                let key = if due.is_empty() { "every" } else { "at" };
                let problem = format!(
                    "action \"{}\": it would be due after the end of the step \"{}\", which lasts {}",
                    action.name,
                    group[0].name(),
                    Ns(length_ns)
                );
                return Err(self.refusal(*place, key, problem));
            }
        }
        Ok(())
    }

    fn refusal(&self, (step, at): Where, key: &str, problem: impl Into<String>) -> Refusal {
        // The tables of a step's actions are found by their number in the whole text.
        let before = |step: usize| {
            self.steps[..step]
                .iter()
                .map(|step| step.common.actions.len())
                .sum::<usize>()
        };
        match step {
            None if !self.actions.is_empty() => Refusal::of_one("action", at, key, problem),
            None => Refusal::of_one("step.action", 0, key, problem),
            Some(step) => Refusal::of_one("step.action", before(step) + at, key, problem),
        }
    }

    /// Checks that the programs of the actions are there.
    ///
    /// # Errors
    /// The first that is not, with a remedy.
    pub fn check_programs(&self) -> Result<(), String> {
        let of_steps = self.steps.iter().flat_map(|step| &step.common.actions);
        for action in self.actions.iter().chain(of_steps) {
            let commands = std::iter::once(&action.run).chain(&action.undo);
            for words in commands {
                let told = |why: String| format!("action \"{}\": {}: {why}", action.name, words[0]);
                program::find(&words[0]).map_err(told)?;
            }
        }
        Ok(())
    }
}
