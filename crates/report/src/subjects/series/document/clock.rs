//! The two clocks of a one-way series.

use crate::document::seconds;
use crate::one_way::OneWay;
use model::Doubtful;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub(super) struct ClockEntry {
    uncertainty: Option<u64>,
    uncertainty_text: String,
    windows_in_doubt: usize,
    clock_faults: usize,
    doubtful: Vec<DoubtfulEntry>,
}

#[derive(Debug, Clone, Serialize)]
struct DoubtfulEntry {
    from_s: f64,
    to_s: Option<f64>,
    why: String,
}

impl ClockEntry {
    pub(super) fn of(clocks: &OneWay) -> Self {
        let entry = |span: &Doubtful| DoubtfulEntry {
            from_s: seconds(span.from_ns),
            to_s: span.to_ns.map(seconds),
            why: span.why.clone(),
        };
        Self {
            uncertainty: clocks.uncertainty.as_ref().ok().map(|known| known.ns),
            uncertainty_text: match &clocks.uncertainty {
                Ok(known) => known.what.clone(),
                Err(why) => why.clone(),
            },
            windows_in_doubt: clocks.touched,
            clock_faults: clocks.faulty,
            doubtful: clocks.doubtful.iter().map(entry).collect(),
        }
    }
}
