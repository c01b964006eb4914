//! The screen as text.

use super::Screen;
use super::limits::{Row, State};
use super::lines::{Size, fitted, label, rows_of};
use crate::Report;
use crate::terminal::{Paint, width, wrapped};
use crate::verdict::Verdict;
use std::path::Path;
use units::foreign::Show;
use units::format_ns;

/// Maximum lines for the run, and for its host: they are on what is signed.
const HEAD_LINES: usize = 3;

/// Maximum lines for all reasons together.
const WHY_LINES: usize = 5;

/// Maximum lines for all next steps together.
const NEXT_LINES: usize = 4;

/// Maximum lines for the proof.
const PROOF_LINES: usize = 2;

/// Maximum number of series that the line of a run without limits names.
const LARGEST_NAMED: usize = 3;

/// Maximum width of a limit's name in columns.
const LIMIT_COLUMNS: usize = 24;

/// Column of a limit's reason if the reason has its own lines.
const REASON_INDENT: usize = 4;

impl Report {
    /// The answer on one screen of this size, with ANSI colours if `colour` is set. Names the HTML report if there is one.
    pub fn screen(&self, size: Size, colour: bool, html: Option<&Path>) -> String {
        let report = &self.shown();
        let screen = Screen::of(report, size, html);
        let lines = screen.lines(&Paint { colour }, report, size);
        lines.join("\n") + "\n"
    }

    /// The answer for a file or pipe: texts that the screen would cut are complete, in as many lines as necessary.
    pub fn uncut(&self, html: Option<&Path>) -> String {
        let report = &self.shown();
        let screen = Screen::of(report, Size::LARGEST, html);
        screen.lines(&Paint { colour: false }, report, Size::WHOLE).join("\n") + "\n"
    }

    /// Text such as `; noise/cpu1 at most 31.2 µs`, of the series with the largest samples; empty if nothing was measured.
    fn largest(&self) -> String {
        let of_series = self
            .run
            .series
            .iter()
            .filter_map(|series| Some((series.max_ns?, &series.spec.name)));
        let mut all: Vec<_> = of_series.collect();
        all.sort_by_key(|(max_ns, _)| std::cmp::Reverse(*max_ns));
        let named = all.iter().take(LARGEST_NAMED);
        let named: String = named
            .map(|(max_ns, name)| format!("; {name} at most {}", format_ns(*max_ns as f64)))
            .collect();
        match all.len().saturating_sub(LARGEST_NAMED) {
            0 => named,
            more => format!("{named}, and {more} more"),
        }
    }

    /// The answer in one line, for a log.
    pub fn summary(&self) -> String {
        let report = &self.shown();
        let screen = Screen::of(report, Size::LARGEST, None);
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
        let figures = match self.is_judged() {
            true => String::new(),
            false => report.largest(),
        };
        format!(
            "triptime: {}: {}{figures}{worst}{undecided}{trip}; {}\n",
            screen.word,
            screen.tally.trim_end_matches('.'),
            screen.run
        )
    }
}

impl Screen {
    fn lines(&self, paint: &Paint, report: &Report, size: Size) -> Vec<String> {
        let mut lines = self.head(paint, report, size);
        let least = self.tail(size, 0);
        let left = size.lines.saturating_sub(lines.len() + rows_of(&least, size.columns));
        let table = self.table(paint, left, size);
        // Lines that no limit needs show the sentences that were cut.
        let tail = self.tail(size, left.saturating_sub(table.len()));
        // A command is never cut, so a line may take more than one on the screen.
        let fits = lines.len() + table.len() + rows_of(&tail, size.columns) <= size.lines;
        let tail = if fits || size.is_whole { tail } else { least };
        lines.extend(table);
        lines.extend(tail);
        lines
    }

    fn head(&self, paint: &Paint, report: &Report, size: Size) -> Vec<String> {
        let word = self.signed_word(report);
        let painted = paint.over(report.verdict(), report.is_partial_pass(), &word);
        let mut lines = size.after(&self.run, width(&word) + 2, HEAD_LINES);
        if let Some(first) = lines.first_mut() {
            first.replace_range(..width(&word), &painted);
        }
        lines.extend(size.labelled("On", &self.on, size.most(HEAD_LINES)));
        let tally = format!("{}.", self.tally.trim_end_matches('.'));
        lines.extend(size.first_lines(&tally, size.most(2)));
        let trip = self.trip.iter();
        lines.extend(trip.flat_map(|trip| size.labelled("Trip", trip, size.most(2))));
        lines
    }

