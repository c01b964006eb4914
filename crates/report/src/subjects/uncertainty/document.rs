//! The uncertainty budgets in the result document.

use super::{OfKind, by_kind, letter};
use crate::Report;
use crate::uncertainty::Component;
use serde::Serialize;
use stats::uncertainty::{COVERAGE, Shape};

#[derive(Serialize)]
pub(super) struct UncertaintyEntry {
    kind: &'static str,
    series: String,
    at: i64,
    coverage: f64,
    bias: Option<f64>,
    standard: Option<f64>,
    expanded: Option<f64>,
    unknown: Vec<String>,
    components: Vec<ComponentEntry>,
}

#[derive(Serialize)]
struct ComponentEntry {
    name: &'static str,
    evaluation: &'static str,
    distribution: &'static str,
    low: Option<f64>,
    high: Option<f64>,
    bias: Option<f64>,
    standard: Option<f64>,
    unknown_because: Option<String>,
    from: String,
}

pub(super) fn entries(report: &Report) -> Vec<UncertaintyEntry> {
    by_kind(report).iter().map(entry).collect()
}

fn entry(of_kind: &OfKind) -> UncertaintyEntry {
    let combined = of_kind.budget.combined();
    let combined = combined.as_ref();
    UncertaintyEntry {
        kind: of_kind.kind,
        series: of_kind.series.clone(),
        at: of_kind.at_ns,
        coverage: COVERAGE,
        bias: combined.map(|errors| errors.bias()),
        standard: combined.map(|errors| errors.standard()),
        expanded: combined.map(|errors| errors.expanded()),
        unknown: of_kind.budget.unknown(),
        components: of_kind.budget.components.iter().map(component).collect(),
    }
}

fn component(one: &Component) -> ComponentEntry {
    let shape = one.shape.as_ref().ok();
    let ends = shape.and_then(|shape| match shape {
        Shape::Uniform { low, high } => Some((*low, *high)),
        Shape::Normal { .. } => None,
    });
    ComponentEntry {
        name: one.name,
        evaluation: letter(one.evaluation),
        distribution: one.distribution(),
        low: ends.map(|(low, _)| low),
        high: ends.map(|(_, high)| high),
        bias: shape.map(|shape| shape.mean()),
        standard: shape.map(|shape| shape.standard()),
        unknown_because: one.shape.as_ref().err().cloned(),
        from: one.from.clone(),
    }
}
