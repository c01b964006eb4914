//! The report as text: the verdict first, then the figures behind it.

pub(crate) mod buffers;
pub(crate) mod clock;
mod cpus;
pub(crate) mod nics;
pub(crate) mod paced;
pub(crate) mod series;
mod table;
#[cfg(test)]
mod tests;
pub(crate) mod why;

use crate::Report;
use crate::budget::{Line, State, TRIP_TRANSFER_NS};
use crate::section::{Section, TERMINAL};
use crate::text::{count, ns_or_dash, plural, wall_clock};
use crate::verdict::{Check, Measured, Verdict};
use model::{EventKind, RunState, SeriesView, Spike, kind};
use std::fmt::Write;
use std::path::Path;
pub(crate) use table::{Align, Table, width, wrapped};
use units::foreign::{self, Show};
use units::format_ns;
/// Events that are listed.
const EVENTS_LISTED: usize = 20;
/// Worst samples that are listed of each kind of judged series.
const SPIKES_LISTED: usize = 3;

/// Writes text with or without ANSI colours.
pub(crate) struct Paint {
    pub(crate) colour: bool,
}

impl Paint {
    pub(crate) fn verdict(&self, verdict: Verdict, text: &str) -> String {
        let code = match verdict {
            Verdict::Pass => "1;32",
            Verdict::Fail => "1;31",
            Verdict::Inconclusive => "1;33",
        };
        self.wrap(code, text)
    }

    /// The verdict over profiles: a pass of some of their limits only is not green.
    pub(crate) fn over(&self, verdict: Verdict, is_partial_pass: bool, text: &str) -> String {
        match is_partial_pass {
            true => self.wrap("1;36", text),
            false => self.verdict(verdict, text),
        }
    }

    pub(crate) fn heading(&self, text: &str) -> String {
        self.wrap("1", text)
    }

