//! The trip-time budget for a terminal.

use super::{Line, State, TRIP_TRANSFER_NS};
use crate::Report;
use crate::terminal::{Align, Paint, TextTable, section};
use crate::text::{count, ns_or_dash};
use crate::verdict::Verdict;
use std::fmt::Write;
use units::{Ns, SignedNs};

/// The budget of a run that is judged. A single probe without limits would fill only one line of it, so it is left out
/// there.
pub(super) fn budget(report: &Report, paint: &Paint) -> String {
    if report.profiles.is_empty() {
        return String::new();
    }
    let budget = &report.budget;
    let mut table = TextTable::new(&[("line", Align::Left), ("p99.9", Align::Right), ("max", Align::Right)]);
    table.columns(&[("samples", Align::Right), ("allowed", Align::Right), ("", Align::Left)]);
    for line in budget.lines.iter().chain(&budget.beside) {
        table.row(budget_row(line, paint));
    }
    let mut out = section(paint, "Trip-time budget", &table);
    if let Some(sum_ns) = budget.sum_ns {
        let sum = SignedNs(sum_ns);
        let whole = Ns(TRIP_TRANSFER_NS);
        let _ = writeln!(
            out,
            "  {}: {sum}, compared with {whole} of TT6 (IEC 61850-5).",
            budget.sum_label()
        );
        let verdict = match budget.answer {
            Some(_) => "",
            None => " No verdict on the trip: every line must be measured for that.",
        };
        let _ = writeln!(out, "  Added: {}.{verdict}", budget.added.join(", "));
        if let Some(own) = &budget.own {
            let _ = writeln!(out, "  {own}");
        }
    }
    out
}

fn budget_row(line: &Line, paint: &Paint) -> Vec<String> {
    let allowed = line.allowed_ns.map_or_else(|| "–".to_owned(), |ns| Ns(ns).to_string());
    let word = |verdict: Verdict| paint.verdict(verdict, verdict.word());
    let State::Measured(measured) = &line.state else {
        let blank = || "–".to_owned();
        let text = line.open(word).unwrap_or_default();
        return vec![line.title.into(), blank(), blank(), blank(), allowed, text];
    };
    let verdict = line.verdict.map_or_else(String::new, word);
    let remarks = [verdict, measured.worst.clone(), measured.note.clone()];
    let remarks: Vec<String> = remarks.into_iter().filter(|remark| !remark.is_empty()).collect();
    vec![
        line.title.into(),
        ns_or_dash(measured.p999_ns.map(|ns| ns as f64)),
        SignedNs(measured.max_ns).to_string(),
        count(measured.samples),
        allowed,
        remarks.join(", "),
    ]
}
