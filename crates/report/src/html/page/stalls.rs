//! Stalls as the page shows them.

use crate::Report;
use crate::html::timeline;
use crate::stall::{LISTED, Stall, sentence};
use units::format_ns;

pub(crate) struct StallsPart {
    pub(crate) sentence: String,
    pub(crate) rows: Vec<StallRow>,
    /// A drawing of the CPUs around the longest recorded stall.
    pub(crate) timeline_svg: Option<String>,
}

pub(crate) struct StallRow {
    pub(crate) at: String,
    pub(crate) size: String,
    pub(crate) cpus: String,
    pub(crate) why: String,
    /// The explanation of its longest sample; may be empty.
    pub(crate) text: String,
}

impl StallsPart {
    /// Of a run that had any.
    pub(super) fn of(report: &Report) -> Option<Self> {
        Some(Self {
            sentence: sentence(report)?,
            timeline_svg: report.timeline.as_ref().map(timeline::drawing),
            rows: report
                .stalls
                .iter()
                .take(LISTED)
                .map(|stall| row(report, stall))
                .collect(),
        })
    }
}

fn row(report: &Report, stall: &Stall) -> StallRow {
    StallRow {
        at: format_ns(stall.from_ns as f64),
        size: stall.size(),
        cpus: stall.cpus_text(),
        why: stall.why(&report.run),
        text: stall
            .explanation
            .as_ref()
            .map(|why| why.text.clone())
            .unwrap_or_default(),
    }
}
