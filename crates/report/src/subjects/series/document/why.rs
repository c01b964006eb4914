//! The causes of samples, and statistics about them, as JSON.

use crate::insight::{Insight, QuantileInterval};
use model::{CauseTotal, Explanation, SeriesView};
use serde::Serialize;

/// Number of worst samples of a series in the document.
const SPIKES: usize = 100;

#[derive(Debug, Clone, Serialize)]
pub(super) struct CauseEntry {
    cause: &'static str,
    samples: u64,
    total_ns: u64,
    max_ns: u64,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct SpikeEntry {
    at_s: f64,
    value: i64,
    cpu: Option<u32>,
    sequence: Option<u64>,
    explanation: Option<Explanation>,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct StatisticsEntry {
    quantile_intervals: Vec<IntervalEntry>,
    claim: Option<ClaimEntry>,
    steady: SteadyEntry,
    rare: RareEntry,
    stolen: Option<StolenEntry>,
}

#[derive(Debug, Clone, Serialize)]
struct IntervalEntry {
    name: &'static str,
    value: u64,
    low: u64,
    high: u64,
    confidence: f64,
    view: &'static str,
    assumes: &'static str,
}

#[derive(Debug, Clone, Serialize)]
struct ClaimEntry {
    limit: u64,
    over: u64,
    exposure_s: f64,
    confidence: f64,
    at_most_one_per_s: f64,
    exposure_for_one_per_year_s: f64,
    text: String,
}

#[derive(Debug, Clone, Serialize)]
struct SteadyEntry {
    text: String,
    trend_p: f64,
    shift_p: f64,
    autocorrelation: f64,
}

#[derive(Debug, Clone, Serialize)]
struct RareEntry {
    text: String,
    level: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    once_in_s: Option<f64>,
    shape: Option<f64>,
    fit_p: Option<f64>,
    held_back: Option<HeldBackEntry>,
}

#[derive(Debug, Clone, Serialize)]
struct HeldBackEntry {
    fitted_blocks: usize,
    tested_blocks: usize,
    level: f64,
    expected_over: f64,
    over: usize,
}

#[derive(Debug, Clone, Serialize)]
struct StolenEntry {
    watched_s: f64,
    ns_per_s: f64,
    text: String,
}

pub(super) fn causes(series: &SeriesView) -> Vec<CauseEntry> {
    let entry = |total: &CauseTotal| CauseEntry {
        cause: total.cause.word(),
        samples: total.count,
        total_ns: total.total_ns,
        max_ns: total.max_ns,
    };
    series.causes.iter().map(entry).collect()
}

pub(super) fn spikes(series: &SeriesView) -> Vec<SpikeEntry> {
    let entry = |spike: &model::Spike| SpikeEntry {
        at_s: super::seconds(spike.at_ns),
        value: spike.value_ns,
        cpu: spike.cpu,
        sequence: spike.sequence,
        explanation: spike.explanation.clone(),
    };
    series.spikes.iter().take(SPIKES).map(entry).collect()
}

impl StatisticsEntry {
    pub(super) fn of(insight: &Insight) -> Self {
        Self {
            quantile_intervals: insight.quantiles.iter().map(|one| interval(insight, one)).collect(),
            claim: insight.claim.as_ref().map(|claim| ClaimEntry {
                limit: claim.limit_ns,
                over: claim.events,
                exposure_s: super::seconds(claim.exposure_ns),
                confidence: claim.confidence,
                at_most_one_per_s: claim.at_most_one_per_ns / 1e9,
                exposure_for_one_per_year_s: claim.exposure_needed_ns / 1e9,
                text: claim.text(),
            }),
            steady: SteadyEntry {
                text: insight.steadiness.text(),
                trend_p: insight.steadiness.trend.p,
                shift_p: insight.steadiness.shift.p,
                autocorrelation: insight.steadiness.autocorrelation,
            },
            rare: rare(insight),
            stolen: insight.stolen.map(|stolen| StolenEntry {
                watched_s: super::seconds(stolen.watched_ns),
                ns_per_s: stolen.per_second_ns(),
                text: stolen.text(),
            }),
        }
    }
}

fn interval(insight: &Insight, quantile: &QuantileInterval) -> IntervalEntry {
    IntervalEntry {
        name: quantile.name,
        value: quantile.ns,
        low: quantile.low_ns,
        high: quantile.high_ns,
        confidence: crate::bound::CONFIDENCE,
        view: insight.view,
        assumes: "independent samples",
    }
}

fn rare(insight: &Insight) -> RareEntry {
    let rare = insight.rare.as_ref().ok();
    let level = rare.map(|rare| &rare.level);
    RareEntry {
        text: insight.rare_text(),
        level: level.map(|level| level.level_ns),
        low: level.map(|level| level.low_ns),
        high: level.map(|level| level.high_ns),
        once_in_s: rare.map(|rare| rare.span_ns / 1e9),
        shape: level.map(|level| level.shape),
        fit_p: level.map(|level| level.fit_p),
        held_back: level.and_then(|level| level.held_back).map(|held_back| HeldBackEntry {
            fitted_blocks: held_back.fitted,
            tested_blocks: held_back.tested,
            level: held_back.level_ns,
            expected_over: held_back.expected,
            over: held_back.over,
        }),
    }
}
