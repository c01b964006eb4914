//! The screen as text.

use super::limits::{Row, State};
use super::{COLUMNS, LINES, Screen};
use crate::Report;
use crate::terminal::{Paint, width, wrapped};
use crate::verdict::Verdict;
use std::path::Path;
use units::foreign::Show;

/// Lines that the reasons take together.
const WHY_LINES: usize = 5;

/// Lines that what a run proves takes.
const PROOF_LINES: usize = 2;

/// Lines of the table that are not a limit's own: its head, those that do not fit, those within, those not measured.
const TABLE_LINES: usize = 4;

/// Where the text of a labelled line begins.
const INDENT: usize = 8;

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
            screen.word, screen.tally, screen.run
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
        let is_open = |row: &&Row| matches!(row.state, State::Exceeded | State::Undecided);
        let open: Vec<&Row> = self.rows.iter().filter(is_open).collect();
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
        let names = |rows: &[&Row]| rows.iter().map(|row| row.id.as_str()).collect::<Vec<_>>().join(", ");
        if open.len() > most {
            lines.push(fitted(
                &format!("  and {} more: {}", open.len() - most, names(&open[most..])),
                COLUMNS,
            ));
        }
        for (state, word) in [(State::Within, "within"), (State::NotMeasured, "not measured")] {
            let rows: Vec<&Row> = self.rows.iter().filter(|row| row.state == state).collect();
            if !rows.is_empty() {
                let text = format!("{} {word}: {}", state.sign(), names(&rows));
                let text = fitted(&text, COLUMNS);
                lines.push(
                    state
                        .verdict()
                        .map_or(text.clone(), |verdict| paint.verdict(verdict, &text)),
                );
            }
        }
        lines
    }
}

impl Row {
    fn line(&self, paint: &Paint) -> String {
        let times = self.times.map_or_else(String::new, |times| format!("{times:.1}"));
        let more = match self.others {
            0 => String::new(),
            n => format!(" +{n}"),
        };
        let reason = match self.state {
            State::Exceeded => self.held.text(3),
            _ => self.why.clone(),
        };
        let reason = if reason.is_empty() { self.why.clone() } else { reason };
        let why = format!("{reason}; {}{more}", self.series);
        let line = columns(self.state.sign(), &self.id, &self.worst, &self.allowed, &times, &why);
        match self.state.verdict() {
            Some(verdict) => {
                let (sign, rest) = line.split_at(self.state.sign().len());
                paint.verdict(verdict, sign) + rest
            }
            None => line,
        }
    }
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

/// Sentences behind one label, in at most so many lines together.
fn spoken(name: &str, sentences: &[String], most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (at, sentence) in sentences.iter().enumerate() {
        // One line stays for each sentence that follows.
        let room = most.saturating_sub(lines.len() + sentences.len() - at - 1).min(2);
        lines.extend(labelled(if at == 0 { name } else { "" }, sentence, room));
    }
    lines
}

/// A text that begins at its place behind a label, in at most so many lines.
fn labelled(name: &str, text: &str, most: usize) -> Vec<String> {
    let lines = first_lines(text, COLUMNS - INDENT, most).into_iter().enumerate();
    lines
        .map(|(at, line)| label(if at == 0 { name } else { "" }) + &line)
        .collect()
}

fn label(name: &str) -> String {
    format!("{name:<INDENT$}")
}

/// The first lines of a text that is broken between words; the last of them says where more was cut off.
fn first_lines(text: &str, columns: usize, most: usize) -> Vec<String> {
    let mut lines = wrapped(text, columns);
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = fitted(&format!("{last} …"), columns);
        }
    }
    lines.iter().map(|line| fitted(line, columns)).collect()
}

/// A text within so many columns, its end cut off where it is longer.
fn fitted(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let kept: String = text.chars().take(columns - 1).collect();
    kept.trim_end().to_owned() + "…"
}
