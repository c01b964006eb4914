//! Stalls as the page shows them.

use crate::Report;
use crate::html::timeline;
use crate::stall::Stall;
use crate::text::{count, plural};
use units::format_ns;

/// Stalls that are listed, the longest.
const LISTED: usize = 6;

pub(crate) struct StallsPart {
    pub(crate) sentence: String,
    pub(crate) rows: Vec<StallRow>,
    /// What ran on which CPU around the longest of which that was recorded.
    pub(crate) timeline_svg: Option<String>,
}

pub(crate) struct StallRow {
    pub(crate) at: String,
    pub(crate) size: String,
    pub(crate) cpus: String,
    pub(crate) why: String,
    /// What the explanation of its longest sample says; may be empty.
    pub(crate) text: String,
}

impl StallsPart {
    /// Of a run that had any.
    pub(super) fn of(report: &Report) -> Option<Self> {
        let stalls = &report.stalls;
        let samples: u64 = stalls.iter().map(|stall| stall.samples).sum();
        let dropped: u64 = report.run.series.iter().map(|series| series.spikes_dropped).sum();
        let more = match stalls.len().saturating_sub(LISTED) {
            0 => String::new(),
            _ => format!(" The {LISTED} longest are listed."),
        };
        let not_kept = match dropped {
            0 => String::new(),
            n => format!(
                " {} over their limits were not kept one by one, and are in none.",
                plural(n, "sample")
            ),
        };
        (!stalls.is_empty()).then(|| Self {
            sentence: format!(
                "Samples over their limits that waited at the same time are one stall: {} samples, {}.{more}{not_kept}",
                count(samples),
                plural(stalls.len() as u64, "stall"),
            ),
            timeline_svg: report.timeline.as_ref().map(timeline::drawing),
            rows: stalls.iter().take(LISTED).map(|stall| row(report, stall)).collect(),
        })
    }
}

fn row(report: &Report, stall: &Stall) -> StallRow {
    let cpus: Vec<String> = stall.cpus.iter().map(u32::to_string).collect();
    StallRow {
        at: format_ns(stall.from_ns as f64),
        size: stall.size(),
        cpus: cpus.join(", "),
        why: stall.why(&report.run),
        text: stall
            .explanation
            .as_ref()
            .map(|why| why.text.clone())
            .unwrap_or_default(),
    }
}
