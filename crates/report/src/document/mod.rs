//! The result document: one JSON shape for every measuring command (`triptime.result/1`, see
//! `docs/formats/result-json.md`).

mod budget;
mod buffer;
mod clock;
mod coverage;
mod events;
mod nics;
mod required;
#[cfg(test)]
mod tests;
mod why;

use crate::Report;
use crate::limits::Quantity;
use crate::one_way::OneWay;
use crate::section;
use crate::text::rfc3339;
use crate::verdict::{Check, Measured, NotMeasured};
use budget::{BudgetEntry, budget};
use buffer::BufferEntry;
use clock::ClockEntry;
pub(crate) use coverage::Coverage;
use coverage::{ProfileEntry, profiles};
use events::Events;
use model::{Counter, Fact, Figures, RunState, SeriesView};
use nics::{NicEntry, nics};
use required::{NotApplicableEntry, not_applicable};
use serde::Serialize;
use why::{CauseEntry, SpikeEntry, StatisticsEntry};

/// Name and number of the document's shape.
pub const SCHEMA: &str = "triptime.result/1";

/// The document. Fields are written in this order; quantities in ns unless their name says otherwise.
#[derive(Debug, Clone, Serialize)]
pub struct Document {
    schema: &'static str,
    tool: Tool,
    run: Run,
    verdict: &'static str,
    series: Vec<Series>,
    checks: Vec<CheckEntry>,
    events: Events,
    profiles: Vec<ProfileEntry>,
    not_measured: Vec<NotMeasuredEntry>,
    budget: BudgetEntry,
    inventory: Vec<FactEntry>,
    nics: Vec<NicEntry>,
    not_applicable: Vec<NotApplicableEntry>,
    /// The fields of the sections, in the order of [`section::DOCUMENT`].
    #[serde(flatten)]
    sections: section::Fields,
}

#[derive(Debug, Clone, Serialize)]
struct Tool {
    name: &'static str,
    version: String,
}

#[derive(Debug, Clone, Serialize)]
struct Run {
    id: String,
    command: String,
    file: String,
    started: String,
    duration_s: f64,
    state: &'static str,
    arguments: Vec<String>,
    window_s: f64,
}

