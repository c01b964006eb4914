//! Outline of a matrix: the cells that will be measured here, and those that are left out.

use crate::failure::Failure;
use crate::verdict::write;
use campaign::matrix::Course;
use matrix::expected_ns;
use plan::{Cell, Roles};
use std::fmt::Write;
use units::format_ns;

/// Prints the outline, with the kernel of the guests if there are any; returns the exit status.
pub(super) fn show(course: &Course, roles: &Roles, kernel: Option<&str>) -> Result<u8, Failure> {
    write(&text(course, roles, kernel))?;
    Ok(0)
}

fn text(course: &Course, roles: &Roles, kernel: Option<&str>) -> String {
    let (plan, chosen) = (&course.plan, &course.chosen);
    let mut out = format!("{}: {}\n", plan.name, plan.what);
    let needed = chosen.cells.iter().map(|cell| expected_ns(plan, cell));
    let round_ns = needed.fold(0, u64::saturating_add);
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
    let has_guests = chosen.cells.iter().any(|cell| cell.place.is_in_guest());
    if let Some(kernel) = kernel.filter(|_| has_guests) {
        let _ = writeln!(out, "guests boot {kernel}");
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
    let managements = plan.matrix.iter().flat_map(|matrix| &matrix.management);
    list(
        "Management networks, in addition to the process bus",
        managements
            .map(|(name, table)| format!("{name}: {}", table.words()))
            .collect(),
    );
    list("Left out", left_out(course));
    list("Not possible at this moment", course.waiting().into_iter().collect());
    list(
        "Steps of each",
        plan.steps
            .iter()
            .map(|step| format!("{}: {}", step.name(), format_ns(step.common.duration.0 as f64)))
            .collect(),
    );
    out
}

/// Each reason once, with its cells.
fn left_out(course: &Course) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    let here = course.left_out.iter().map(|one| (&one.cell, &one.why));
    let no_time = course.chosen.left_out.iter().map(|(cell, why)| (cell, why));
    for (cell, why) in here.chain(no_time) {
        match reasons.iter_mut().find(|(known, _)| known == why) {
            Some((_, cells)) => cells.push(cell.words()),
            None => reasons.push((why, vec![cell.words()])),
        }
    }
    let text = |(why, cells): (&str, Vec<String>)| format!("{why} ({})", cells.join("; "));
    reasons.into_iter().map(text).collect()
}
