//! What a matrix will measure here, and what it leaves out.

use super::Course;
use crate::failure::Failure;
use crate::verdict::write;
use lab::matrix::expected_ns;
use lab::plan::{Cell, Roles};
use std::fmt::Write;
use units::format_ns;

/// Prints it; returns the exit status.
pub(super) fn show(course: &Course, roles: &Roles) -> Result<u8, Failure> {
    write(&text(course, roles))?;
    Ok(0)
}

fn text(course: &Course, roles: &Roles) -> String {
    let (plan, chosen) = (&course.plan, &course.chosen);
    let mut out = format!("{}: {}\n", plan.name, plan.what);
    let round_ns: u64 = chosen.cells.iter().map(|cell| expected_ns(plan, cell)).sum();
    let budget = course.budget_ns.map(|ns| format!(" (budget {})", format_ns(ns as f64)));
    let _ = writeln!(
        out,
        "{} cells, each measured {} times of at most {}: about {}{}; limits: {}",
        chosen.cells.len(),
        chosen.rounds,
        course.repetitions,
        format_ns(round_ns as f64 * f64::from(chosen.rounds)),
        budget.unwrap_or_default(),
        plan.limits
    );
    for line in roles.lines() {
        let _ = writeln!(out, "{line}");
    }
    let mut list = |heading: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let _ = writeln!(out, "{heading}");
            lines.iter().for_each(|line| {
                let _ = writeln!(out, "  {line}");
            });
        }
    };
    let time = |cell: &Cell| format_ns(expected_ns(plan, cell) as f64);
    list(
        "Cells, in another order in each round",
        chosen
            .cells
            .iter()
            .map(|cell| format!("{}: about {}", cell.words(), time(cell)))
            .collect(),
    );
    let here = course
        .left_out
        .iter()
        .map(|one| format!("{}: {}", one.cell.words(), one.why));
    let no_time = chosen
        .left_out
        .iter()
        .map(|(cell, why)| format!("{}: {why}", cell.words()));
    list("Left out", here.chain(no_time).collect());
    list(
        "Steps of each",
        plan.steps
            .iter()
            .map(|step| format!("{}: {}", step.name(), format_ns(step.common.duration.0 as f64)))
            .collect(),
    );
    out
}
