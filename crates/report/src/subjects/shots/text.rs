//! Tasks along the shots, for a terminal.

use super::{HEADS, MEANING};
use crate::Report;
use crate::terminal::{Align, Paint, TextTable, section, wrapped};

/// Columns of the explanation under the table.
const WIDTH: usize = 96;

/// One line for each fault pattern; empty if no relay was measured along the shots.
pub(super) fn patterns(report: &Report, paint: &Paint) -> String {
    let all = super::patterns(&report.run);
    let mut table = TextTable::new(&[(HEADS[0], Align::Left)]);
    for head in &HEADS[1..] {
        table.columns(&[(head, Align::Right)]);
    }
    for pattern in &all {
        table.row(pattern.cells().to_vec());
    }
    match all.is_empty() {
        true => String::new(),
        false => {
            let meaning = wrapped(MEANING, WIDTH).join("\n  ");
            format!("{}  {meaning}\n", section(paint, "Relays during the shots", &table))
        }
    }
}
