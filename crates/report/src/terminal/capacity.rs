//! The answer of a search for what the host holds.

use super::{Align, Paint, Table};
use crate::Report;
use crate::capacity::Capacity;
use std::fmt::Write;

pub(super) fn capacity(report: &Report, paint: &Paint) -> String {
    let Some(capacity) = &report.capacity else {
        return String::new();
    };
    let mut out = format!("{}\n", paint.heading("Capacity"));
    for line in capacity.lines() {
        let _ = writeln!(out, "  {line}");
    }
    let [streams, kind, attempts, failed, _] = Capacity::HEADS;
    let mut table = Table::new(&[(streams, Align::Right), (kind, Align::Left), (attempts, Align::Right)]);
    table.columns(&[(failed, Align::Right)]);
    for [streams, kind, attempts, failed, gave_way] in capacity.rows() {
        table.row(vec![streams, kind, attempts, failed]);
        table.note(&gave_way);
    }
    out + &table.text()
}
