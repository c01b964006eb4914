//! An audit in full, as text.

use super::AuditReport;
use super::row::Row;
use crate::terminal::{Paint, wrapped};
use audit::finding::Outcome;
use std::fmt::Write;

/// Columns of the text.
const COLUMNS: usize = 120;
/// Where a finding's texts begin.
const INDENT: usize = 12;

impl AuditReport {
    /// Every finding by group, with ANSI colours when `colour` is set. `all`: also those that do not apply.
    pub fn text(&self, colour: bool, all: bool) -> String {
        let paint = Paint { colour };
        let mut out = self.head(&paint).join("\n") + "\n";
        for (name, value) in &self.environment {
            let _ = match value {
                Ok(value) => writeln!(out, "{name}: {value}"),
                Err(reason) => writeln!(out, "{name}: unknown, {reason}"),
            };
        }
        let mut groups: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !groups.contains(&row.group) {
                groups.push(row.group);
            }
        }
        for group in groups {
            let rows = self.rows.iter().filter(|row| row.group == group);
            let rows: Vec<&Row> = rows
                .filter(|row| all || row.outcome != Outcome::NotApplicable)
                .collect();
            if rows.is_empty() {
                continue;
            }
            let _ = writeln!(out, "\n{}", paint.heading(group));
            for row in rows {
                finding(&mut out, row);
            }
        }
        let _ = writeln!(out, "\n{}", paint.heading("CPUs"));
        out + &self.map_text()
    }
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