#[derive(Debug, Clone, Serialize)]
struct Series {
    name: String,
    unit: &'static str,
    /// Counters by their names.
    #[serde(flatten)]
    counters: serde_json::Map<String, serde_json::Value>,
    #[serde(flatten)]
    figures: Figures,
    /// Counters that are not among the published first ones.
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

#[derive(Debug, Clone, Serialize)]
struct CheckEntry {
    limit: String,
    series: String,
    measured: Option<Number>,
    allowed: u64,
    unit: String,
    verdict: &'static str,
    why: String,
    source: String,
    profile: String,
    quantity: String,
    bound: Option<BoundEntry>,
    samples: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uncertainty: Option<u64>,
    class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<&'static str>,
}

/// Whole numbers stay whole.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
enum Number {
    Whole(i64),
    Real(f64),
}

#[derive(Debug, Clone, Serialize)]
struct BoundEntry {
    over: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    over_is_at_least: bool,
    samples: u64,
    exposure_s: f64,
    confidence: f64,
    probability: f64,
    rate_per_s: Option<f64>,
    text: String,
}

#[derive(Debug, Clone, Serialize)]
struct NotMeasuredEntry {
    limit: String,
    series: String,
    quantity: String,
    allowed: u64,
    unit: String,
    why: String,
    source: String,
    profile: String,
}

#[derive(Debug, Clone, Serialize)]
struct FactEntry {
    group: String,
    name: String,
    value: Option<String>,
    unknown_because: Option<String>,
    source: String,
}

pub(crate) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

impl Document {
    /// The document of a report.
    pub fn of(report: &Report) -> Self {
        let run = &report.run;
        Self {
            schema: SCHEMA,
            tool: Tool {
                name: "triptime",
                version: run.info.tool_version.clone(),
            },
            run: run_entry(report),
            verdict: report.verdict().word(),
            series: run.series.iter().map(|series| series_entry(report, series)).collect(),
            checks: checks(report),
            events: Events::of(run),
            profiles: profiles(report),
            not_measured: not_measured(report),
            budget: budget(report),
            inventory: inventory(report),
            nics: nics(&report.run),
            not_applicable: not_applicable(report),
            sections: section::DOCUMENT
                .iter()
                .flat_map(|section| section.json(report))
                .collect(),
        }
    }
}

fn run_entry(report: &Report) -> Run {
    let run = &report.run;
    Run {
        id: run.info.id.clone(),
        command: run.info.command.clone(),
        file: run.file.display().to_string(),
        started: rfc3339(run.info.started),
        duration_s: seconds(run.duration_ns),
        state: match run.state {
            RunState::Complete => "complete",
            RunState::Interrupted => "interrupted",
        },
        arguments: run.info.arguments.clone(),
        window_s: seconds(run.info.window_ns),
    }
}

fn series_entry(report: &Report, series: &SeriesView) -> Series {
    let settings = series
        .spec
        .settings
        .iter()
        .map(|(name, value)| (name.clone(), value.clone().into()))
        .collect();
    let entry = |counter| count(report, series, counter);
    let is_published = |counter: &Counter| *counter != Counter::Overrun;
    let is_further = |counter: &Counter| *counter == Counter::Overrun || Counter::ADDED.contains(counter);
    Series {
        name: series.spec.name.clone(),
        unit: "ns",
        counters: Counter::first().filter(is_published).map(entry).collect(),
        figures: series.figures(),
        more_counters: Counter::ALL.into_iter().filter(is_further).map(entry).collect(),
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

/// A counter by its name; null where the run is from before it.
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

/// The activations that a checked figure is of: quantiles and means have two views.
fn view(report: &Report, check: &Check) -> Option<&'static str> {
    let quantity = check.limit.quantity;
    let has_views = quantity == Quantity::Mean || quantity.quantile().is_some();
    let series = report.run.series_named(&check.series).filter(|_| has_views)?;
    Some(series.judged_view())
}

/// Of limits, then of requirements.
fn checks(report: &Report) -> Vec<CheckEntry> {
    let judgement = &report.judgement;
    let of_limits = judgement.checks.iter().map(|check| check_entry(report, check));
    of_limits
        .chain(judgement.requirements.iter().map(required::entry))
        .collect()
}

fn check_entry(report: &Report, check: &Check) -> CheckEntry {
    CheckEntry {
        limit: check.limit.id.clone(),
        series: check.series.clone(),
        measured: check.measured.map(|measured| match measured {
            Measured::Whole(value) => Number::Whole(value),
            Measured::Mean(value) => Number::Real(value),
        }),
        allowed: check.limit.allowed,
        unit: check.limit.quantity.unit().word().to_owned(),
        verdict: check.verdict.word(),
        why: check.why.clone(),
        source: check.limit.source.clone(),
        profile: check.profile.clone(),
        quantity: check.limit.quantity.word().to_owned(),
        samples: Some(check.samples),
        bound: check.bound.map(|bound| BoundEntry {
            over: if bound.is_counted() {
                bound.over
            } else {
                bound.over_at_least
            },
            over_is_at_least: !bound.is_counted(),
            samples: bound.samples,
            exposure_s: seconds(bound.exposure_ns),
            confidence: crate::bound::CONFIDENCE,
            probability: bound.probability,
            rate_per_s: bound.rate_per_s,
            text: bound.text(),
        }),
        uncertainty: check.uncertainty_ns,
        class: check.class.clone(),
        view: view(report, check),
    }
}

fn not_measured(report: &Report) -> Vec<NotMeasuredEntry> {
    let entry = |open: &NotMeasured| NotMeasuredEntry {
        limit: open.limit.id.clone(),
        series: open.limit.series.as_str().to_owned(),
        quantity: open.limit.quantity.word().to_owned(),
        allowed: open.limit.allowed,
        unit: open.limit.quantity.unit().word().to_owned(),
        why: open.why.clone(),
        source: open.limit.source.clone(),
        profile: open.profile.clone(),
    };
    let limits = report.judgement.not_measured.iter().map(entry);
    limits
        .chain(report.judgement.not_asked.iter().map(required::open))
        .collect()
}

fn inventory(report: &Report) -> Vec<FactEntry> {
    let entry = |fact: &Fact| FactEntry {
        group: fact.group.clone(),
        name: fact.name.clone(),
        value: fact.value.as_ref().ok().cloned(),
        unknown_because: fact.value.as_ref().err().cloned(),
        source: fact.source.clone(),
    };
    report.run.facts.iter().map(entry).collect()
}
