//! An audit on one screen: the result, the most important findings with reasons and remedies, and the command for the
//! rest.

use super::row::Row;
use super::{AuditAnswer, AuditReport};
use crate::screen::lines::{Size, fitted, label, rows_of};
use crate::terminal::{Paint, width};
use crate::text::plural;
use crate::verdict::Verdict;
use audit::finding::Outcome;

/// Lines per finding: finding, reason, remedy.
const FINDING_LINES: usize = 3;

/// Lines for the names of the other findings.
const OTHERS_LINES: usize = 3;

impl AuditReport {
    /// The audit on one screen of this size, with ANSI colours if `colour` is set. `full` is the command that shows everything;
    /// `tune` is the command that shows the proposed changes.
    pub fn screen(&self, size: Size, colour: bool, full: &str, tune: &str) -> String {
        let mut lines = self.head(&Paint { colour }, size);
        let is_open = self.count(Outcome::Fail) + self.count(Outcome::Warn) > 0;
        let tail = tail(full, tune, is_open, size);
        let taken = lines.len() + rows_of(&tail, size.columns) + OTHERS_LINES;
        let room = size.lines.saturating_sub(taken);
        let open: Vec<&Row> = self.open().collect();
        let (first, others) = open.split_at(open.len().min(room / FINDING_LINES));
        lines.extend(first.iter().flat_map(|row| finding(row, size)));
        lines.extend(named(others, size));
        lines.extend(tail);
        lines.join("\n") + "\n"
    }

    /// The result in one line, for a log.
    pub fn summary(&self) -> String {
        format!("triptime audit: {}: {}; {}\n", self.word(), self.tally(), self.machine)
    }

    pub(super) fn word(&self) -> &'static str {
        match self.answer() {
            AuditAnswer::Pass => "pass",
            AuditAnswer::Fail => "fail",
            AuditAnswer::Unknown => "unknown",
        }
    }

    /// The sign before the word: colour alone must never carry the meaning.
    pub(super) fn sign(&self) -> &'static str {
        match self.answer() {
            AuditAnswer::Pass => "✓",
            AuditAnswer::Fail => "✗",
            AuditAnswer::Unknown => "?",
        }
    }

    /// Findings that need attention, worst first.
    pub(super) fn open(&self) -> impl Iterator<Item = &Row> {
        let is_open = |row: &&Row| matches!(row.outcome, Outcome::Fail | Outcome::Warn | Outcome::Unknown);
        self.rows.iter().filter(is_open)
    }

    /// Number of findings for each outcome.
    pub(super) fn tally(&self) -> String {
        let failed = match self.failed() {
            none if none.is_empty() => "nothing failed".to_owned(),
            failed => format!("{} failed ({failed})", self.count(Outcome::Fail)),
        };
        let rest = [
            (Outcome::Warn, "warned"),
            (Outcome::Unknown, "unknown"),
            (Outcome::Pass, "passed"),
            (Outcome::Waived, "waived"),
            (Outcome::NotApplicable, "not applicable"),
        ];
        let rest = rest
            .iter()
            .map(|(outcome, word)| (self.count(*outcome), word))
            .filter(|(count, _)| *count > 0);
        let rest: String = rest.map(|(count, word)| format!(", {count} {word}")).collect();
        failed + &rest
    }

    pub(super) fn head(&self, paint: &Paint, size: Size) -> Vec<String> {
        let verdict = match self.answer() {
            AuditAnswer::Pass => Verdict::Pass,
            AuditAnswer::Fail => Verdict::Fail,
            AuditAnswer::Unknown => Verdict::Inconclusive,
        };
        let signed = format!("{} {}", self.sign(), self.word().to_uppercase());
        let what = fitted(&format!("audit of {}", self.machine), size.columns - width(&signed) - 2);
        let mut lines = vec![format!("{}  {what}", paint.verdict(verdict, &signed))];
        lines.extend(size.first_lines(&format!("{}.", self.tally()), 2));
        lines.extend(size.labelled("On", &self.runs_on(), 1));
        lines.extend(size.labelled("CPUs", &format!("for real-time work: {}", self.cpus), 1));
        lines
    }

    /// Hardware, hypervisor and container of the machine, in short.
    pub(super) fn runs_on(&self) -> String {
        let short = |(name, value): &(String, Result<String, String>)| {
            let value = value
                .as_ref()
                .map_or("unknown", |value| value.split(" (").next().unwrap_or(value));
            format!("{name}: {value}")
        };
        self.environment.iter().map(short).collect::<Vec<_>>().join(", ")
    }
}

fn finding(row: &Row, size: Size) -> Vec<String> {
    let what = match row.outcome {
        Outcome::Unknown => format!("unknown: {}", row.reason),
        _ => format!("{}; wanted {}", row.live, row.wanted),
    };
    let head = format!("{:<8}{}: {what}", row.severity.word(), row.id);
    let mut lines = vec![fitted(&head, size.columns)];
    lines.extend(size.labelled("", &format!("why: {}", row.why), 1));
    lines.extend(size.labelled("", &format!("how ({}): {}", row.change_word, row.how), 1));
    lines
}

/// The findings without lines of their own, by group.
fn named(others: &[&Row], size: Size) -> Vec<String> {
    if others.is_empty() {
        return Vec::new();
    }
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in others {
        match groups.iter_mut().find(|(name, _)| *name == row.group) {
            Some((_, ids)) => ids.push(&row.id),
            None => groups.push((row.group, vec![&row.id])),
        }
    }
    let groups = groups.iter().map(|(name, ids)| format!("{name}: {}", ids.join(", ")));
    let text = format!(
        "And {}: {}",
        plural(others.len() as u64, "other"),
        groups.collect::<Vec<_>>().join("; ")
    );
    size.first_lines(&text, OTHERS_LINES)
}

/// The next command. `is_open` is true if a finding failed or warned. A truncated command would be useless: if it does
/// not fit, the text names only the words to add to this command.
fn tail(full: &str, tune: &str, is_open: bool, size: Size) -> Vec<String> {
    let plan = [
        &format!("{tune} shows what would be changed, and the risk of each change"),
        tune,
        "triptime tune --plan, with the same options, shows what would be changed",
    ];
    let next = is_open.then(|| fitting("Next", plan, size));
    let full = fitting("Full", [full, full, "the same command with --full"], size);
    next.into_iter().chain([full]).collect()
}

/// The first of the texts that fits after the label, otherwise the last one.
fn fitting(name: &str, texts: [&str; 3], size: Size) -> String {
    let lines = texts.map(|text| label(name) + text);
    let [_, _, last] = &lines;
    let found = lines.iter().find(|line| width(line) <= size.columns);
    found.unwrap_or(last).clone()
}
