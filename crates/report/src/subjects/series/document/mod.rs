//! Series in the result document.

mod buffer;
mod clock;
mod why;

use crate::Report;
use crate::document::seconds;
use crate::one_way::OneWay;
use buffer::BufferEntry;
use clock::ClockEntry;
use model::{Counter, Figures, SeriesView};
use serde::Serialize;
use why::{CauseEntry, SpikeEntry, StatisticsEntry};

#[derive(Debug, Clone, Serialize)]
pub(super) struct SeriesEntry {
    name: String,
    unit: &'static str,
    /// Counters by their names.
    #[serde(flatten)]
    counters: serde_json::Map<String, serde_json::Value>,
    #[serde(flatten)]
    figures: Figures,
    /// Counters that were added after the first published version.
    #[serde(flatten)]
    more_counters: serde_json::Map<String, serde_json::Value>,
    unaccounted: u64,
    what: String,
    settings: serde_json::Map<String, serde_json::Value>,
    windows: usize,
    exposure_s: f64,
    threshold: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheduled: Option<ScheduledEntry>,
    causes: Vec<CauseEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<StatisticsEntry>,
    spikes: Vec<SpikeEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<ClockEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    listener_buffer: Option<BufferEntry>,
}

#[derive(Debug, Clone, Serialize)]
struct ScheduledEntry {
    #[serde(flatten)]
    figures: Figures,
    activations: u64,
    unplaced: u64,
}

pub(super) fn entry(report: &Report, series: &SeriesView) -> SeriesEntry {
    let settings = series
        .spec
        .settings
        .iter()
        .map(|(name, value)| (name.clone(), value.clone().into()))
        .collect();
    let counted = |counter| count(report, series, counter);
    let is_published = |counter: &Counter| *counter != Counter::Overrun;
    let is_further = |counter: &Counter| *counter == Counter::Overrun || Counter::ADDED.contains(counter);
    SeriesEntry {
        name: series.spec.name.clone(),
        unit: "ns",
        counters: Counter::first().filter(is_published).map(counted).collect(),
        figures: series.figures(),
        more_counters: Counter::ALL.into_iter().filter(is_further).map(counted).collect(),
        unaccounted: series.unaccounted(),
        what: series.spec.what.clone(),
        settings,
        windows: series.windows.len(),
        exposure_s: seconds(series.exposure_ns()),
        threshold: series.spec.threshold_ns,
        scheduled: scheduled(series),
        causes: why::causes(series),
        statistics: report.insight(&series.spec.name).map(StatisticsEntry::of),
        spikes: why::spikes(series),
        clock: OneWay::of(&report.run, series).as_ref().map(ClockEntry::of),
        listener_buffer: BufferEntry::of(series),
    }
}

/// A counter by its name; null if the run is older than the counter.
fn count(report: &Report, series: &SeriesView, counter: Counter) -> (String, serde_json::Value) {
    let is_known = !report.run.lacks.contains(&counter);
    let value = is_known.then_some(series.counters.get(counter));
    (counter.name().to_owned(), value.into())
}

fn scheduled(series: &SeriesView) -> Option<ScheduledEntry> {
    let scheduled = series.scheduled()?;
    Some(ScheduledEntry {
        figures: series.scheduled_figures()?,
        activations: scheduled.count(),
        unplaced: scheduled.unplaced(),
    })
}