    /// The lines after the limits, with up to `more` lines than usual.
    fn tail(&self, size: Size, mut more: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for (name, sentences, most) in [
            ("Why", &self.why, WHY_LINES),
            ("Next", &self.next, NEXT_LINES),
            ("Proves", &self.proves, PROOF_LINES),
        ] {
            let own = size.spoken(name, sentences, most.saturating_add(more));
            more = more.saturating_sub(own.len().saturating_sub(most));
            lines.extend(own);
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

    /// Limits that are exceeded or undecided as rows, in at most `left` lines; the others by name.
    fn table(&self, paint: &Paint, left: usize, size: Size) -> Vec<String> {
        let open = self.open();
        let names = |text: String| size.first_lines(&text, size.most(1));
        let within: Vec<String> = self.within().map(names).into_iter().flatten().collect();
        let not_measured: Vec<String> = self.not_measured().map(names).into_iter().flatten().collect();
        let mut left = left.saturating_sub(within.len() + not_measured.len() + usize::from(!open.is_empty()));
        let wide = open
            .iter()
            .map(|row| width(&row.id))
            .max()
            .unwrap_or(0)
            .min(LIMIT_COLUMNS);
        let mut lines = Vec::new();
        if !open.is_empty() {
            let heads = [
                "",
                "limit",
                "worst",
                "allowed",
                "times",
                "what held it up, or why; where",
            ];
            lines.push(paint.heading(&columns(size, wide, heads)));
        }
        let fits = size.is_whole || open.len() <= left;
        let shown = if fits { open.len() } else { left.saturating_sub(1) };
        left = left.saturating_sub(shown);
        for row in open.iter().take(shown) {
            // Lines that no limit needs show the reasons that one line would cut, those of the worst limits first.
            let of_row = row.lines(paint, wide, size, if fits { left } else { 0 });
            left = left.saturating_sub(of_row.len() - 1);
            lines.extend(of_row);
        }
        lines.extend(left_out(open.get(shown..).unwrap_or_default(), size));
        lines.extend(within.into_iter().map(|line| paint.verdict(Verdict::Pass, &line)));
        lines.extend(not_measured);
        lines
    }
}

impl Row {
    /// One line; the reason gets its own lines if one line would cut it, and there is room for `more` lines.
    fn lines(&self, paint: &Paint, wide: usize, size: Size, more: usize) -> Vec<String> {
        let (reason, place) = (self.reason(), self.place());
        let id = size.fitted(&self.id, wide);
        let line = self.with(size, wide, &id, &format!("{reason}; {place}"));
        let rest = match width(&line) > size.columns {
            true => wrapped(&reason, size.columns - REASON_INDENT),
            false => Vec::new(),
        };
        if rest.is_empty() || (!size.is_whole && more == 0) {
            return vec![self.painted(paint, size.pointed(&line, size.columns))];
        }
        let rest = size.first_pointed(&rest, more, size.columns - REASON_INDENT);
        let line = size.fitted(&self.with(size, wide, &id, &place), size.columns);
        let rest = rest.into_iter().map(|line| " ".repeat(REASON_INDENT) + &line);
        std::iter::once(self.painted(paint, line)).chain(rest).collect()
    }

    fn with(&self, size: Size, wide: usize, id: &str, why: &str) -> String {
        let times = self.times_text();
        columns(
            size,
            wide,
            [self.state.sign(), id, &self.worst, &self.allowed, &times, why],
        )
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
fn left_out(rest: &[&Row], size: Size) -> Option<String> {
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
    Some(fitted(&text, size.columns))
}

fn columns(size: Size, wide: usize, [sign, limit, worst, allowed, times, why]: [&str; 6]) -> String {
    let sign = if sign.is_empty() { " " } else { sign };
    let (worst, allowed) = (size.fitted(worst, 9), size.fitted(allowed, 9));
    format!("{sign} {limit:<wide$} {worst:>9} {allowed:>9} {times:>6}  {why}")
}
