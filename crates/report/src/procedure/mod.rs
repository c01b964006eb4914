//! The procedure of a run as a protocol: the steps of its plan and their outcome, and every deviation from plan and procedure. All of
//! it follows from the run file.

mod deviations;
mod document;
mod page;
mod steps;
#[cfg(test)]
mod tests;

use crate::Report;
use crate::section::{Fields, Link, Section};
use crate::text::plural;
pub use deviations::Deviation;
use model::PlannedStep;
pub(crate) use page::on_paper;
use std::io;
pub(crate) use steps::by_step;
use steps::{State, StepRow};
use units::foreign::Show;

/// The procedure that a run was to follow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Procedure {
    /// Its plan; `None`: the run followed none, its command line is the procedure.
    pub plan: Option<PlanOfRun>,
    /// Deviations of the plan, the limits and the options as a whole.
    pub deviations: Vec<Deviation>,
}

/// The plan of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanOfRun {
    /// Its name.
    pub name: String,
    /// Its steps, in order; those side by side are one.
    pub steps: Vec<PlannedStep>,
    /// Number of the first steps that an earlier run file has, because the machine was started again.
    pub before: usize,
    /// True if the first step in this file was begun in an earlier one, and continues here.
    pub is_rest: bool,
    /// Loads during all steps.
    pub loads: Vec<String>,
}

/// The section of the report.
pub(crate) struct ProcedureSection;

impl Section for ProcedureSection {
    fn html(&self, report: &Report) -> askama::Result<String> {
        page::html(report)
    }

    fn links(&self, _: &Report) -> Vec<Link> {
        vec![Link::to("procedure", "Steps and deviations")]
    }

    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        fields.field("procedure", document::procedure(report))
    }
}

impl Report {
    /// Adds the procedure that the run was to follow.
    pub fn with_procedure(mut self, procedure: Procedure) -> Self {
        self.procedure = procedure;
        self
    }

    /// Every deviation from plan and procedure, in the order of the table on paper.
    pub fn deviations(&self) -> Vec<Deviation> {
        deviations::of(self)
    }
}

/// Such as `Plan quick: 5 steps planned, 4 ran, 1 of them cut short.`
fn sentence(report: &Report, rows: &[StepRow<'_>]) -> String {
    let Some(plan) = &report.procedure.plan else {
        return "The run followed no plan: no steps were planned. Its command line is the procedure.".to_owned();
    };
    let n = |is: &dyn Fn(State) -> bool| rows.iter().filter(|row| is(row.state)).count() as u64;
    let planned = plural(plan.steps.len() as u64, "step");
    let mut text = format!("Plan {}: {planned} planned, {} ran", plan.name, n(&State::has_run));
    for (count, words) in [
        (n(&|state| state == State::CutShort), "of them cut short"),
        (n(&|state| state == State::LeftOut), "left out by --step"),
        (n(&|state| state == State::Before), "measured in an earlier run file"),
        (n(&|state| state == State::NotInPlan), "not in the plan"),
    ] {
        if count > 0 {
            text += &format!(", {count} {words}");
        }
    }
    text + "."
}

impl Show for Procedure {
    fn show(&mut self) {
        if let Some(plan) = &mut self.plan {
            plan.name.show();
            plan.loads.show();
            for step in &mut plan.steps {
                step.does.show();
                step.settings.show();
            }
        }
        self.deviations.show();
    }
}

impl Show for Deviation {
    fn show(&mut self) {
        self.what.show();
        self.place.show();
        self.effect.show();
    }
}
