//! Reading a plan: every key checked, every refusal with file, line and key.

mod cells;
mod rules;
mod wrong;

use crate::EMBEDDED;
use crate::file::Plan;
use crate::step::Step;
use crate::value::PlanError;
use std::path::Path;
use units::{LONGEST_NS, format_ns};

impl Plan {
    /// The plan called `name`: one of those inside the binary, or a file.
    ///
    /// # Errors
    /// No such plan, or what is wrong in it, with line, column and key.
    pub fn load(name: &str) -> Result<Self, PlanError> {
        if let Some((_, text)) = EMBEDDED.iter().find(|(embedded, _)| *embedded == name) {
            return Self::parse(name, text);
        }
        if !Path::new(name).exists() {
            let have: Vec<&str> = EMBEDDED.iter().map(|(name, _)| *name).collect();
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
    /// The mistake in the text, with line, column and key.
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
        rules::beside(&plan).map_err(invalid)?;
        if let Some(name) = rules::twice(&plan.steps) {
            return Err(invalid(format!(
                "two steps measure {name}: give them different labels (label = \"...\")"
            )));
        }
        if let Some(bed) = &plan.bed {
            rules::networks(bed, &plan.steps).map_err(invalid)?;
        }
        rules::management(&plan).map_err(invalid)?;
        rules::loads(&plan).map_err(invalid)?;
        rules::devices(&plan).map_err(invalid)?;
        rules::faults(&plan.faults, plan.bed.as_ref(), &plan.steps).map_err(invalid)?;
        text.clone_into(&mut plan.text);
        plan.check_length()?;
        if let Some(matrix) = &plan.matrix {
            cells::check(matrix, &plan).map_err(invalid)?;
        }
        Ok(plan)
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
}

#[cfg(test)]
mod tests;
