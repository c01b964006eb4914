//! The report as text: first the verdict, then its figures.

use super::{TERMINAL, cpus};
use crate::Report;
use crate::section::{self, Section};
use crate::terminal::Paint;
use crate::text::start_of;
use model::RunState;
use std::fmt::Write;
use std::path::Path;
use units::foreign::{self, Show};
use units::format_ns;

impl Report {
    /// The report for a terminal, with ANSI colours if `colour` is set. Names the HTML report if there is one.
    pub fn text(&self, colour: bool, html: Option<&Path>) -> String {
        let paint = Paint { colour };
        let report = &self.shown();
        let parts = [head(report, &paint, html), section::text(&TERMINAL, report, &paint)];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("\n")
    }
}

/// A section that only the terminal shows separately; on the page and in the document it is part of the series.
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
        RunState::Running => ", still measured",
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
        start_of(run),
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