    fn wrap(&self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

impl Report {
    /// The report for a terminal, with ANSI colours when `colour` is set. Names the HTML report where there is one.
    pub fn text(&self, colour: bool, html: Option<&Path>) -> String {
        let paint = Paint { colour };
        let report = &self.shown();
        let sections = TERMINAL.iter().map(|section| section.text(report, &paint));
        let parts = std::iter::once(head(report, &paint, html)).chain(sections);
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        parts.join("\n")
    }
}

/// A subject that only a terminal shows in this form; on the page and in the document it is among the fields that every run has.
pub(crate) struct Part(pub(crate) fn(&Report, &Paint) -> String);

impl Section for Part {
    fn text(&self, report: &Report, paint: &Paint) -> String {
        (self.0)(report, paint)
    }
}

fn head(report: &Report, paint: &Paint, html: Option<&Path>) -> String {
    let run = &report.run;
    let verdict = report.verdict();
    let word = if report.is_answer() {
        paint.heading("ANSWER")
    } else if report.is_judged() {
        paint.over(verdict, report.is_partial_pass(), &report.words().to_uppercase())
    } else {
        report.words().to_uppercase()
    };
    let mut out = format!("{word}  {}\n", report.sentence());
    for profile in report
        .judgement
        .profiles
        .iter()
        .filter(|_| report.judgement.profiles.len() > 1)
    {
        let (name, coverage) = (&profile.name, profile.coverage.text());
        let _ = writeln!(out, "  {:<12}  {name}: {coverage}", profile.words());
    }
    if let Some(lacks) = &run.lacks_log {
        let _ = writeln!(out, "  {lacks}");
    }
    let ended = match run.state {
        RunState::Complete => "",
        RunState::Interrupted => ", ended early",
    };
    let profiles: Vec<&str> = report.profiles.iter().map(|profile| profile.name.as_str()).collect();
    let limits = match profiles[..] {
        [] => "none".to_owned(),
        _ => profiles.join(", "),
    };
    let _ = writeln!(
        out,
        "{}, {} from {}{ended}; limits: {limits}",
        run.info.command,
        format_ns(run.duration_ns as f64),
        wall_clock(run.info.started),
    );
    let _ = writeln!(out, "run:    {}", run.file.display());
    if let Some(answer) = &report.budget.answer {
        let sentence = answer.sentence(|verdict| paint.verdict(verdict, verdict.word()));
        let _ = writeln!(out, "trip:   {sentence}");
    }
    if let Some(html) = html {
        let _ = writeln!(out, "report: {}", foreign::shown(&html.to_string_lossy()));
    }
    out + &cpus::chosen(report)
}

pub(crate) fn checks(report: &Report, paint: &Paint) -> String {
    let judgement = &report.judgement;
    let mut table = Table::new(&[
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
    nics::requirements(report, paint, &mut table);
    section(paint, "Limits", &table)
}

/// Checks that one line can stand for: the same limit, and the same answer for the same reason. Every fail has figures of its
/// own in its reason; the worst of them stands for the others.
fn same_answer(a: &Check, b: &Check) -> bool {
    let limit = |check: &Check| (check.profile.clone(), check.limit.id.clone());
    let same_reason = a.why == b.why || a.verdict == Verdict::Fail;
    a.verdict == b.verdict && same_reason && limit(a) == limit(b)
}

fn figure(check: &Check) -> f64 {
    check.measured.map_or(0.0, Measured::as_f64)
}

pub(crate) fn section(paint: &Paint, heading: &str, table: &Table) -> String {
    if table.is_empty() {
        return String::new();
    }
    format!("{}\n{}", paint.heading(heading), table.text())
}

/// The budget of a run that is judged; a single probe that nobody judges is one line of it, and the rest would be noise.
pub(crate) fn budget(report: &Report, paint: &Paint) -> String {
    if report.profiles.is_empty() {
        return String::new();
    }
    let budget = &report.budget;
    let mut table = Table::new(&[("line", Align::Left), ("p99.9", Align::Right), ("max", Align::Right)]);
    table.columns(&[("samples", Align::Right), ("allowed", Align::Right), ("", Align::Left)]);
    for line in budget.lines.iter().chain(&budget.beside) {
        table.row(budget_row(line, paint));
    }
    let mut out = section(paint, "Trip-time budget", &table);
    if let Some(sum_ns) = budget.sum_ns {
        let sum = format_ns(sum_ns as f64);
        let whole = format_ns(TRIP_TRANSFER_NS as f64);
        let _ = writeln!(
            out,
            "  {}: {sum}, beside {whole} of TT6 (IEC 61850-5).",
            budget.sum_label()
        );
        let verdict = match budget.answer {
            Some(_) => "",
            None => " No verdict on the trip: that takes every line.",
        };
        let _ = writeln!(out, "  Added: {}.{verdict}", budget.added.join(", "));
        if let Some(own) = &budget.own {
            let _ = writeln!(out, "  {own}");
        }
    }
    out
}

fn budget_row(line: &Line, paint: &Paint) -> Vec<String> {
    let allowed = line
        .allowed_ns
        .map_or_else(|| "–".to_owned(), |ns| format_ns(ns as f64));
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
        format_ns(measured.max_ns as f64),
        count(measured.samples),
        allowed,
        remarks.join(", "),
    ]
}

pub(crate) fn worst_samples(report: &Report, paint: &Paint) -> String {
    let mut table = Table::new(&[("sample", Align::Right), ("series", Align::Left), ("at", Align::Right)]);
    table.columns(&[("CPU", Align::Right), ("number", Align::Right), ("cause", Align::Left)]);
    let judged: Vec<&SeriesView> = report
        .run
        .series
        .iter()
        .filter(|series| is_judged(report, series) || series.spikes.iter().any(|spike| spike.explanation.is_some()))
        .collect();
    for name in kind::in_order(judged.iter().map(|series| series.family())) {
        let of_family = judged.iter().filter(|series| series.family() == name);
        let mut spikes: Vec<(&SeriesView, &Spike)> = of_family
            .flat_map(|series| series.spikes.iter().map(|spike| (*series, spike)))
            .collect();
        spikes.sort_by_key(|(_, spike)| std::cmp::Reverse(spike.value_ns));
        for (series, spike) in spikes.into_iter().take(SPIKES_LISTED) {
            table.row(spike_row(series, spike));
        }
    }
    section(paint, "Worst samples", &table)
}

fn is_judged(report: &Report, series: &SeriesView) -> bool {
    report
        .judgement
        .checks
        .iter()
        .any(|check| check.series == series.spec.name)
}

fn spike_row(series: &SeriesView, spike: &Spike) -> Vec<String> {
    let number = |n: Option<u64>| n.map_or_else(|| "–".to_owned(), |n| n.to_string());
    vec![
        format_ns(spike.value_ns as f64),
        series.spec.name.clone(),
        format_ns(spike.at_ns as f64),
        number(spike.cpu.map(u64::from)),
        number(spike.sequence),
        spike
            .explanation
            .as_ref()
            .map(|why| why.text.clone())
            .unwrap_or_default(),
    ]
}

pub(crate) fn events(report: &Report, paint: &Paint) -> String {
    let mut table = Table::new(&[("at", Align::Right), ("event", Align::Left), ("", Align::Left)]);
    let shown = |kind: EventKind| !matches!(kind, EventKind::StepStarted | EventKind::StepStopped);
    let mut all: Vec<_> = report.run.events.iter().filter(|event| shown(event.kind)).collect();
    // One that touches several series stands once.
    all.dedup_by(|next, one| (next.kind, &next.text) == (one.kind, &one.text) && next.series != one.series);
    for event in all.iter().take(EVENTS_LISTED) {
        table.row(vec![
            format_ns(event.at_ns as f64),
            event.kind.word().to_owned(),
            event.text.clone(),
        ]);
    }
    if all.len() > EVENTS_LISTED {
        table.note(&format!(
            "and {} more",
            plural((all.len() - EVENTS_LISTED) as u64, "event")
        ));
    }
    section(paint, "Events", &table)
}
