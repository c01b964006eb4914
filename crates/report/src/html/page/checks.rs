//! Limits and their checks as the page shows them.

use crate::Report;
use crate::limits::Sense;
use crate::verdict::{Check, Judgement, NotMeasured, Verdict};

/// Rows of a limit with the same answer that are in sight; the rest, none of them worse, is folded away.
const ALIKE_IN_SIGHT: usize = 2;

pub(crate) struct LimitGroup {
    pub(crate) id: String,
    pub(crate) profile: String,
    pub(crate) sense: &'static str,
    pub(crate) allowed: String,
    pub(crate) source: String,
    pub(crate) why: String,
    pub(crate) rows: Vec<CheckRow>,
    pub(crate) folded: Vec<CheckRow>,
}

#[derive(Clone)]
pub(crate) struct CheckRow {
    pub(crate) id: String,
    pub(crate) series: String,
    pub(crate) measured: String,
    pub(crate) allowed: String,
    pub(crate) verdict: &'static str,
    pub(crate) why: String,
    pub(crate) bound: String,
}

fn severity(check: &Check) -> (u8, f64) {
    let share = check.measured.map_or(0.0, |measured| {
        measured.as_f64() / (check.limit.allowed as f64).max(1.0)
    });
    match check.verdict {
        Verdict::Fail => (2, share),
        Verdict::Inconclusive => (1, share),
        Verdict::Pass => (0, share),
    }
}

fn worst_first(checks: &mut [&Check]) {
    checks.sort_by(|a, b| {
        let (a, b) = (severity(a), severity(b));
        b.0.cmp(&a.0).then(b.1.total_cmp(&a.1))
    });
}

/// Checks by limit, in the order of the profiles, worst first.
fn by_limit(judgement: &Judgement) -> Vec<Vec<&Check>> {
    let mut groups: Vec<Vec<&Check>> = Vec::new();
    for check in &judgement.checks {
        let same = |group: &&mut Vec<&Check>| group[0].profile == check.profile && group[0].limit.id == check.limit.id;
        match groups.iter_mut().find(same) {
            Some(group) => group.push(check),
            None => groups.push(vec![check]),
        }
    }
    for group in &mut groups {
        worst_first(group);
    }
    groups
}

fn check_row(check: &Check) -> CheckRow {
    CheckRow {
        id: check.limit.id.clone(),
        series: check.series.clone(),
        measured: check.measured_text(),
        allowed: check.limit.allowed_text(),
        verdict: check.verdict.word(),
        why: keep_together(&check.why),
        bound: keep_together(&class_and_bound(check)),
    }
}

/// The source's name for such a host, and the bound that the figure proves.
fn class_and_bound(check: &Check) -> String {
    let class = check.class.as_ref().map(|class| format!("Class: {class}."));
    let bound = check.bound.map(|bound| bound.text());
    class.into_iter().chain(bound).collect::<Vec<_>>().join(" ")
}

/// Rows in sight, and those like rows in sight but farther from the limit. A single row is not worth folding away.
fn fold(group: &[&Check]) -> (Vec<CheckRow>, Vec<CheckRow>) {
    let (mut rows, mut folded) = (Vec::new(), Vec::new());
    for (at, check) in group.iter().enumerate() {
        // Every fail has figures of its own in its reason.
        let alike = |other: &&&Check| {
            other.verdict == check.verdict && (other.why == check.why || check.verdict == Verdict::Fail)
        };
        let before = group[..at].iter().filter(alike).count();
        let after = group[at..].iter().filter(alike).count();
        let is_one_of_many = before >= ALIKE_IN_SIGHT && before + after > ALIKE_IN_SIGHT + 1;
        if is_one_of_many {
            folded.push(check_row(check));
        } else {
            rows.push(check_row(check));
        }
    }
    (rows, folded)
}

/// No line break inside `240 000`, `120 µs` and `95 %`.
fn keep_together(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let joins = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| letters.get(at));
        let after = letters.get(at + 1);
        before.is_some_and(char::is_ascii_digit) && after.is_some_and(|c| c.is_ascii_digit() || "nµmsh%".contains(*c))
    };
    letters
        .iter()
        .enumerate()
        .map(|(at, c)| if *c == ' ' && joins(at) { '\u{a0}' } else { *c })
        .collect()
}

pub(super) fn groups(report: &Report) -> Vec<LimitGroup> {
    by_limit(&report.judgement)
        .into_iter()
        .map(|group| {
            let limit = &group[0].limit;
            let (rows, folded) = fold(&group);
            LimitGroup {
                id: limit.id.clone(),
                profile: group[0].profile.clone(),
                sense: match limit.quantity.sense() {
                    Sense::AtMost => "at most",
                    Sense::AtLeast => "at least",
                },
                allowed: limit.allowed_text(),
                source: limit.source.clone(),
                why: keep_together(&limit.why),
                rows,
                folded,
            }
        })
        .collect()
}

/// A limit or requirement that judges nothing in this run.
pub(in crate::html) struct NotMeasuredRow {
    pub(in crate::html) limit: String,
    pub(in crate::html) series: String,
    pub(in crate::html) allowed: String,
    pub(in crate::html) source: String,
    /// Why; empty where it is simply not there.
    pub(in crate::html) why: String,
}

pub(super) fn not_measured(judgement: &Judgement) -> Vec<NotMeasuredRow> {
    let row = |open: &NotMeasured| {
        let limit = &open.limit;
        NotMeasuredRow {
            limit: limit.id.clone(),
            series: limit.series.shortened(),
            allowed: limit.allowed_text(),
            source: limit.source.clone(),
            why: open.why.clone(),
        }
    };
    judgement.not_measured.iter().map(row).collect()
}
