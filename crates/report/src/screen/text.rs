//! The screen as text.

use super::limits::{Row, State};
use super::lines::{first_lines, fitted, label, labelled, spoken};
use super::{COLUMNS, LINES, Screen};
use crate::Report;
use crate::terminal::{Paint, width};
use crate::verdict::Verdict;
use std::path::Path;
use units::foreign::Show;

/// Lines that the reasons take together.
const WHY_LINES: usize = 5;

/// Lines that what a run proves takes.
const PROOF_LINES: usize = 2;

/// Lines of the table that are not a limit's own: its head, those that do not fit, those within, those not measured.
const TABLE_LINES: usize = 4;

impl Report {
    /// The answer on one screen, with ANSI colours when `colour` is set. Names the HTML report where there is one.
    pub fn screen(&self, colour: bool, html: Option<&Path>) -> String {
        let report = &self.shown();
        let screen = Screen::of(report, html);
        let lines = screen.lines(&Paint { colour }, report);
        lines.join("\n") + "\n"
    }

    /// The answer in one line, for a log.
    pub fn summary(&self) -> String {
        let screen = Screen::of(&self.shown(), None);
        let trip = screen.trip.map_or_else(String::new, |trip| format!("; trip: {trip}"));
        let exceeded = screen.rows.iter().filter(|row| row.state == State::Exceeded);
        let worst: String = exceeded
            .take(3)
            .map(|row| format!("; {} {} of {}", row.id, row.worst, row.allowed))
            .collect();
        format!(
            "triptime: {}: {}{worst}{trip}; {}\n",
            screen.word,
            screen.tally.trim_end_matches('.'),
            screen.run
        )
    }
}

impl Screen {
    fn lines(&self, paint: &Paint, report: &Report) -> Vec<String> {
        let mut lines = self.head(paint, report);
        let tail = self.tail();
        let rows = LINES.saturating_sub(lines.len() + tail.len() + TABLE_LINES);
        lines.extend(self.table(paint, rows));
        lines.extend(tail);
        lines
    }

    fn head(&self, paint: &Paint, report: &Report) -> Vec<String> {
        let word = self.signed_word(report);
        let run = fitted(&self.run, COLUMNS - width(&word) - 2);
        let painted = paint.over(report.verdict(), report.is_partial_pass(), &word);
        let mut lines = vec![format!("{painted}  {run}")];
        lines.extend(first_lines(
            &format!("{}.", self.tally.trim_end_matches('.')),
            COLUMNS,
            2,
        ));
        let trip = self.trip.iter().flat_map(|trip| labelled("Trip", trip, 2));
        lines.extend(trip);
        lines
    }

    /// What follows the limits.
    fn tail(&self) -> Vec<String> {
        let mut lines = spoken("Why", &self.why, WHY_LINES);
        lines.extend(spoken("Next", &self.next, self.next.len()));
        lines.extend(spoken("Proves", &self.proves, PROOF_LINES));
        lines.extend(self.page.iter().map(|page| label("Report") + page));
        lines.push(label("Full") + &self.full);
        lines
    }

    fn signed_word(&self, report: &Report) -> String {
        let sign = match report.verdict() {
            Verdict::Pass if report.is_partial_pass() => State::NotMeasured.sign(),
            Verdict::Pass => State::Within.sign(),
            Verdict::Fail => State::Exceeded.sign(),
            Verdict::Inconclusive => State::Undecided.sign(),
        };
        format!("{sign} {}", self.word)
    }

    /// Limits that are exceeded or undecided in rows; the others by name.
    fn table(&self, paint: &Paint, most: usize) -> Vec<String> {
        let open = self.open();
        let mut lines = Vec::new();
        if !open.is_empty() {
            lines.push(paint.heading(&columns(
                "",
                "limit",
                "worst",
                "allowed",
                "times",
                "what held it up, or why; where",
            )));
        }
        lines.extend(open.iter().take(most).map(|row| row.line(paint)));
        lines.extend(left_out(open.get(most..).unwrap_or_default()));
        let within = self
            .within()
            .map(|text| paint.verdict(Verdict::Pass, &fitted(&text, COLUMNS)));
        lines.extend(within);
        lines.extend(self.not_measured().map(|text| fitted(&text, COLUMNS)));
        lines
    }
}

impl Row {
    fn line(&self, paint: &Paint) -> String {
        let why = format!("{}; {}", self.reason(), self.place());
        let line = columns(
            self.state.sign(),
            &self.id,
            &self.worst,
            &self.allowed,
            &self.times_text(),
            &why,
        );
        match self.state.verdict() {
            Some(verdict) => {
                let (sign, rest) = line.split_at(self.state.sign().len());
                paint.verdict(verdict, sign) + rest
            }
            None => line,
        }
    }
}

/// How many open limits have no row, the worst of them with its value, and the names of the others as far as they fit.
fn left_out(rest: &[&Row]) -> Option<String> {
    let (worst, others) = rest.split_first()?;
    let figure = match worst.times_text() {
        times if times.is_empty() => format!("{} of {}", worst.worst, worst.allowed),
        times => format!("{} of {}, {times} times", worst.worst, worst.allowed),
    };
    let mut text = format!(
        "  and {} more: {} ({}, {figure})",
        rest.len(),
        worst.id,
        worst.state.word()
    );
    for other in others {
        text += ", ";
        text += &other.id;
    }
    Some(fitted(&text, COLUMNS))
}

fn columns(sign: &str, limit: &str, worst: &str, allowed: &str, times: &str, why: &str) -> String {
    let sign = if sign.is_empty() { " " } else { sign };
    let limit = fitted(limit, 24);
    let line = format!(
        "{sign} {limit:<24} {:>9} {:>9} {times:>6}  {why}",
        fitted(worst, 9),
        fitted(allowed, 9)
    );
    fitted(&line, COLUMNS)
}
