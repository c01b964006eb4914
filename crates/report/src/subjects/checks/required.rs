//! Requirements in the result document: checks of the same shape as those of limits.

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

/// The group of facts stands where a limit has its series, and the fact where it has its quantity.
pub(super) fn entry(check: &RequirementCheck) -> CheckEntry {
    let requirement = &check.requirement;
    CheckEntry {
        limit: requirement.id.clone(),
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
        class: None,
        view: None,
    }
}

/// A requirement that nothing in the run could be held against.
pub(super) fn open(open: &RequirementOpen) -> NotMeasuredEntry {
    let requirement = &open.requirement;
    NotMeasuredEntry {
        limit: requirement.id.clone(),
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
