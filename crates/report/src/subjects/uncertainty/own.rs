//! The budgets of an instrument alone, without a run: for figures of a typical length.

use super::{UncertaintySection, document};
use crate::Report;
use crate::section::Section;
use crate::terminal::Paint;
use model::{
    Counters, Fact, Kind, Rows, RunInfo, RunState, RunView, SeriesClock, SeriesId, SeriesSpec, SeriesView, kind,
};
use serde_json::Value;
use stats::Histogram;
use units::Realtime;

/// Length of the figures in ns: a tenth of the shortest limits on latencies at an application.
const TYPICAL_NS: i64 = 100_000;

/// Kinds with different budgets, and whether their samples are on two clocks of one machine.
const KINDS: [(&Kind, SeriesClock); 6] = [
    (&kind::WAKEUP, SeriesClock::Monotonic),
    (&kind::NOISE, SeriesClock::Monotonic),
    (&kind::RTT, SeriesClock::Monotonic),
    (&kind::TASK, SeriesClock::Monotonic),
    (&kind::SPACING, SeriesClock::Realtime),
    (&kind::TRIP, SeriesClock::Realtime),
];

/// The budgets of an instrument.
pub struct OwnBudgets {
    report: Report,
}

impl OwnBudgets {
    /// The budgets of an instrument with these facts, for figures of 100 us.
    pub fn of(facts: Vec<Fact>) -> Self {
        let series = KINDS.iter().map(|(kind, clock)| series(kind, *clock));
        let run = RunView {
            info: RunInfo {
                id: String::new(),
                command: "calibrate".to_owned(),
                arguments: Vec::new(),
                tool_version: String::new(),
                started: Realtime::from_ns(0),
                window_ns: 1,
            },
            state: RunState::Complete,
            duration_ns: 0,
            file: std::path::PathBuf::new(),
            series: series.collect(),
            events: Rows::default(),
            shots: Vec::new(),
            along: Vec::new(),
            readings: Vec::new(),
            facts,
            actions: Vec::new(),
            changes: Vec::new(),
            watches: Vec::new(),
            last_facts: Vec::new(),
            lacks: Vec::new(),
            lacks_log: None,
        };
        Self {
            report: Report::new(run, Vec::new()),
        }
    }

    /// As in the field `uncertainty` of a result document.
    ///
    /// # Errors
    /// A value that JSON cannot represent, which is not possible for our values.
    pub fn json(&self) -> serde_json::Result<Value> {
        serde_json::to_value(document::entries(&self.report))
    }

    /// As a table for a terminal; empty if nothing is known.
    pub fn text(&self) -> String {
        UncertaintySection.text(&self.report, &Paint { colour: false })
    }
}

fn series(kind: &'static Kind, clock: SeriesClock) -> SeriesView {
    SeriesView {
        id: SeriesId(0),
        spec: SeriesSpec {
            clock,
            ..SeriesSpec::of(kind, "any", "")
        },
        counters: Counters::default(),
        sum_ns: 0,
        min_ns: None,
        max_ns: Some(TYPICAL_NS),
        spikes_dropped: 0,
        histogram: Histogram::new(),
        windows: Rows::default(),
        spikes: Rows::default(),
        spikes_kept: 0,
        causes: Vec::new(),
    }
}
