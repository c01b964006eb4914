//! Reading a plan: every key checked, every refusal with file, line and key.

mod cells;
mod lans;
pub(crate) mod rules;
mod wrong;

use crate::file::Plan;
use crate::refusal::Refusal;
use crate::step::Step;
use crate::value::PlanError;
use crate::{EMBEDDED, embedded_names};
use std::path::Path;
use units::{LONGEST_NS, Ns};

impl Plan {
    /// The plan called `name`: one of those inside the binary, or a file.
    ///
    /// # Errors
    /// There is no such plan, or it has a mistake, which is reported with line, column and key.
    pub fn load(name: &str) -> Result<Self, PlanError> {
        if let Some((_, text)) = EMBEDDED.iter().find(|(embedded, _)| *embedded == name) {
            return Self::parse(name, text);
        }
        if !Path::new(name).exists() {
            return Err(PlanError::NotFound {
                name: name.to_owned(),
                have: embedded_names(),
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
    /// The mistake in the text, with line, column and key.
    pub fn parse(name: &str, text: &str) -> Result<Self, PlanError> {
        let invalid = |problem: String| PlanError::Invalid {
            name: name.to_owned(),
            problem,
        };
        let mut plan: Self = toml::from_str(text).map_err(|error| invalid(wrong::said(text, &error)))?;
        let refused = |refusal: Refusal| invalid(refusal.in_text(text));
        rules::plan(&plan).map_err(refused)?;
        rules::beside(&plan).map_err(refused)?;
        rules::twice(&plan.steps).map_err(refused)?;
        if let Some(bed) = &plan.bed {
            rules::networks(bed, &plan.steps).map_err(refused)?;
        }
        lans::lans(&plan).map_err(refused)?;
        rules::management(&plan).map_err(refused)?;
        rules::loads(&plan).map_err(refused)?;
        rules::devices(&plan).map_err(refused)?;
        rules::relay(&plan).map_err(refused)?;
        rules::faults(&plan.faults, plan.bed.as_ref(), &plan.steps).map_err(refused)?;
        text.clone_into(&mut plan.text);
        plan.check_length()?;
        plan.check_actions()?;
        if let Some(matrix) = &plan.matrix {
            cells::check(matrix, &plan).map_err(refused)?;
        }
        Ok(plan)
    }

    /// Refuses a plan that would take too long; so every sum of its durations is in range.
    ///
    /// # Errors
    /// The plan takes longer than the longest duration; the message names the longest step.
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
        let problem = format!(
            "step \"{name}\": all steps together, over each network and round, take {}: at most {}",
            Ns(total_ns),
            Ns(LONGEST_NS)
        );
        Err(PlanError::Invalid {
            name: self.name.clone(),
            problem: Refusal::of_step(at, "duration", problem).in_text(&self.text),
        })
    }
}

#[cfg(test)]
mod tests;
