//! Changes of the machine, for a terminal.

use super::drift::{drift, value};
use super::{LISTED, Row, audited, rows, sentence, unread};
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
    for text in std::iter::once(sentence).chain(audited(report)).chain(unread) {
        for line in wrapped(&text, COLUMNS) {
            let _ = writeln!(out, "  {line}");
        }
    }
    out += &differences(report);
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

/// One line for each fact that the last audit found different.
fn differences(report: &Report) -> String {
    let mut table = TextTable::new(&[
        ("fact", Align::Left),
        ("first audit", Align::Left),
        ("last audit", Align::Left),
    ]);
    for one in drift(report).iter().take(LISTED) {
        let before = one.before.map_or_else(|| "not there".to_owned(), value);
        table.row(vec![format!("{}, {}", one.group, one.name), before, value(one.after)]);
    }
    if table.is_empty() { String::new() } else { table.text() }
}

fn cells(row: &Row<'_>) -> Vec<String> {
    vec![
        Ns(row.change.at_ns).to_string(),
        row.what(),
        row.who().to_owned(),
        row.sample_text(),
    ]
}
