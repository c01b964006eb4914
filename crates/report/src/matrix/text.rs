//! The table of a matrix: one row for each cell, and a text for each cell without a box.

use super::cell::{Cell, Conditions};
use super::conclusion::EMULATED;
use super::measure::{Maxima, Measure, SHOWN};
use super::{Matrix, boxes};
use crate::tables::Table;
use crate::text::{count, ns_or_dash, plural};
use model::kind::Kind;
use units::format_ns;

/// The sign for an empty cell in a published table.
const NOTHING: &str = "–";

impl Matrix {
    /// The kinds of series that any cell has.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &'static Kind> + '_ {
        let has = |kind: &&'static Kind| self.cells.iter().any(|cell| cell.measure(kind).is_some());
        SHOWN.iter().copied().filter(has)
    }

    /// The cells that measured this kind.
    pub(super) fn with(&self, kind: &Kind) -> Vec<(&Cell, &Measure)> {
        self.cells
            .iter()
            .filter_map(|cell| Some((cell, cell.measure(kind)?)))
            .collect()
    }

    /// Maximum (mean) of each kind, one row for each cell that was not left out.
    pub(super) fn table(&self) -> Table {
        let kinds: Vec<&Kind> = self.kinds().collect();
        let has_management = self.cells.iter().any(|cell| cell.conditions.management.is_some());
        let management = has_management.then_some("management");
        let conditions = ["place", "network", "load"].into_iter().chain(management);
        let heads = conditions.chain(["isolation", "runs", "verdict", "kernel threads"]);
        let row = |cell: &Cell| {
            let own = &cell.conditions;
            let or_nothing = |name: &Option<String>| name.clone().unwrap_or_else(|| NOTHING.to_owned());
            let mut row = vec![own.place.clone(), or_nothing(&own.network), own.load.clone()];
            row.extend(management.map(|_| or_nothing(&own.management)));
            row.push(own.isolation.clone());
            row.push(count(u64::from(cell.rounds)));
            row.push(cell.state());
            row.push(cell.kernel_threads_text().unwrap_or_else(|| NOTHING.to_owned()));
            row.extend(kinds.iter().map(|kind| {
                cell.measure(kind)
                    .map_or_else(|| NOTHING.to_owned(), Measure::max_and_mean)
            }));
            row
        };
        Table {
            title: format!("Matrix {}: max (mean)", self.name),
            heads: heads
                .map(str::to_owned)
                .chain(kinds.iter().map(|kind| kind.title.to_owned()))
                .collect(),
            rows: self
                .cells
                .iter()
                .filter(|cell| cell.left_out.is_none())
                .map(row)
                .collect(),
            notes: self
                .left_out()
                .into_iter()
                .chain(self.cells.iter().flat_map(Cell::not_evident))
                .collect(),
        }
    }

    /// The reasons for leaving out cells, each once.
    fn left_out(&self) -> Vec<String> {
        let mut reasons: Vec<(&str, Vec<&Conditions>)> = Vec::new();
        for cell in &self.cells {
            let Some(why) = cell.left_out.as_deref() else { continue };
            match reasons.iter_mut().find(|(known, _)| *known == why) {
                Some((_, cells)) => cells.push(&cell.conditions),
                None => reasons.push((why, vec![&cell.conditions])),
            }
        }
        let text = |(why, cells): (&str, Vec<&Conditions>)| format!("left out: {}: {why}", set(&cells));
        reasons.into_iter().map(text).collect()
    }
}

