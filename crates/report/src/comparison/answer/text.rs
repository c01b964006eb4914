//! The answer as text that fits on a screen.

use super::{AnswerScreen, Change, Sure};
use crate::comparison::Comparison;
use crate::screen::lines::{Size, label, rows_of};
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
    /// The answer on one screen of this size. `full` is the command that prints everything.
    pub fn answer(&self, size: Size, full: &str) -> String {
        self.in_size(full, size)
    }

    /// The answer for a file or pipe: texts that the screen would cut are complete, in as many lines as necessary.
    pub fn uncut(&self, full: &str) -> String {
        let fitting = self.in_size(full, Size::LARGEST);
        match fitting.contains('…') {
            true => self.in_size(full, Size::WHOLE),
            false => fitting,
        }
    }

    fn in_size(&self, full: &str, size: Size) -> String {
        let comparison = &self.shown();
        let lines = lines(comparison, &AnswerScreen::of(comparison), full, size);
        lines.join("\n") + "\n"
    }
}

fn lines(comparison: &Comparison, answer: &AnswerScreen, full: &str, size: Size) -> Vec<String> {
    let mut lines = sentences(answer, size);
    lines.extend(runs(comparison, size));
    let limits = answer.of_limits.iter();
    lines.extend(limits.flat_map(|text| size.labelled("Limits", text, size.most(LIMIT_LINES))));
    let differs = match answer.differs.is_empty() {
        true => "no difference in the inventories and settings".to_owned(),
        false => answer.differs.join("; "),
    };
    lines.extend(size.labelled("Set-up", &differs, size.most(DIFFER_LINES)));
    let tail = tail(comparison, answer, full, size);
    let room = size
        .lines
        .saturating_sub(lines.len() + rows_of(&tail, size.columns) + 1)
        .min(LISTED);
    lines.extend(table(comparison, &answer.changes, room, size));
    lines.extend(tail);
    lines
}

/// Each run gets at least one line; the rest is in the full text.
fn sentences(answer: &AnswerScreen, size: Size) -> Vec<String> {
    let each = size.most((SENTENCE_LINES / answer.sentences.len().max(1)).max(1));
    let all = answer.sentences.iter();
    let mut lines: Vec<String> = all.flat_map(|text| size.first_lines(text, each)).collect();
    if lines.len() > size.most(SENTENCE_LINES) {
        lines.truncate(SENTENCE_LINES - 1);
        lines.push("… and more runs: see the full text.".to_owned());
    }
    lines
}

fn runs(comparison: &Comparison, size: Size) -> Vec<String> {
    let run = |(name, run): &(String, model::RunView)| {
        let lasted = format_ns(run.duration_ns as f64);
        format!("{name}: {}, {lasted}, {}", run.info.command, run.file.display())
    };
    let all: Vec<String> = comparison.runs.iter().map(run).collect();
    let most = size.most(RUN_LINES);
    let shown = if all.len() > most { most - 1 } else { most };
    let name = |at: usize| if at == 0 { "Runs" } else { "" };
    let each = all.iter().take(shown).enumerate();
    let mut lines: Vec<String> = each
        .flat_map(|(at, text)| size.labelled(name(at), text, size.most(1)))
        .collect();
    if all.len() > shown {
        lines.extend(size.labelled("", &format!("and {} more", all.len() - shown), 1));
    }
    lines
}

fn table(comparison: &Comparison, changes: &[Change], room: usize, size: Size) -> Vec<String> {
    let Some(first) = changes.first().filter(|_| room > 0) else {
        return Vec::new();
    };
    let name = |run: usize| comparison.runs.get(run).map_or("", |(name, _)| name.as_str());
    let is_pair = comparison.runs.len() == 2;
    let heads = (name(first.runs.0), if is_pair { name(1) } else { "other" });
    let head = columns(
        ["largest changes", "figure", heads.0, heads.1, "times", "how sure"],
        size,
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
        let series = size.fitted(&change.series, series_columns(size) - more.len()) + &more;
        columns(
            [
                &series,
                &change.figure,
                &change.a.text(),
                &change.b.text(),
                &times,
                &sure,
            ],
            size,
        )
    };
    std::iter::once(head)
        .chain(changes.iter().take(room).map(row))
        .collect()
}

/// Width of the name of a series in columns: what the other columns of a narrow terminal leave.
fn series_columns(size: Size) -> usize {
    (size.columns - 54).min(28)
}

fn columns([series, figure, a, b, times, sure]: [&str; 6], size: Size) -> String {
    let wide = series_columns(size);
    let (series, figure) = (size.fitted(series, wide), size.fitted(figure, 14));
    let (a, b) = (size.fitted(a, 9), size.fitted(b, 9));
    let line = format!("{series:<wide$} {figure:<14} {a:>9} {b:>9} {times:>6}  {sure}");
    size.fitted(line.trim_end(), size.columns)
}

/// The meaning of the words, the series left out, and the command that shows everything.
fn tail(comparison: &Comparison, answer: &AnswerScreen, full: &str, size: Size) -> Vec<String> {
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
        false => size.labelled("Means", &means.join(" "), size.most(MEANS_LINES)),
    };
    lines.extend(
        left_out(comparison)
            .iter()
            .flat_map(|text| size.labelled("Left", text, size.most(1))),
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
