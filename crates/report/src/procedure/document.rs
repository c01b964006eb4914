//! Steps and deviations in the result document.

use super::steps::{StepRow, rows};
use crate::Report;
use crate::document::seconds;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct ProcedureEntry {
    /// Name of the plan; null without one.
    plan: Option<String>,
    loads: Vec<String>,
    /// Steps of the plan, and steps that were begun in this run.
    planned: usize,
    ran: usize,
    steps: Vec<StepEntry>,
    deviations: Vec<DeviationEntry>,
}

#[derive(Serialize)]
struct StepEntry {
    number: usize,
    does: String,
    settings: String,
    planned_start_s: Option<f64>,
    planned_s: Option<f64>,
    asked_s: Option<f64>,
    start_s: Option<f64>,
    end_s: Option<f64>,
    measured_s: f64,
    state: &'static str,
    limits: Vec<LimitEntry>,
}

#[derive(Serialize)]
struct LimitEntry {
    limit: String,
    verdict: &'static str,
}

#[derive(Serialize)]
struct DeviationEntry {
    number: usize,
    what: String,
    place: String,
    effect: String,
}

pub(super) fn procedure(report: &Report) -> ProcedureEntry {
    let steps = rows(report);
    let plan = report.procedure.plan.as_ref();
    let deviations = report.deviations().into_iter().enumerate();
    ProcedureEntry {
        plan: plan.map(|plan| plan.name.clone()),
        loads: plan.map(|plan| plan.loads.clone()).unwrap_or_default(),
        planned: plan.map_or(0, |plan| plan.steps.len()),
        ran: steps.iter().filter(|row| row.state.has_run()).count(),
        steps: steps.iter().map(step).collect(),
        deviations: deviations
            .map(|(at, each)| DeviationEntry {
                number: at + 1,
                what: each.what,
                place: each.place,
                effect: each.effect,
            })
            .collect(),
    }
}

fn step(row: &StepRow<'_>) -> StepEntry {
    let limits = row.limits.iter();
    StepEntry {
        number: row.number,
        does: row.does().to_owned(),
        settings: row.planned.map(|step| step.settings.clone()).unwrap_or_default(),
        planned_start_s: row.planned.map(|_| seconds(row.earliest_ns)),
        planned_s: row.planned.map(|step| seconds(step.planned_ns)),
        asked_s: row.planned.map(|step| seconds(step.asked_ns)),
        start_s: row.span.map(|(began_ns, _)| seconds(began_ns)),
        end_s: row.span.and_then(|(_, ended_ns)| ended_ns).map(seconds),
        measured_s: seconds(row.measured_ns),
        state: row.state.word(),
        limits: limits
            .map(|(limit, verdict)| LimitEntry {
                limit: limit.clone(),
                verdict: verdict.word(),
            })
            .collect(),
    }
}
