//! Differences between cells: each cell is compared with the first one from which it differs in exactly one condition.

use super::cell::{Cell, Conditions};
use super::measure::Measure;
use crate::comparison::{Compared, Comparison};
use crate::insight::whole_windows;
use model::kind::Kind;
use stats::comparison::{Assumed, Difference, Figure, Outcome};

/// The condition in which two cells differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Factor {
    Place,
    Network,
    Management,
    Isolation,
}

impl Factor {
    pub(super) const ALL: [Self; 4] = [Self::Place, Self::Network, Self::Management, Self::Isolation];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Place => "place",
            Self::Network => "network",
            Self::Management => "management",
            Self::Isolation => "isolation",
        }
    }

    /// Its value in a cell.
    pub(super) fn of(self, conditions: &Conditions) -> &str {
        match self {
            Self::Place => &conditions.place,
            Self::Network => conditions.network.as_deref().unwrap_or_default(),
            Self::Management => conditions.management.as_deref().unwrap_or_default(),
            Self::Isolation => &conditions.isolation,
        }
    }

    /// The other conditions: cells with equal ones are compared.
    fn others(self, conditions: &Conditions) -> Conditions {
        let mut others = conditions.clone();
        match self {
            Self::Place => others.place.clear(),
            Self::Network => others.network = None,
            Self::Management => others.management = None,
            Self::Isolation => others.isolation.clear(),
        }
        others
    }
}

/// The basis of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// Windows, together with all other statements of the matrix.
    Windows,
    /// Fewer windows than a certain statement needs.
    FewWindows,
    /// Samples, assumed to be independent.
    Samples,
}

/// A figure of one cell compared with that of another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Statement {
    pub(super) basis: Basis,
    pub(super) difference: Difference,
}

/// The statement about a kind of series in two cells.
#[derive(Debug)]
pub(super) struct Conclusion {
    pub(super) kind: &'static Kind,
    pub(super) factor: Factor,
    /// The reference cell.
    pub(super) a: Conditions,
    /// The cell that is compared.
    pub(super) b: Conditions,
    /// Number of whole windows in the cell that has fewer.
    pub(super) windows: usize,
    /// The statements, most important first; empty if nothing can be said.
    pub(super) said: Vec<Statement>,
    /// The figure closest to an answer, if there is no answer.
    pub(super) open: Option<Statement>,
    /// Reasons why nothing is compared, or why the comparison is not fair.
    pub(super) doubts: Vec<String>,
}

/// Text about a guest whose processor is emulated.
pub(super) const EMULATED: &str = "emulated: its timing is no evidence";

/// Order of importance. The tail comes first, because it decides about a trip.
const BY_WEIGHT: [Figure; 5] = [
    Figure::P999,
    Figure::P99,
    Figure::WindowMax,
    Figure::Median,
    Figure::Mean,
];

/// Compares every cell with the first one from which it differs in exactly one condition.
pub(super) fn all(cells: &[Cell]) -> Vec<Conclusion> {
    let pairs: Vec<(Factor, &Cell, &Cell)> = Factor::ALL
        .into_iter()
        .flat_map(|factor| pairs(cells, factor))
        .collect();
    let run = |name: &str, cell: &Cell| Some((name.to_owned(), cell.whole.clone()?));
    let sets = pairs
        .iter()
        .filter_map(|(_, a, b)| Some(vec![run("a", a)?, run("b", b)?]));
    let comparisons = Comparison::together(sets.collect());
    let of_pair = |((factor, a, b), comparison): ((Factor, &Cell, &Cell), Comparison)| {
        let all = comparison
            .series
            .iter()
            .filter_map(|compared| of_series(factor, (a, b), compared));
        all.collect::<Vec<_>>()
    };
    pairs.into_iter().zip(comparisons).flat_map(of_pair).collect()
}

/// Pairs of measured cells that differ only in this condition; the first of each pair is the reference.
fn pairs(cells: &[Cell], factor: Factor) -> Vec<(Factor, &Cell, &Cell)> {
    let measured = || cells.iter().filter(|cell| cell.whole.is_some());
    let mut pairs = Vec::new();
    for cell in measured() {
        let others = factor.others(&cell.conditions);
        let first = measured().find(|other| factor.others(&other.conditions) == others);
        pairs.extend(
            first
                .filter(|first| first.conditions != cell.conditions)
                .map(|first| (factor, first, cell)),
        );
    }
    pairs
}

