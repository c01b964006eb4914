//! The screen as text.

use super::limits::{Row, State};
use super::lines::{Length, first_lines, fitted, label, labelled, spoken, spoken_in_full};
use super::{COLUMNS, LINES, Screen};
use crate::Report;
use crate::terminal::{Paint, width, wrapped};
use crate::verdict::Verdict;
use std::path::Path;
use units::foreign::Show;

/// Maximum lines for all reasons together.
const WHY_LINES: usize = 5;

/// Maximum lines for all next steps together.
const NEXT_LINES: usize = 4;

/// Maximum lines for the proof.
const PROOF_LINES: usize = 2;

/// Lines of the table that do not belong to a single limit: the headings, limits without room, limits within, limits
/// not measured.
const TABLE_LINES: usize = 4;

/// Column of a limit's reason if the reason has its own lines.
const REASON_INDENT: usize = 4;

impl Report {
    /// The answer on one screen, with ANSI colours if `colour` is set. Names the HTML report if there is one.
    pub fn screen(&self, colour: bool, html: Option<&Path>) -> String {
        let report = &self.shown();
        let screen = Screen::of(report, html);
        let lines = screen.lines(&Paint { colour }, report, Length::Screen);
        lines.join("\n") + "\n"
    }

    /// The answer for a file or pipe: texts that the screen would cut are complete, in as many lines as necessary.
    pub fn uncut(&self, html: Option<&Path>) -> String {
        let report = &self.shown();
        let screen = Screen::of(report, html);
        let lines = |length| screen.lines(&Paint { colour: false }, report, length).join("\n") + "\n";
        let fitting = lines(Length::Screen);
        if fitting.contains('…') {
            lines(Length::Whole)
        } else {
            fitting
        }
    }

    /// The answer in one line, for a log.
    pub fn summary(&self) -> String {
        let screen = Screen::of(&self.shown(), None);
        let trip = screen
            .trip
            .as_ref()
            .map_or_else(String::new, |trip| format!("; trip: {trip}"));
        let exceeded = screen.rows.iter().filter(|row| row.state == State::Exceeded);
        let worst: String = exceeded
            .take(3)
            .map(|row| format!("; {} {} of {}", row.id, row.worst, row.allowed))
            .collect();
        let undecided = screen.undecided().map_or_else(String::new, |text| format!("; {text}"));
        format!(
            "triptime: {}: {}{worst}{undecided}{trip}; {}\n",
            screen.word,
            screen.tally.trim_end_matches('.'),
            screen.run
        )
    }
}

impl Screen {
    fn lines(&self, paint: &Paint, report: &Report, length: Length) -> Vec<String> {
        let mut lines = self.head(paint, report, length);
        let tail = self.tail(length);
        let rows = LINES.saturating_sub(lines.len() + tail.len() + TABLE_LINES);
        lines.extend(self.table(paint, length.lines(rows), length));
        lines.extend(tail);
        lines
    }

    fn head(&self, paint: &Paint, report: &Report, length: Length) -> Vec<String> {
        let word = self.signed_word(report);
        let run = length.fitted(&self.run, COLUMNS - width(&word) - 2);
        let painted = paint.over(report.verdict(), report.is_partial_pass(), &word);
        let mut lines = vec![format!("{painted}  {run}")];
        let tally = format!("{}.", self.tally.trim_end_matches('.'));
        lines.extend(first_lines(&tally, COLUMNS, length.lines(2)));
        let trip = self.trip.iter();
        lines.extend(trip.flat_map(|trip| labelled("Trip", trip, length.lines(2))));
        lines
    }

    /// The lines after the limits.
    fn tail(&self, length: Length) -> Vec<String> {
        let mut lines = Vec::new();
        for (name, sentences, most) in [
            ("Why", &self.why, WHY_LINES),
            ("Next", &self.next, NEXT_LINES),
            ("Proves", &self.proves, PROOF_LINES),
        ] {
            lines.extend(match length {
                Length::Screen => spoken(name, sentences, most),
                Length::Whole => spoken_in_full(name, sentences),
            });
        }
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

    /// Limits that are exceeded or undecided as rows; the others by name.
    fn table(&self, paint: &Paint, most: usize, length: Length) -> Vec<String> {
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
        lines.extend(open.iter().take(most).flat_map(|row| row.lines(paint, length)));
        lines.extend(left_out(open.get(most..).unwrap_or_default()));
        let names = |text: String| first_lines(&text, COLUMNS, length.lines(1));
        let within = self.within().map(names).into_iter().flatten();
        lines.extend(within.map(|line| paint.verdict(Verdict::Pass, &line)));
        lines.extend(self.not_measured().map(names).into_iter().flatten());
        lines
    }
}

impl Row {
    /// One line; if everything is to be shown and the line is too long for the screen, the reason gets its own lines.
    fn lines(&self, paint: &Paint, length: Length) -> Vec<String> {
        let (reason, place) = (self.reason(), self.place());
        let id = length.fitted(&self.id, 24);
        let line = self.with(&id, &format!("{reason}; {place}"));
        let is_cut = width(&line) > COLUMNS;
        let (line, rest) = match length {
            Length::Whole if is_cut => (self.with(&id, &place), wrapped(&reason, COLUMNS - REASON_INDENT)),
            _ => (fitted(&line, COLUMNS), Vec::new()),
        };
        let rest = rest.into_iter().map(|line| " ".repeat(REASON_INDENT) + &line);
        std::iter::once(self.painted(paint, line)).chain(rest).collect()
    }

    fn with(&self, id: &str, why: &str) -> String {
        let times = self.times_text();
        columns(self.state.sign(), id, &self.worst, &self.allowed, &times, why)
    }

    fn painted(&self, paint: &Paint, line: String) -> String {
        let Some(verdict) = self.state.verdict() else {
            return line;
        };
        let (sign, rest) = line.split_at(self.state.sign().len());
        paint.verdict(verdict, sign) + rest
    }
}

/// Number of open limits without a row, the worst of them with its value, and the names of others as far as they fit.
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
    let (worst, allowed) = (fitted(worst, 9), fitted(allowed, 9));
    format!("{sign} {limit:<24} {worst:>9} {allowed:>9} {times:>6}  {why}")
}
