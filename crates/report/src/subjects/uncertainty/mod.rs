//! The instrument's own error: the uncertainty budget of each kind of series.

mod document;
mod own;
mod page;

use crate::Report;
use crate::limits::Quantity;
use crate::section::{Fields, Link, Section};
use crate::terminal::{Align, Paint, TextTable, section};
use crate::uncertainty::{Evaluation, UncertaintyBudget, stamp_to_wire_of};
pub use own::OwnBudgets;
use std::io;
use units::format_ns;

/// The section of the report.
pub(crate) struct UncertaintySection;

impl Section for UncertaintySection {
    fn text(&self, report: &Report, paint: &Paint) -> String {
        text(report, paint)
    }

    fn html(&self, report: &Report) -> askama::Result<String> {
        page::html(report)
    }

    fn links(&self, report: &Report) -> Vec<Link> {
        match is_stated(report) {
            true => vec![Link::to("uncertainty", "Uncertainty")],
            false => Vec::new(),
        }
    }

    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        fields.field("uncertainty", document::entries(report))
    }
}

/// The budget of one kind of series: that of its series with the largest uncertainty, at its largest sample.
pub(crate) struct OfKind {
    pub(crate) kind: &'static str,
    pub(crate) series: String,
    pub(crate) at_ns: i64,
    pub(crate) budget: UncertaintyBudget,
}

impl OfKind {
    /// Expanded uncertainty in ns; infinite if it is not known, so that it is the largest.
    fn size(&self) -> f64 {
        let combined = self.budget.combined();
        combined.map_or(f64::INFINITY, |combined| combined.expanded())
    }
}

/// The budgets of all kinds that a run measured, in the order of the report.
pub(crate) fn by_kind(report: &Report) -> Vec<OfKind> {
    let stated = stamp_to_wire_of(&report.profiles);
    let mut found: Vec<OfKind> = Vec::new();
    for series in &report.run.series {
        let (Some(kind), Some(at_ns)) = (series.kind(), series.max_ns) else {
            continue;
        };
        let Some(budget) = UncertaintyBudget::of((&report.run, series), Quantity::Max, at_ns as f64, stated) else {
            continue;
        };
        let one = OfKind {
            kind: kind.name,
            series: series.spec.name.clone(),
            at_ns,
            budget,
        };
        match found.iter_mut().find(|known| known.kind == one.kind) {
            Some(known) if one.size() > known.size() => *known = one,
            Some(_) => {}
            None => found.push(one),
        }
    }
    found.sort_by_key(|one| model::Kind::named(one.kind).map(model::Kind::place));
    found
}

/// True if the terminal and the page show budgets: if one is known, or a rule needs them. Files of earlier versions have none.
fn is_stated(report: &Report) -> bool {
    let is_guarded = |profile: &crate::limits::Profile| profile.decision != crate::limits::Decision::default();
    report.profiles.iter().any(is_guarded) || by_kind(report).iter().any(|one| one.budget.combined().is_some())
}

/// The uncertainty of each kind in one line, for the record; empty if none is known.
pub(crate) fn summary(report: &Report) -> String {
    if !is_stated(report) {
        return String::new();
    }
    let kinds = by_kind(report);
    let text = |one: &OfKind| format!("{}: {}", one.kind, one.budget.text());
    kinds.iter().map(text).collect::<Vec<_>>().join("; ")
}

pub(super) fn letter(evaluation: Evaluation) -> &'static str {
    match evaluation {
        Evaluation::A => "A",
        Evaluation::B => "B",
    }
}

fn text(report: &Report, paint: &Paint) -> String {
    if !is_stated(report) {
        return String::new();
    }
    let mut table = TextTable::new(&[("kind", Align::Left), ("component", Align::Left), ("type", Align::Left)]);
    table.columns(&[("standard", Align::Right), ("error", Align::Left)]);
    for one in by_kind(report) {
        let mut kind = one.kind;
        for component in &one.budget.components {
            let standard = component.shape.as_ref().map(|shape| format_ns(shape.standard()));
            table.row(vec![
                kind.to_owned(),
                component.name.to_owned(),
                letter(component.evaluation).to_owned(),
                standard.unwrap_or_else(|_| "–".to_owned()),
                component.text(),
            ]);
            kind = "";
        }
        table.note(&one.budget.text());
    }
    section(paint, "Uncertainty of our own", &table)
}
