//! Type tests as tables of text.

use super::edges::{edge_heads, edge_note, edge_rows};
use super::ramp::{RAMP_HEADS, ramp_note, ramp_rows};
use super::{CurvePoint, Tally, TypeTest, ZoneLine};
use crate::terminal::{Align, TextTable};
use crate::text::{count, ns_or_dash};
use model::Shot;
use std::fmt::Write;

pub(crate) const REACH_HEADS: [&str; 10] = [
    "fault",
    "SIR",
    "shots",
    "tripped",
    "failed",
    "false",
    "after the fault",
    "not counted",
    "overreach",
    "underreach",
];

pub(crate) const CELL_HEADS: [&str; 11] = [
    "fault",
    "SIR",
    "position",
    "shots",
    "min",
    "median",
    "max",
    "failed",
    "false",
    "after the fault",
    "not counted",
];

pub(crate) const CURVE_HEADS: [&str; 11] = [
    "multiple",
    "curve",
    "allowed",
    "min",
    "median",
    "max",
    "furthest off",
    "shots",
    "outside",
    "failed",
    "not counted",
];

/// One row for each line of a zone, with its reach.
pub(crate) fn reach_rows(test: &TypeTest) -> Vec<Vec<String>> {
    let furthest = test.positions().last().copied().unwrap_or(0.0);
    test.zone.iter().map(|line| reach_row(line, furthest)).collect()
}

fn reach_row(line: &ZoneLine, furthest: f64) -> Vec<String> {
    let over = line.overreach().map(|at| match at < furthest {
        true => format!("{at} %"),
        false => format!("{at} % or more"),
    });
    let under = line.underreach().map(|at| format!("{at} %"));
    let none = || "none".to_owned();
    vec![
        line.fault.clone(),
        line.sir.to_string(),
        count(line.sum(|tally| tally.shots)),
        count(line.sum(Tally::tripped)),
        count(line.sum(|tally| tally.failed)),
        count(line.sum(|tally| tally.wrong)),
        count(line.sum(|tally| tally.late)),
        count(line.sum(|tally| tally.not_counted)),
        over.unwrap_or_else(none),
        under.unwrap_or_else(none),
    ]
}

/// One row for each cell of a zone.
pub(crate) fn cell_rows(test: &TypeTest) -> Vec<Vec<String>> {
    let lines = test.zone.iter();
    let row = |line: &ZoneLine, (at, tally): &(f64, Tally)| {
        let [min, median, max] = times(tally);
        vec![
            line.fault.clone(),
            line.sir.to_string(),
            format!("{at} %"),
            count(tally.shots),
            min,
            median,
            max,
            count(tally.failed),
            count(tally.wrong),
            count(tally.late),
            count(tally.not_counted),
        ]
    };
    lines
        .flat_map(|line| line.cells.iter().map(move |cell| row(line, cell)))
        .collect()
}

fn times(tally: &Tally) -> [String; 3] {
    let figure = |which: usize| ns_or_dash(tally.times().map(|times| times[which] as f64));
    [figure(0), figure(1), figure(2)]
}

/// One row for each point of a curve.
pub(crate) fn curve_rows(test: &TypeTest) -> Vec<Vec<String>> {
    let row = |point: &CurvePoint| {
        let [min, median, max] = times(&point.tally);
        vec![
            point.multiple.to_string(),
            ns_or_dash(Some(point.expected_ns as f64)),
            format!("± {}", ns_or_dash(Some(point.tolerance_ns as f64))),
            min,
            median,
            max,
            ns_or_dash(point.worst_ns().map(|ns| ns as f64)),
            count(point.tally.shots),
            count(point.outside()),
            count(point.tally.failed),
            count(point.tally.not_counted),
        ]
    };
    test.curve.iter().map(row).collect()
}

/// A grid with positions as columns and lines as rows: the median operate time in ms if all shots tripped, otherwise
/// the number of trips.
fn grid(test: &TypeTest) -> (Vec<String>, Vec<Vec<String>>) {
    let positions = test.positions();
    let heads = ["fault".to_owned(), "SIR".to_owned()];
    let heads = heads.into_iter().chain(positions.iter().map(|at| format!("{at} %")));
    let row = |line: &ZoneLine| {
        let tally = |at: &f64| line.cells.iter().find(|(position, _)| position == at);
        let cell = |at: &f64| tally(at).map_or_else(|| "–".to_owned(), |(_, tally)| short(tally));
        let begin = [line.fault.clone(), line.sir.to_string()];
        begin.into_iter().chain(positions.iter().map(cell)).collect()
    };
    (heads.collect(), test.zone.iter().map(row).collect())
}

fn short(tally: &Tally) -> String {
    let counted = tally.shots - tally.not_counted;
    match (tally.times(), tally.tripped()) {
        _ if counted == 0 => "?".to_owned(),
        (Some([_, median, _]), trips) if trips == counted => format!("{:.1}", median as f64 / 1e6),
        (_, 0) => "·".to_owned(),
        (_, trips) => format!("{trips}/{counted}"),
    }
}

/// The type tests of these shots for a terminal; empty if there are none.
pub fn text(shots: &[Shot]) -> String {
    let parts = TypeTest::all(shots);
    let parts: Vec<String> = parts.iter().map(one).collect();
    parts.join("\n")
}

fn one(test: &TypeTest) -> String {
    let mut out = String::new();
    if !test.zone.is_empty() {
        let (heads, rows) = grid(test);
        let _ = writeln!(
            out,
            "  {}: median operate time in ms over the position in percent of the reach; · no trip, 1/4 one of four tripped",
            test.name
        );
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        out.push_str(&table(&heads, rows));
        let _ = writeln!(out, "\n  {}: reach", test.name);
        out.push_str(&table(&REACH_HEADS, reach_rows(test)));
    }
    if !test.curve.is_empty() {
        let _ = writeln!(out, "  {}: operate times compared with the curve", test.name);
        out.push_str(&table(&CURVE_HEADS, curve_rows(test)));
    }
    if let Some(line) = test.ramps.first() {
        let _ = writeln!(out, "  {}: pick-up and drop-off; {}", test.name, ramp_note(&line.ramp));
        out.push_str(&table(&RAMP_HEADS, ramp_rows(&test.ramps)));
    }
    if let Some(line) = test.edges.first() {
        let _ = writeln!(out, "  {}: {}", test.name, edge_note(&test.edges));
        out.push_str(&table(&edge_heads(line.line.of), edge_rows(&test.edges)));
    }
    out
}

fn table(heads: &[&str], rows: Vec<Vec<String>>) -> String {
    let columns: Vec<(&str, Align)> = heads
        .iter()
        .enumerate()
        .map(|(at, head)| (*head, if at == 0 { Align::Left } else { Align::Right }))
        .collect();
    let mut table = TextTable::new(&columns);
    rows.into_iter().for_each(|row| table.row(row));
    table.text()
}
