//! The result of a search for the host's capacity.

use super::{Capacity, Search};
use crate::bound::CONFIDENCE;
use crate::document::seconds;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub(super) struct CapacityEntry {
    /// `null` if no number of streams succeeded.
    streams: Option<u16>,
    answer: String,
    verdict: Option<&'static str>,
    limited_by: &'static str,
    limited_at: Option<u16>,
    what_gave_way: Option<String>,
    hold: HoldEntry,
    #[serde(flatten)]
    search: Search,
}

#[derive(Debug, Clone, Serialize)]
struct HoldEntry {
    sent_for_s: f64,
    frames_sent: u64,
    frames_left_out: u64,
    frames_lost: u64,
    samples: u64,
    samples_over: u64,
    task_failures: u64,
    confidence: f64,
    loss_probability: f64,
    over_probability: f64,
}

impl CapacityEntry {
    pub(super) fn of(capacity: &Capacity) -> Self {
        let (hold, limit) = (&capacity.hold, capacity.limited_by());
        Self {
            streams: capacity.streams(),
            answer: capacity.sentence(),
            verdict: capacity.verdict().map(crate::verdict::Verdict::word),
            limited_by: limit.map_or("max", |(_, gave_way)| gave_way.part.word()),
            limited_at: limit.map(|(streams, _)| streams),
            what_gave_way: limit.map(|(_, gave_way)| gave_way.what.clone()),
            hold: HoldEntry {
                sent_for_s: seconds(hold.sent_for_ns),
                frames_sent: hold.sent,
                frames_left_out: hold.left_out,
                frames_lost: hold.lost,
                samples: hold.samples,
                samples_over: hold.over,
                task_failures: hold.task_failures,
                confidence: CONFIDENCE,
                loss_probability: hold.loss_below(),
                over_probability: hold.over_below(),
            },
            search: capacity.search.clone(),
        }
    }
}
