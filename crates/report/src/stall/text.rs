//! Stalls as text.

use super::{LISTED, Stall, sentence};
use crate::Report;
use crate::terminal::{Align, Paint, TextTable, wrapped};
use std::fmt::Write;
use units::Ns;

/// Width of the sentence above the table, in columns.
const COLUMNS: usize = 98;

/// The longest stalls, one row each, after a sentence with their number.
pub(super) fn stalls(report: &Report, paint: &Paint) -> String {
    let Some(sentence) = sentence(report) else {
        return String::new();
    };
    let mut out = format!("{}\n", paint.heading("Stalls"));
    for line in wrapped(&sentence, COLUMNS) {
        let _ = writeln!(out, "  {line}");
    }
    let mut table = TextTable::new(&[("at", Align::Right), ("held up", Align::Left), ("CPU", Align::Left)]);
    table.columns(&[("what held it up; other events", Align::Left)]);
    for stall in report.stalls.iter().take(LISTED) {
        table.row(row(report, stall));
        let text = stall.explanation.as_ref().map_or("", |why| why.text.as_str());
        table.note(text);
    }
    out + &table.text()
}

fn row(report: &Report, stall: &Stall) -> Vec<String> {
    let cpus = match stall.cpus_text() {
        cpus if cpus.is_empty() => "–".to_owned(),
        cpus => cpus,
    };
    vec![
        Ns(stall.from_ns).to_string(),
        stall.size(),
        cpus,
        stall.why(&report.run),
    ]
}
