//! Actions of a plan: commands of the site that ran while it was measured, and what each of them cost.

mod cost;
mod document;
mod page;
mod text;

use crate::Report;
use crate::section::{Fields, Section};
use crate::terminal::Paint;
use cost::{Row, Worst};
use model::{ActionPart, RunView};
use std::io;
use units::{Ns, format_ns};

/// The section of the report.
pub(crate) struct ActionsSection;

impl Section for ActionsSection {
    fn text(&self, report: &Report, paint: &Paint) -> String {
        text::actions(report, paint)
    }

    fn html(&self, report: &Report) -> askama::Result<String> {
        page::html(report)
    }

    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        let entries = document::actions(&report.run);
        fields.some("actions", (!entries.is_empty()).then_some(entries))
    }
}

/// Headings of the table.
const HEADS: [&str; 9] = [
    "action", "began", "took", "end", "shots", "worst of", "before", "under it", "after",
];

/// Heading of the section.
const TITLE: &str = "Actions and their cost";

/// Meaning of the table.
fn meaning(run: &RunView, rows: &[Row<'_>]) -> String {
    let mut text = "Under it: from the begin of the command to its end, and its time to settle. Before and after: at least 10 s and two windows, \
                    where the step has them, free of other actions."
        .to_owned();
    if rows
        .iter()
        .flat_map(|row| &row.costs)
        .flat_map(|cost| cost.worst)
        .any(|worst| !worst.is_exact())
    {
        text.push_str(" ≤: a window across the border of a span; of its samples only the worst of the run are kept one by one, and no other is larger.");
    }
    let coarse = rows.iter().filter(|row| row.is_coarse).count();
    if coarse > 0 {
        let window = Ns(run.info.window_ns);
        text.push_str(&format!(
            " Windows are {window}, longer than {coarse} of these spans: a shorter window (--window) tells more."
        ));
    }
    text
}

/// The lines of a row under [`HEADS`]: one for each kind of series, at least one.
fn lines(row: &Row<'_>) -> Vec<[String; 9]> {
    let action = row.action;
    let of = if action.part == ActionPart::Undo {
        "undo of "
    } else {
        ""
    };
    let at = |ns: u64| format_ns(ns as f64);
    let first = [
        format!("{of}{} {}", action.name, action.number),
        action.began_ns.or(action.due_ns).map_or_else(dash, at),
        action
            .began_ns
            .zip(action.ended_ns)
            .map_or_else(dash, |(began, ended)| at(ended.saturating_sub(began))),
        action.end.words(),
        shots(row),
    ];
    let blank = [const { String::new() }; 5];
    let none = [const { String::new() }; 4];
    let costs: Vec<[String; 4]> = row.costs.iter().map(costs).collect();
    let costs = if costs.is_empty() { vec![none] } else { costs };
    let heads = std::iter::once(first).chain(std::iter::repeat(blank));
    let join = |(head, cost): ([String; 5], [String; 4])| {
        let [a, b, c, d, e] = head;
        let [f, g, h, i] = cost;
        [a, b, c, d, e, f, g, h, i]
    };
    heads.zip(costs).map(join).collect()
}

fn costs(cost: &cost::Cost) -> [String; 4] {
    let [before, under, after] = cost.worst.map(worst);
    [cost.kind.name.to_owned(), before, under, after]
}

fn worst(worst: Worst) -> String {
    let Some(ns) = worst.at_most_ns else { return dash() };
    let bound = if worst.is_exact() { "" } else { "≤ " };
    format!("{bound}{}", format_ns(ns as f64))
}

/// Such as `12, 1 failed`.
fn shots(row: &Row<'_>) -> String {
    let shots = row.shots;
    match shots.played {
        0 => dash(),
        played => {
            let open = if shots.not_counted == 0 {
                String::new()
            } else {
                format!(", {} not counted", shots.not_counted)
            };
            format!("{played}, {} failed{open}", shots.failed)
        }
    }
}

fn dash() -> String {
    "–".to_owned()
}

/// The command and its last line of output.
fn command(row: &Row<'_>) -> String {
    let said = &row.action.said;
    match said.is_empty() {
        true => row.action.line.clone(),
        false => format!("{}: {said}", row.action.line),
    }
}

/// The rows to show where there is room for `most`: those that failed, then the earliest, in order of time; and the number of the others.
fn shown(rows: Vec<Row<'_>>, most: usize) -> (Vec<Row<'_>>, usize) {
    let left_out = rows.len().saturating_sub(most);
    let is_bad = |row: &Row<'_>| !row.action.end.is_good() || row.shots.failed > 0;
    let bad = rows.iter().filter(|row| is_bad(row)).count().min(most);
    let (mut bad_left, mut good_left) = (bad, most - bad);
    let keep = |row: &Row<'_>| {
        let left = if is_bad(row) { &mut bad_left } else { &mut good_left };
        let has_room = *left > 0;
        *left = left.saturating_sub(1);
        has_room
    };
    let mut keep = keep;
    (rows.into_iter().filter(|row| keep(row)).collect(), left_out)
}
