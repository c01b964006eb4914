//! The findings of an audit for a terminal.

use crate::audit::AuditReport;
use crate::audit::row::Row;
use crate::terminal::{Paint, wrapped};
use audit::finding::Outcome;
use std::fmt::Write;

/// Width of the text in columns.
const COLUMNS: usize = 120;
/// Column at which a finding's texts begin.
const INDENT: usize = 12;

/// The findings by group; with `all`, also those that do not apply.
pub(super) fn text(report: &AuditReport, paint: &Paint, all: bool) -> String {
    let mut groups: Vec<&str> = Vec::new();
    for row in &report.rows {
        if !groups.contains(&row.group) {
            groups.push(row.group);
        }
    }
    let parts = groups.iter().map(|group| {
        let of_group = report.rows.iter().filter(|row| row.group == *group);
        let rows = of_group.filter(|row| all || row.outcome != Outcome::NotApplicable);
        part(&paint.heading(group), &rows.collect::<Vec<_>>())
    });
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// A group, if it has findings.
fn part(heading: &str, rows: &[&Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut out = format!("{heading}\n");
    rows.iter().for_each(|row| finding(&mut out, row));
    out
}

fn finding(out: &mut String, row: &Row) {
    let _ = writeln!(
        out,
        "  {:<8}  {} ({}): {}",
        row.outcome.word(),
        row.id,
        row.severity.word(),
        row.title
    );
    let is_open = matches!(
        row.outcome,
        Outcome::Fail | Outcome::Warn | Outcome::Unknown | Outcome::Waived
    );
    let booted = row.booted.clone().unwrap_or_default();
    let lines = [
        ("reason", row.reason.as_str(), true),
        ("wanted", &row.wanted, is_open),
        ("booted", &booted, is_open),
        ("live", &row.live, true),
        ("why", &row.why, is_open),
        ("worth", &row.worth, is_open),
        ("how", &format!("{} ({})", row.how, row.change), is_open),
        ("risk", &row.risk, is_open),
        ("sources", &row.sources.join("; "), is_open),
    ];
    for (name, text, is_shown) in lines {
        if is_shown && !text.is_empty() {
            labelled(out, name, text);
        }
    }
    for trap in row.traps.iter().filter(|_| is_open) {
        labelled(out, "beware", trap);
    }
}

fn labelled(out: &mut String, name: &str, text: &str) {
    for (at, line) in wrapped(text, COLUMNS - INDENT - 9).iter().enumerate() {
        let name = if at == 0 { name } else { "" };
        let _ = writeln!(out, "{:INDENT$}{name:<9}{line}", "");
    }
}
