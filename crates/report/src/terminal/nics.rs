//! The interfaces that were measured on, and what the profile requires of them.

use super::{Align, Paint, Table, section};
use crate::Report;
use crate::nics::{self, HEADINGS};
use crate::verdict::{RequirementCheck, Verdict};

/// Adds the requirements under the limits: what fails first.
pub(crate) fn requirements(report: &Report, paint: &Paint, table: &mut Table) {
    let judgement = &report.judgement;
    for wanted in [Verdict::Fail, Verdict::Inconclusive, Verdict::Pass] {
        for check in judgement.requirements.iter().filter(|check| check.verdict == wanted) {
            table.row(row(check, paint));
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

fn row(check: &RequirementCheck, paint: &Paint) -> Vec<String> {
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

/// A line for each interface.
pub(crate) fn interfaces(report: &Report, paint: &Paint) -> String {
    let mut table = Table::new(&[("interface", Align::Left)]);
    table.columns(&HEADINGS.map(|heading| (heading, Align::Left)));
    for nic in nics::of(&report.run) {
        let cells = std::iter::once(nic.name.to_owned()).chain(nic.cells());
        table.row(cells.collect());
    }
    section(paint, "Interfaces", &table)
}
