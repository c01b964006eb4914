//! Limits and their checks, in the result document.

use super::required;
use crate::Report;
use crate::document::seconds;
use crate::limits::Quantity;
use crate::verdict::{Check, Decided, Measured, NotMeasured};
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub(super) struct CheckEntry {
    pub(super) limit: String,
    pub(super) series: String,
    pub(super) measured: Option<Number>,
    pub(super) allowed: u64,
    pub(super) unit: String,
    pub(super) verdict: &'static str,
    pub(super) why: String,
    pub(super) source: String,
    pub(super) profile: String,
    pub(super) name: String,
    pub(super) quantity: String,
    pub(super) bound: Option<BoundEntry>,
    pub(super) samples: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) uncertainty: Option<u64>,
    pub(super) decision: Option<DecisionEntry>,
    pub(super) class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) view: Option<&'static str>,
}

/// A number; whole numbers are written without a fraction.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(super) enum Number {
    Whole(i64),
    Real(f64),
}

/// The decision rule with its numbers; durations in ns.
#[derive(Debug, Clone, Serialize)]
pub(super) struct DecisionEntry {
    rule: &'static str,
    guard: Option<f64>,
    standard: Option<f64>,
    expanded: Option<f64>,
    risk: Option<f64>,
    risk_most: Option<f64>,
    unknown: Vec<String>,
}

impl DecisionEntry {
    fn of(decided: &Decided) -> Self {
        Self {
            rule: decided.rule.word(),
            guard: decided.guard_ns,
            standard: decided.standard_ns,
            expanded: decided.expanded_ns,
            risk: decided.risk,
            risk_most: decided.risk_most,
            unknown: decided.unknown.clone(),
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct BoundEntry {
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
pub(super) struct NotMeasuredEntry {
    pub(super) limit: String,
    pub(super) series: String,
    pub(super) quantity: String,
    pub(super) allowed: u64,
    pub(super) unit: String,
    pub(super) why: String,
    pub(super) source: String,
    pub(super) profile: String,
    pub(super) name: String,
}

/// The activations that a checked figure refers to: quantiles and means have two views.
fn view(report: &Report, check: &Check) -> Option<&'static str> {
    let quantity = check.limit.quantity;
    let has_views = quantity == Quantity::Mean || quantity.quantile().is_some();
    let series = report.run.series_named(&check.series).filter(|_| has_views)?;
    Some(series.judged_view())
}

/// Checks of limits, followed by those of requirements.
pub(super) fn checks(report: &Report) -> Vec<CheckEntry> {
    let judgement = &report.judgement;
    let of_limits = judgement.checks.iter().map(|check| check_entry(report, check));
    of_limits
        .chain(judgement.requirements.iter().map(required::entry))
        .collect()
}

fn check_entry(report: &Report, check: &Check) -> CheckEntry {
    CheckEntry {
        limit: check.limit.id.clone(),
        name: check.limit.name.clone(),
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
        decision: check.decision.as_ref().map(DecisionEntry::of),
        class: check.class.clone(),
        view: view(report, check),
    }
}

pub(super) fn not_measured(report: &Report) -> Vec<NotMeasuredEntry> {
    let entry = |open: &NotMeasured| NotMeasuredEntry {
        limit: open.limit.id.clone(),
        name: open.limit.name.clone(),
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
