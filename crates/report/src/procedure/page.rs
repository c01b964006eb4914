//! Step list and table of deviations in the page: on the screen, and on paper with room for initials and remarks.

use super::sentence;
use super::steps::{StepRow, rows};
use crate::Report;
use crate::screen::limits::State;
use askama::Template;
use model::PlannedStep;
use units::Ns;

#[derive(Template)]
#[template(path = "procedure.html")]
struct Html {
    is_paper: bool,
    sentence: String,
    loads: Vec<String>,
    steps: Vec<StepPart>,
    deviations: Vec<DeviationPart>,
}

struct StepPart {
    number: usize,
    does: String,
    settings: String,
    planned: String,
    planned_start: String,
    began: String,
    measured: String,
    outcome: String,
    /// Sign and colour, and name of each limit.
    limits: Vec<(&'static str, &'static str, String)>,
}

struct DeviationPart {
    number: usize,
    what: String,
    place: String,
    effect: String,
}

/// The section for the screen.
pub(super) fn html(report: &Report) -> askama::Result<String> {
    of(report, false).render()
}

/// The same two tables for the printed record, with columns that are filled in by hand.
pub(crate) fn on_paper(report: &Report) -> askama::Result<String> {
    of(report, true).render()
}

fn of(report: &Report, is_paper: bool) -> Html {
    let steps = rows(report);
    let deviations = report.deviations().into_iter().enumerate();
    let plan = report.procedure.plan.as_ref();
    Html {
        is_paper,
        sentence: sentence(report, &steps),
        loads: plan.map(|plan| plan.loads.clone()).unwrap_or_default(),
        steps: steps.iter().map(step).collect(),
        deviations: deviations
            .map(|(at, each)| DeviationPart {
                number: at + 1,
                what: each.what,
                place: each.place,
                effect: each.effect,
            })
            .collect(),
    }
}

fn step(row: &StepRow<'_>) -> StepPart {
    let limits = row.limits.iter();
    StepPart {
        number: row.number,
        does: row.does().to_owned(),
        settings: row.planned.map(|step| step.settings.clone()).unwrap_or_default(),
        planned: row.planned.map_or_else(dash, planned),
        planned_start: row.planned.map_or_else(dash, |_| start(row.earliest_ns)),
        began: row.span.map_or_else(dash, |(began_ns, _)| start(began_ns)),
        measured: match row.measured_ns {
            0 => dash(),
            ns => Ns(ns).to_string(),
        },
        outcome: row.state.word().to_owned(),
        limits: limits
            .map(|(id, verdict)| (State::of(*verdict).sign(), verdict.word(), id.clone()))
            .collect(),
    }
}

/// The time in the plan's file, and the one that the command line asked for instead.
fn planned(step: &PlannedStep) -> String {
    match step.asked_ns == step.planned_ns {
        true => Ns(step.planned_ns).to_string(),
        false => format!("{}; asked for {}", Ns(step.planned_ns), Ns(step.asked_ns)),
    }
}

/// An instant since the run's start.
fn start(ns: u64) -> String {
    match ns {
        0 => "0 s".to_owned(),
        ns => Ns(ns).to_string(),
    }
}

fn dash() -> String {
    "–".to_owned()
}
