//! Requirements in the result document: checks in the same form as those of limits.

use super::document::{CheckEntry, NotMeasuredEntry, Number};
use crate::Report;
use crate::verdict::{RequirementCheck, RequirementOpen};
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub(super) struct NotApplicableEntry {
    limit: String,
    series: String,
    quantity: String,
    why: String,
    source: String,
    profile: String,
}

/// The group of facts is in the field for the series, and the fact in the field for the quantity.
pub(super) fn entry(check: &RequirementCheck) -> CheckEntry {
    let requirement = &check.requirement;
    CheckEntry {
        limit: requirement.id.clone(),
        name: requirement.name.clone(),
        series: check.group.clone(),
        measured: check.measured.map(Number::Whole),
        allowed: requirement.allowed(),
        unit: requirement.unit.clone(),
        verdict: check.verdict.word(),
        why: check.why.clone(),
        source: requirement.source.clone(),
        profile: check.profile.clone(),
        quantity: requirement.fact.clone(),
        bound: None,
        samples: None,
        uncertainty: None,
        decision: None,
        class: None,
        view: None,
    }
}

/// A requirement without a matching fact in the run.
pub(super) fn open(open: &RequirementOpen) -> NotMeasuredEntry {
    let requirement = &open.requirement;
    NotMeasuredEntry {
        limit: requirement.id.clone(),
        name: requirement.name.clone(),
        series: requirement.group.as_str().to_owned(),
        quantity: requirement.fact.clone(),
        allowed: requirement.allowed(),
        unit: requirement.unit.clone(),
        why: String::new(),
        source: requirement.source.clone(),
        profile: open.profile.clone(),
    }
}

pub(super) fn not_applicable(report: &Report) -> Vec<NotApplicableEntry> {
    let all = report.judgement.not_applicable.iter();
    all.map(|one| NotApplicableEntry {
        limit: one.requirement.id.clone(),
        series: one.group.clone(),
        quantity: one.requirement.fact.clone(),
        why: one.why.clone(),
        source: one.requirement.source.clone(),
        profile: one.profile.clone(),
    })
    .collect()
}