fn of_series(factor: Factor, (a, b): (&Cell, &Cell), compared: &Compared) -> Option<Conclusion> {
    let kind = Kind::of_series(&compared.name)?;
    let (of_a, of_b) = (a.measure(kind)?, b.measure(kind)?);
    let windows = |measure: &Measure| whole_windows(&measure.series).filter(|row| row.samples > 0).count();
    let strict = compared
        .differences
        .iter()
        .flat_map(|(_, all)| all)
        .map(|difference| Statement {
            basis: Basis::Windows,
            difference: *difference,
        });
    let by_samples = compared
        .by_samples
        .iter()
        .flat_map(|(_, all)| all)
        .map(|one| Statement {
            basis: match one.assumed {
                Assumed::Windows => Basis::FewWindows,
                Assumed::Samples => Basis::Samples,
            },
            difference: one.difference,
        });
    let statements = by_weight(strict.chain(by_samples).collect());
    let not_compared = compared.not_compared.iter().map(|(_, why)| why.clone());
    let unfair = compared.unfair.iter().map(|why| format!("conditions differ: {why}"));
    let emulated = (a.is_emulated || b.is_emulated).then(|| EMULATED.to_owned());
    let doubted = a.doubted(kind).chain(b.doubted(kind));
    Some(Conclusion {
        kind,
        factor,
        a: a.conditions.clone(),
        b: b.conditions.clone(),
        windows: windows(of_a).min(windows(of_b)),
        said: said(&statements),
        open: open(&statements),
        doubts: not_compared.chain(unfair).chain(emulated).chain(doubted).collect(),
    })
}

impl Cell {
    /// The doubts about its series of this kind, with its name.
    fn doubted(&self, kind: &Kind) -> impl Iterator<Item = String> {
        let of_kind = self.doubts.iter().filter(move |(of, _)| **of == *kind);
        of_kind.map(|(_, why)| format!("in doubt, {}: {why}", self.conditions.words()))
    }
}

/// Most certain first; among equally certain statements, the tail first.
fn by_weight(mut statements: Vec<Statement>) -> Vec<Statement> {
    let weight = |one: &Statement| BY_WEIGHT.iter().position(|figure| *figure == one.difference.figure);
    statements.sort_by_key(|one| (one.basis as u8, weight(one)));
    statements
}

/// Differences in either direction, if there are any; otherwise the figure nearest to the tail that is known not to
/// differ. Only the most certain basis with a result is used.
fn said(statements: &[Statement]) -> Vec<Statement> {
    let says = |one: &&Statement| {
        matches!(
            one.difference.outcome,
            Outcome::Higher | Outcome::Lower | Outcome::NoDifference
        )
    };
    let Some(basis) = statements.iter().find(says).map(|one| one.basis) else {
        return Vec::new();
    };
    let first = |outcome: Outcome| {
        statements
            .iter()
            .find(|one| one.basis == basis && one.difference.outcome == outcome)
    };
    let differs: Vec<Statement> = [Outcome::Higher, Outcome::Lower]
        .into_iter()
        .filter_map(first)
        .copied()
        .collect();
    match differs.is_empty() {
        true => first(Outcome::NoDifference).copied().into_iter().collect(),
        false => differs,
    }
}

/// The figure closest to an answer: the one with the narrowest interval, relative to its tolerance. Without any
/// interval, a figure with another reason than too few windows.
fn open(statements: &[Statement]) -> Option<Statement> {
    let width = |one: &Statement| (one.difference.high - one.difference.low) / one.difference.tolerance;
    let known = statements.iter().filter(|one| width(one).is_finite());
    let narrowest = known.min_by(|a, b| width(a).total_cmp(&width(b)));
    let says_more = |one: &&Statement| !matches!(one.difference.outcome, Outcome::TooFewWindows { .. });
    let refused = || statements.iter().find(says_more).or(statements.first());
    narrowest.or_else(refused).copied()
}
