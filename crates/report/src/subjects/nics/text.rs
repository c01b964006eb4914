//! The interfaces that were measured on, for a terminal.

use super::{HEADINGS, of};
use crate::Report;
use crate::terminal::{Align, Paint, TextTable, section};

/// A line for each interface.
pub(super) fn interfaces(report: &Report, paint: &Paint) -> String {
    let mut table = TextTable::new(&[("interface", Align::Left)]);
    table.columns(&HEADINGS.map(|heading| (heading, Align::Left)));
    for nic in of(&report.run) {
        let cells = std::iter::once(nic.name.to_owned()).chain(nic.cells());
        table.row(cells.collect());
    }
    section(paint, "Interfaces", &table)
}
