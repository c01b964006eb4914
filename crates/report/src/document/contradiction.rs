//! Where the run file contradicts itself, in the result document.

use crate::Report;
use crate::contradiction::Contradiction;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub(super) struct ContradictionEntry {
    series: String,
    text: String,
}

pub(super) fn contradictions(report: &Report) -> Vec<ContradictionEntry> {
    let entry = |found: &Contradiction| ContradictionEntry {
        series: found.series.clone(),
        text: found.text.clone(),
    };
    report.judgement.contradictions.iter().map(entry).collect()
}
