//! The interfaces used by the run, for a terminal.

use super::{HEADINGS, of};
use crate::Report;
use crate::terminal::{Align, Paint, TextTable, section};

/// One line for each interface.
pub(super) fn interfaces(report: &Report, paint: &Paint) -> String {
    let mut table = TextTable::new(&[("interface", Align::Left)]);
    table.columns(&HEADINGS.map(|heading| (heading, Align::Left)));
    for nic in of(&report.run) {
        let cells = std::iter::once(nic.name.to_owned()).chain(nic.cells());
        table.row(cells.collect());
    }
    section(paint, "Interfaces", &table)
}
