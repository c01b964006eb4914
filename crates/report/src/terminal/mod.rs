//! The report as text: the verdict first, then the figures behind it.

pub(crate) mod buffers;
pub(crate) mod clock;
mod cpus;
pub(crate) mod paced;
mod table;
#[cfg(test)]
mod tests;
pub(crate) mod why;

use crate::Report;
use crate::section::{self, Section, TERMINAL};
use crate::text::wall_clock;
use crate::verdict::Verdict;
use model::{RunState, SeriesView, Spike, kind};
use std::fmt::Write;
use std::path::Path;
pub(crate) use table::{Align, TextTable, width, wrapped};
use units::foreign::{self, Show};
use units::format_ns;

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
        let parts = [head(report, &paint, html), section::text(&TERMINAL, report, &paint)];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("\n")
    }
}

/// A subject that only a terminal shows apart; on the page and in the document it is among the series.
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

pub(crate) fn section(paint: &Paint, heading: &str, table: &TextTable) -> String {
    if table.is_empty() {
        return String::new();
    }
    format!("{}\n{}", paint.heading(heading), table.text())
}

pub(crate) fn worst_samples(report: &Report, paint: &Paint) -> String {
    let mut table = TextTable::new(&[("sample", Align::Right), ("series", Align::Left), ("at", Align::Right)]);
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
