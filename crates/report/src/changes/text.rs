//! Changes of the machine, for a terminal.

use super::{LISTED, Row, rows, sentence, unread};
use crate::Report;
use crate::terminal::{Align, Paint, TextTable, wrapped};
use std::fmt::Write;
use units::Ns;

/// Width of the sentences, in columns.
const COLUMNS: usize = 98;

/// One line for each change, after a sentence about the watch; empty if nothing was watched.
pub(super) fn changes(report: &Report, paint: &Paint) -> String {
    let rows = rows(report);
    let Some(sentence) = sentence(report, rows.len()) else {
        return String::new();
    };
    let mut out = format!("{}\n", paint.heading("Changes of the machine"));
    let unread = unread(report).into_iter().map(|why| format!("Not watched: {why}."));
    for text in std::iter::once(sentence).chain(unread) {
        for line in wrapped(&text, COLUMNS) {
            let _ = writeln!(out, "  {line}");
        }
    }
    if rows.is_empty() {
        return out;
    }
    let mut table = TextTable::new(&[("at", Align::Right), ("changed", Align::Left), ("by", Align::Left)]);
    table.columns(&[("worst sample then", Align::Left)]);
    for row in rows.iter().take(LISTED) {
        table.row(cells(row));
        table.note(&row.change.step());
    }
    out + &table.text()
}

fn cells(row: &Row<'_>) -> Vec<String> {
    vec![
        Ns(row.change.at_ns).to_string(),
        row.what(),
        row.who().to_owned(),
        row.sample_text(),
    ]
}
