//! The answer as text that fits on a screen.

use super::{AnswerScreen, Change, Sure};
use crate::comparison::Comparison;
use crate::screen::lines::{Length, first_lines, label, labelled};
use crate::screen::{COLUMNS, LINES};
use crate::text::count;
use units::foreign::Show;
use units::format_ns;

/// Number of changes that are listed.
const LISTED: usize = 10;

/// Maximum lines of the sentences together, of the runs, of the limits, and of the differences.
const SENTENCE_LINES: usize = 4;
const RUN_LINES: usize = 3;
const LIMIT_LINES: usize = 2;
const DIFFER_LINES: usize = 4;

/// Maximum lines that explain the words in the last column.
const MEANS_LINES: usize = 3;

impl Comparison {
    /// The answer on one screen. `full` is the command that prints everything.
    pub fn answer(&self, full: &str) -> String {
        self.in_length(full, Length::Screen)
    }

    /// The answer for a file or pipe: texts that the screen would cut are complete, in as many lines as necessary.
    pub fn uncut(&self, full: &str) -> String {
        let fitting = self.in_length(full, Length::Screen);
        match fitting.contains('…') {
            true => self.in_length(full, Length::Whole),
            false => fitting,
        }
    }

    fn in_length(&self, full: &str, length: Length) -> String {
        let comparison = &self.shown();
        let lines = lines(comparison, &AnswerScreen::of(comparison), full, length);
        lines.join("\n") + "\n"
    }
}

fn lines(comparison: &Comparison, answer: &AnswerScreen, full: &str, length: Length) -> Vec<String> {
    let mut lines = sentences(answer, length);
    lines.extend(runs(comparison, length));
    let limits = answer.of_limits.iter();
    lines.extend(limits.flat_map(|text| labelled("Limits", text, length.lines(LIMIT_LINES))));
    let differs = match answer.differs.is_empty() {
        true => "no difference in the inventories and settings".to_owned(),
        false => answer.differs.join("; "),
    };
    lines.extend(labelled("Set-up", &differs, length.lines(DIFFER_LINES)));
    let tail = tail(comparison, answer, full, length);
    let room = LINES.saturating_sub(lines.len() + tail.len() + 1).min(LISTED);
    lines.extend(table(comparison, &answer.changes, room, length));
    lines.extend(tail);
    lines
}

/// Each run gets at least one line; the rest is in the full text.
fn sentences(answer: &AnswerScreen, length: Length) -> Vec<String> {
    let each = length.lines((SENTENCE_LINES / answer.sentences.len().max(1)).max(1));
    let all = answer.sentences.iter();
    let mut lines: Vec<String> = all.flat_map(|text| first_lines(text, COLUMNS, each)).collect();
    if lines.len() > length.lines(SENTENCE_LINES) {
        lines.truncate(SENTENCE_LINES - 1);
        lines.push("… and more runs: see the full text.".to_owned());
    }
    lines
}

fn runs(comparison: &Comparison, length: Length) -> Vec<String> {
    let run = |(name, run): &(String, model::RunView)| {
        let length = format_ns(run.duration_ns as f64);
        format!("{name}: {}, {length}, {}", run.info.command, run.file.display())
    };
    let all: Vec<String> = comparison.runs.iter().map(run).collect();
    let most = length.lines(RUN_LINES);
    let shown = if all.len() > most { most - 1 } else { most };
    let name = |at: usize| if at == 0 { "Runs" } else { "" };
    let each = all.iter().take(shown).enumerate();
    let mut lines: Vec<String> = each
        .flat_map(|(at, text)| labelled(name(at), text, length.lines(1)))
        .collect();
    if all.len() > shown {
        lines.extend(labelled("", &format!("and {} more", all.len() - shown), 1));
    }
    lines
}

fn table(comparison: &Comparison, changes: &[Change], room: usize, length: Length) -> Vec<String> {
    let Some(first) = changes.first().filter(|_| room > 0) else {
        return Vec::new();
    };
    let name = |run: usize| comparison.runs.get(run).map_or("", |(name, _)| name.as_str());
    let is_pair = comparison.runs.len() == 2;
    let heads = (name(first.runs.0), if is_pair { name(1) } else { "other" });
    let head = columns(
        ["largest changes", "figure", heads.0, heads.1, "times", "how sure"],
        length,
    );
    let row = |change: &Change| {
        let more = match change.others {
            0 => String::new(),
            n => format!(" +{n}"),
        };
        let mut sure = change.sure.word().to_owned();
        if change.is_unfair {
            sure += ", conditions differ";
        }
        if !is_pair {
            sure = format!("{}: {sure}", name(change.runs.1));
        }
        let times = match change.times.is_finite() {
            true => format!("{:.2}", change.times),
            false => "–".to_owned(),
        };
        let series = length.fitted(&change.series, 28 - more.len()) + &more;
        columns(
            [
                &series,
                &change.figure,
                &change.a.text(),
                &change.b.text(),
                &times,
                &sure,
            ],
            length,
        )
    };
    std::iter::once(head)
        .chain(changes.iter().take(room).map(row))
        .collect()
}

fn columns([series, figure, a, b, times, sure]: [&str; 6], length: Length) -> String {
    let (series, figure) = (length.fitted(series, 28), length.fitted(figure, 14));
    let (a, b) = (length.fitted(a, 10), length.fitted(b, 10));
    let line = format!("{series:<28} {figure:<14} {a:>10} {b:>10} {times:>8}  {sure}");
    length.fitted(line.trim_end(), COLUMNS)
}

/// The meaning of the words, the series left out, and the command that shows everything.
fn tail(comparison: &Comparison, answer: &AnswerScreen, full: &str, length: Length) -> Vec<String> {
    let has = |sure: Sure| answer.changes.iter().any(|change| change.sure == sure);
    let mut means: Vec<&str> = Vec::new();
    if has(Sure::ByWindows) {
        means.push("sure: by windows, all such statements together at 95 %.");
    }
    if has(Sure::FewWindows) {
        means.push("few windows: 95 % together, if windows are independent except for the correlation of neighbours.");
    }
    if has(Sure::BySamples) {
        means.push("by samples: 95 % together, if samples are independent, which latencies seldom are.");
    }
    if has(Sure::Chance) {
        means.push("may be chance: chance alone can explain it.");
    }
    let mut lines = match means.is_empty() {
        true => Vec::new(),
        false => labelled("Means", &means.join(" "), length.lines(MEANS_LINES)),
    };
    lines.extend(
        left_out(comparison)
            .iter()
            .flat_map(|text| labelled("Left", text, length.lines(1))),
    );
    lines.push(label("Full") + full);
    lines
}

/// Series without a counterpart.
fn left_out(comparison: &Comparison) -> Option<String> {
    let refused: u64 = comparison.series.iter().map(|one| one.not_compared.len() as u64).sum();
    let alone = comparison.alone.len() as u64;
    let why = comparison.series.iter().flat_map(|one| &one.not_compared).next();
    let said = [
        (alone > 0).then(|| format!("{} series of one run only", count(alone))),
        why.map(|(_, why)| format!("{refused} not compared: {why}")),
    ];
    let said: Vec<String> = said.into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join("; "))
}