/// A short list of cells: the values of each condition if the cells are all combinations of these, otherwise one by
/// one.
fn set(cells: &[&Conditions]) -> String {
    let values = |of: fn(&Conditions) -> &str| {
        let mut values: Vec<&str> = Vec::new();
        for value in cells.iter().map(|cell| of(cell)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    };
    let [place, network, load, management, isolation] = [
        values(|cell| &cell.place),
        values(|cell| cell.network.as_deref().unwrap_or_default()),
        values(|cell| &cell.load),
        values(|cell| cell.management.as_deref().unwrap_or_default()),
        values(|cell| &cell.isolation),
    ];
    if place.len() * network.len() * load.len() * management.len() * isolation.len() != cells.len() {
        return cells.iter().map(|cell| cell.words()).collect::<Vec<_>>().join("; ");
    }
    let listed = |values: Vec<&str>| values.join(" or ");
    let over = listed(network);
    let over = if over.is_empty() { over } else { format!(" over {over}") };
    let management = listed(management);
    let beside = match management.is_empty() {
        true => management,
        false => format!(", management network {management}"),
    };
    format!(
        "{}{over}, load {}{beside}, isolation {}",
        listed(place),
        listed(load),
        listed(isolation)
    )
}

/// The spans to which the maxima belong.
pub(super) fn caption(cells: &[(&Cell, &Measure)]) -> String {
    let mut with_box = cells
        .iter()
        .filter(|(_, measure)| measure.maxima.ns.len() >= boxes::LEAST);
    // All of them have spans of the same length.
    match with_box.next().map(|(_, measure)| measure.maxima.span_ns) {
        None => "too few windows for a box".to_owned(),
        Some(ns) => format!(
            "largest sample of each {}; box: quartiles and median, whiskers to 1.5 box lengths",
            format_ns(ns as f64)
        ),
    }
}

/// Cells without a box, with the reason.
pub(super) fn without_box(cells: &[(&Cell, &Measure)]) -> Vec<String> {
    let few = cells
        .iter()
        .filter(|(_, measure)| measure.maxima.ns.len() < boxes::LEAST);
    let text =
        |(cell, measure): &(&Cell, &Measure)| format!("{}: {}", cell.conditions.words(), no_box(&measure.maxima));
    few.map(text).collect()
}

fn no_box(maxima: &Maxima) -> String {
    let span = format_ns(maxima.span_ns as f64);
    match maxima.other_ns {
        Some(ns) => format!(
            "not comparable: its windows of {} cannot be merged into {span}; measure all cells with one --window",
            format_ns(ns as f64)
        ),
        None => format!(
            "too short for a box: {} of {span}, of the {} needed",
            plural(maxima.ns.len() as u64, "window"),
            boxes::LEAST
        ),
    }
}

impl Cell {
    /// Its state, in a few words.
    fn state(&self) -> String {
        match self.rounds {
            0 if self.failures.is_empty() => "not measured".to_owned(),
            0 => "not run".to_owned(),
            _ => self.verdicts.text(),
        }
    }

    /// Reasons why it is not measured, or proves nothing.
    fn not_evident(&self) -> Vec<String> {
        let name = self.conditions.words();
        let failures = self.failures.iter().map(|why| format!("{name}: not run: {why}"));
        let emulated = self.is_emulated.then(|| format!("{name}: {EMULATED}"));
        emulated.into_iter().chain(failures).collect()
    }

    pub(super) fn seen(&self) -> Vec<String> {
        let counted = self.measures.iter().filter_map(Measure::counted);
        self.over.iter().cloned().chain(counted).collect()
    }
}

impl Measure {
    /// Text such as `61.2 µs (12.9 µs)`; a dash without samples.
    pub(super) fn max_and_mean(&self) -> String {
        let figures = self.series.figures();
        match figures.max {
            None => NOTHING.to_owned(),
            max => format!("{} ({})", ns_or_dash(max.map(|ns| ns as f64)), ns_or_dash(figures.mean)),
        }
    }

    /// Counts of events that could hide a larger sample.
    fn counted(&self) -> Option<String> {
        let counters = &self.series.counters;
        let all = [
            (counters.lost, "lost"),
            (counters.missed, "missed"),
            (counters.clipped, "clipped"),
        ];
        let some = all.into_iter().filter(|(times, _)| *times > 0);
        let some: Vec<String> = some.map(|(times, what)| format!("{} {what}", count(times))).collect();
        let of = count(counters.expected);
        (!some.is_empty()).then(|| format!("{}: {} of {of}", self.kind.title.to_lowercase(), some.join(", ")))
    }
}
