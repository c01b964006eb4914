//! The verdict as JUnit XML for continuous-integration servers: one test case for each limit and each series that it
//! matches. The mapping is described in `docs/formats/junit.md`.

pub(crate) mod case;
#[cfg(test)]
mod tests;

use crate::Report;
use crate::text::rfc3339;
use askama::Template;
use case::{Case, Outcome};
use model::fact::HOST_NAME;
use units::Realtime;
use units::foreign::{self, Show};

#[derive(Template)]
#[template(path = "junit.xml")]
pub(crate) struct Junit {
    command: String,
    time: String,
    timestamp: Option<String>,
    hostname: Option<String>,
    properties: Vec<(&'static str, String)>,
    cases: Vec<Case>,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl Report {
    /// The verdict as a JUnit file.
    ///
    /// # Errors
    /// Only if a value cannot be written as text, which is not possible for our values.
    pub fn junit(&self) -> Result<String, askama::Error> {
        let report = &self.shown();
        let run = &report.run;
        Junit {
            time: format!("{:.3}", run.duration_ns as f64 / 1e9),
            timestamp: Some(to_the_second(run.info.started)),
            hostname: HOST_NAME.of(&run.facts),
            properties: properties(report),
            ..Junit::of(run.info.command.clone(), case::all(report))
        }
        .render()
    }
}

/// A JUnit file for a command that has no result, or none yet: a single error with the reason. A server then shows
/// neither a pass nor the result of an earlier run.
///
/// # Errors
/// The errors of [`Report::junit`].
pub fn without_result(command: &str, why: &str) -> Result<String, askama::Error> {
    let why = foreign::message(why);
    let case = Case::error(&format!("triptime.{command}"), "result", &why, String::new());
    Junit::of(command.to_owned(), vec![case]).render()
}

impl Junit {
    pub(crate) fn of(command: String, cases: Vec<Case>) -> Self {
        let count = |is: fn(&Outcome) -> bool| cases.iter().filter(|case| is(&case.outcome)).count();
        Self {
            command,
            time: "0".to_owned(),
            timestamp: None,
            hostname: None,
            properties: Vec::new(),
            failures: count(|outcome| matches!(outcome, Outcome::Failure(_))),
            errors: count(|outcome| matches!(outcome, Outcome::Error(_))),
            skipped: count(|outcome| matches!(outcome, Outcome::Skipped(_))),
            cases,
        }
    }
}

/// Properties of the whole run.
fn properties(report: &Report) -> Vec<(&'static str, String)> {
    let info = &report.run.info;
    vec![
        ("verdict", report.words().to_owned()),
        ("coverage", report.judgement.coverage.word().to_owned()),
        ("summary", report.sentence()),
        ("run", info.id.clone()),
        ("file", report.run.file.display().to_string()),
        ("version", info.tool_version.clone()),
    ]
}

/// An instant in UTC in the form that the format requires: whole seconds, no time zone.
fn to_the_second(at: Realtime) -> String {
    rfc3339(at).chars().take("2026-11-21T02:00:00".len()).collect()
}
