//! The series of a comparison for a terminal: the series of one kind in one table, and what is said of them below it.

use super::words::{Group, groups, summary};
use crate::comparison::{Compared, Comparison};
use crate::terminal::{Align, TextTable, wrapped};
use crate::text::{count, ns_or_dash};

/// Width of the statements in columns.
const COLUMNS: usize = 98;

/// The figures of each series, followed by the statements about them.
pub(super) fn text(comparison: &Comparison) -> String {
    if comparison.series.is_empty() {
        return "No series is in more than one of the runs.\n".to_owned();
    }
    let mut out = String::new();
    for group in groups(comparison) {
        out += &part(comparison, &group);
        out.push('\n');
    }
    out + "Measured samples. All stated differences are true together (95 %); those that are not sure are true together\n\
         if their assumptions are. Each statement with its interval: --json. Mean, p99.99 and pictures: --html.\n"
}

fn part(comparison: &Comparison, group: &Group<'_>) -> String {
    let mut out = figures(comparison, group);
    for line in summary(comparison, group) {
        for (at, line) in wrapped(&line, COLUMNS - 4).iter().enumerate() {
            out += if at == 0 { "  " } else { "    " };
            out += line;
            out.push('\n');
        }
    }
    out
}

fn figures(comparison: &Comparison, group: &Group<'_>) -> String {
    let mut table = TextTable::new(&[(group.family, Align::Left), ("run", Align::Left)]);
    for name in ["samples", "p50", "p99", "p99.9", "max"] {
        table.columns(&[(name, Align::Right)]);
    }
    for compared in &group.series {
        rows(comparison, compared, &mut table);
    }
    table.text()
}

/// A row for each run; the name of the series stands in the first.
fn rows(comparison: &Comparison, compared: &Compared, table: &mut TextTable) {
    let mut label = compared.label();
    for (index, (run, _)) in comparison.runs.iter().enumerate() {
        let Some(series) = comparison.view(index, compared) else {
            continue;
        };
        let f = series.figures();
        let ns = |ns: Option<u64>| ns_or_dash(ns.map(|ns| ns as f64));
        table.row(vec![
            std::mem::take(&mut label).to_owned(),
            run.clone(),
            count(series.counters.received),
            ns(f.p50),
            ns(f.p99),
            ns(f.p999),
            ns_or_dash(f.max.map(|ns| ns as f64)),
        ]);
    }
}
