//! Where the run file contradicts itself.

use super::Paint;
use super::table::{Align, Table};
use crate::Report;

/// Findings that are listed.
const LISTED: usize = 20;

pub(super) fn contradictions(report: &Report, paint: &Paint) -> String {
    let found = &report.judgement.contradictions;
    let mut table = Table::new(&[("series", Align::Left)]);
    for one in found.iter().take(LISTED) {
        table.row(vec![one.series.clone()]);
        table.note(&one.text);
    }
    if found.len() > LISTED {
        table.note(&format!("and {} more", found.len() - LISTED));
    }
    super::section(
        paint,
        "The run file contradicts itself: nothing in these series is decided",
        &table,
    )
}
