//! Limits and requirements with their checks, for a terminal.

use crate::Report;
use crate::terminal::{Align, Paint, TextTable, section};
use crate::verdict::{Check, Measured, RequirementCheck, Verdict};

/// The table of checks; failed ones come first.
pub(super) fn checks(report: &Report, paint: &Paint) -> String {
    let judgement = &report.judgement;
    let mut table = TextTable::new(&[
        ("verdict", Align::Left),
        ("limit", Align::Left),
        ("series", Align::Left),
    ]);
    table.columns(&[("measured", Align::Right), ("allowed", Align::Right)]);
    let mut rows: Vec<(&Check, usize)> = Vec::new();
    for check in &judgement.checks {
        match rows.iter_mut().find(|(shown, _)| same_answer(shown, check)) {
            None => rows.push((check, 1)),
            Some((shown, n)) => {
                *n += 1;
                if figure(check) > figure(shown) {
                    *shown = check;
                }
            }
        }
    }
    rows.sort_by_key(|(check, _)| match check.verdict {
        Verdict::Fail => 0,
        Verdict::Inconclusive => 1,
        Verdict::Pass => 2,
    });
    for (check, n) in rows {
        let others = if n > 1 {
            format!(" (worst of {n})")
        } else {
            String::new()
        };
        table.row(vec![
            paint.verdict(check.verdict, check.verdict.word()),
            check.limit.id.clone(),
            format!("{}{others}", check.series),
            check.measured_text(),
            check.limit.allowed_text(),
        ]);
        table.note(&check.why);
        table.note(
            &check
                .class
                .as_ref()
                .map(|class| format!("class: {class}"))
                .unwrap_or_default(),
        );
        table.note(&check.bound.map(|bound| bound.text()).unwrap_or_default());
        table.note(&check.decision_text().unwrap_or_default());
    }
    for open in &judgement.not_measured {
        table.row(vec![
            "not measured".into(),
            open.limit.id.clone(),
            open.limit.series.shortened(),
            "–".into(),
            open.limit.allowed_text(),
        ]);
        table.note(&open.why);
    }
    requirements(report, paint, &mut table);
    section(paint, "Limits", &table)
}

/// True if one line can represent both checks: the same limit, and the same answer for the same reason. The reason of
/// every failed check contains its own figures, so the worst one represents the others.
fn same_answer(a: &Check, b: &Check) -> bool {
    let limit = |check: &Check| (check.profile.clone(), check.limit.id.clone());
    let same_reason = a.why == b.why || a.verdict == Verdict::Fail;
    a.verdict == b.verdict && same_reason && limit(a) == limit(b)
}

fn figure(check: &Check) -> f64 {
    check.measured.map_or(0.0, Measured::as_f64)
}

/// Adds the requirements below the limits, failed ones first.
fn requirements(report: &Report, paint: &Paint, table: &mut TextTable) {
    let judgement = &report.judgement;
    for wanted in [Verdict::Fail, Verdict::Inconclusive, Verdict::Pass] {
        for check in judgement.requirements.iter().filter(|check| check.verdict == wanted) {
            table.row(requirement_row(check, paint));
            table.note(&check.why);
        }
    }
    for (group, why, ids) in not_applicable(report) {
        let (limit, note) = match &ids[..] {
            [id] => (id.clone(), why),
            _ => (
                format!("{} requirements", ids.len()),
                format!("{}: {why}", ids.join(", ")),
            ),
        };
        table.row(vec!["not applicable".into(), limit, group, "–".into(), "–".into()]);
        table.note(&note);
    }
    for open in &judgement.not_asked {
        let requirement = &open.requirement;
        table.row(vec![
            "not measured".into(),
            requirement.id.clone(),
            requirement.group.as_str().to_owned(),
            "–".into(),
            requirement.wanted_text(),
        ]);
    }
}

fn requirement_row(check: &RequirementCheck, paint: &Paint) -> Vec<String> {
    let value = check.value.as_deref().map_or("–", crate::limits::word_of);
    let unit = match check.requirement.unit.as_str() {
        "" => String::new(),
        _ if check.value.is_none() => String::new(),
        unit => format!(" {unit}"),
    };
    vec![
        paint.verdict(check.verdict, check.verdict.word()),
        check.requirement.id.clone(),
        check.group.clone(),
        format!("{value}{unit}"),
        check.requirement.wanted_text(),
    ]
}

/// Requirements that cannot be met, one line for each interface and reason: group, reason, ids.
fn not_applicable(report: &Report) -> Vec<(String, String, Vec<String>)> {
    let mut lines: Vec<(String, String, Vec<String>)> = Vec::new();
    for one in &report.judgement.not_applicable {
        let id = &one.requirement.id;
        match lines
            .iter_mut()
            .find(|(group, why, _)| *group == one.group && *why == one.why)
        {
            Some((_, _, ids)) => ids.push(id.clone()),
            None => lines.push((one.group.clone(), one.why.clone(), vec![id.clone()])),
        }
    }
    lines
}
