//! Requirements on interfaces in the HTML page, listed with the limits.

use super::page::{CheckRow, LimitGroup, NotMeasuredRow};
use crate::Report;
use crate::limits::word_of;
use crate::verdict::{RequirementCheck, RequirementOpen};

/// Requirements of one interface that cannot be met, for the same reason.
pub(super) struct NotApplicableRow {
    pub(super) series: String,
    pub(super) ids: String,
    pub(super) why: String,
}

/// Requirements with the checks of each, in the order of the profiles.
pub(super) fn groups(report: &Report) -> Vec<LimitGroup> {
    let mut groups: Vec<LimitGroup> = Vec::new();
    for check in &report.judgement.requirements {
        let requirement = &check.requirement;
        match groups
            .iter_mut()
            .find(|group| group.id == requirement.id && group.profile == check.profile)
        {
            Some(group) => group.rows.push(row(check)),
            None => groups.push(LimitGroup {
                id: requirement.id.clone(),
                name: requirement.name.clone(),
                profile: check.profile.clone(),
                sense: "must be",
                allowed: requirement.wanted_text(),
                source: requirement.source.clone(),
                why: requirement.why.clone(),
                rows: vec![row(check)],
                folded: Vec::new(),
            }),
        }
    }
    groups
}

fn row(check: &RequirementCheck) -> CheckRow {
    let requirement = &check.requirement;
    CheckRow {
        id: requirement.id.clone(),
        series: check.group.clone(),
        measured: check.value.as_deref().map_or("–", word_of).to_owned(),
        allowed: requirement.wanted_text(),
        verdict: check.verdict.word(),
        why: check.why.clone(),
        bound: String::new(),
    }
}

/// One row for each interface and reason.
pub(super) fn not_applicable(report: &Report) -> Vec<NotApplicableRow> {
    let mut rows: Vec<NotApplicableRow> = Vec::new();
    for one in &report.judgement.not_applicable {
        let id = &one.requirement.id;
        match rows
            .iter_mut()
            .find(|row| row.series == one.group && row.why == one.why)
        {
            Some(row) => row.ids = format!("{}, {id}", row.ids),
            None => rows.push(NotApplicableRow {
                series: one.group.clone(),
                ids: id.clone(),
                why: one.why.clone(),
            }),
        }
    }
    rows
}

pub(super) fn not_asked(report: &Report) -> Vec<NotMeasuredRow> {
    let row = |open: &RequirementOpen| {
        let requirement = &open.requirement;
        NotMeasuredRow {
            limit: requirement.id.clone(),
            name: requirement.name.clone(),
            series: requirement.group.as_str().to_owned(),
            allowed: requirement.wanted_text(),
            source: requirement.source.clone(),
            why: String::new(),
        }
    };
    report.judgement.not_asked.iter().map(row).collect()
}
