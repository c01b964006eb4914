//! Limits and their checks in the HTML page.

use super::requirements::{self, NotApplicableRow};
use crate::Report;
use crate::limits::Sense;
use crate::text::capitalised;
use crate::verdict::{Check, Judgement, NotMeasured, Verdict};
use askama::Template;

/// Number of visible rows of a limit with the same answer; the others, none of them worse, are folded.
const ALIKE_IN_SIGHT: usize = 2;

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"<section id="limits">
  <h2>Limits</h2>
  <details class="counters"{% if checks < 13 %} open{% endif %}><summary>Every check of every limit, with its source, what it proves, and why not more</summary>
  <table class="checks">
    <thead><tr><th>Verdict</th><th>Series</th><th class="n">Measured</th><th class="n">Allowed</th><th>What it proves, and why not more</th></tr></thead>
    {% for group in groups %}
    <tbody>
      <tr class="limit-head"><td colspan="5"><b>{{ group.name }}</b>{% if group.name != group.id %} <span class="limit-id">{{ group.id }}</span>{% endif %} {{ group.sense }} {{ group.allowed }}{% if profiles > 1 %} ({{ group.profile }}){% endif %}. {{ group.why }} <span class="source">Source: {{ group.source }}.</span></td></tr>
      {% for row in group.rows %}{% call check(row) %}{% endcall %}{% endfor %}
    </tbody>
    {% if !group.folded.is_empty() %}
    <tbody class="fold"><tr><td colspan="5"><details><summary>{{ group.folded.len() }} more like these, none worse</summary>
      <table class="checks inner"><tbody>{% for row in group.folded %}{% call check(row) %}{% endcall %}{% endfor %}</tbody></table>
    </details></td></tr></tbody>
    {% endif %}
    {% endfor %}
    {% if !not_applicable.is_empty() %}
    <tbody>
      {% for row in not_applicable %}<tr class="check"><td><span class="badge none">not applicable</span></td><td>{{ row.series }}</td><td class="n">–</td><td class="n">–</td><td class="dim">{{ row.ids }}: {{ row.why }}.</td></tr>{% endfor %}
    </tbody>
    {% endif %}
    {% if !not_measured.is_empty() %}
    <tbody>
      {% for row in not_measured %}<tr class="check"><td><span class="badge none">not measured</span></td><td>{{ row.name }}{% if row.name != row.limit %} <span class="limit-id">{{ row.limit }}</span>{% endif %} <span class="dim">{{ row.series }}</span></td><td class="n">–</td><td class="n">{{ row.allowed }}</td><td class="dim">Nothing in this run is judged by it{% if !row.why.is_empty() %}: {{ row.why }}{% endif %}. Source: {{ row.source }}.</td></tr>{% endfor %}
    </tbody>
    {% endif %}
  </table></details>
</section>{% macro check(row) %}<tr class="check"><td><span class="badge {{ row.verdict }}">{{ row.verdict }}</span></td><td>{{ row.series }}</td><td class="n max" data-measured="{{ row.id }} {{ row.series }}">{{ row.measured }}</td><td class="n">{{ row.allowed }}</td><td>{% if !row.why.is_empty() %}<span class="why">{{ row.why }}</span>{% endif %}{% if !row.bound.is_empty() %}<span class="bound">{{ row.bound }}</span>{% endif %}</td></tr>{% endmacro %}"##
)]
struct Html {
    checks: usize,
    profiles: usize,
    groups: Vec<LimitGroup>,
    not_applicable: Vec<NotApplicableRow>,
    not_measured: Vec<NotMeasuredRow>,
}

/// The section of the page.
pub(super) fn html(report: &Report) -> askama::Result<String> {
    let judgement = &report.judgement;
    let open = not_measured(judgement).into_iter();
    Html {
        checks: judgement.checks.len() + judgement.requirements.len(),
        profiles: judgement.profiles.len(),
        groups: groups(report).into_iter().chain(requirements::groups(report)).collect(),
        not_applicable: requirements::not_applicable(report),
        not_measured: open.chain(requirements::not_asked(report)).collect(),
    }
    .render()
}

pub(super) struct LimitGroup {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) profile: String,
    pub(super) sense: &'static str,
    pub(super) allowed: String,
    pub(super) source: String,
    pub(super) why: String,
    pub(super) rows: Vec<CheckRow>,
    pub(super) folded: Vec<CheckRow>,
}

#[derive(Clone)]
pub(super) struct CheckRow {
    pub(super) id: String,
    pub(super) series: String,
    pub(super) measured: String,
    pub(super) allowed: String,
    pub(super) verdict: &'static str,
    pub(super) why: String,
    pub(super) bound: String,
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

/// The source's name for a host with this figure, and the bound that the figure proves.
fn class_and_bound(check: &Check) -> String {
    let class = check.class.as_ref().map(|class| format!("Class: {class}."));
    let bound = check.bound.map(|bound| bound.text());
    let decision = check.decision_text().map(|text| format!("{text}."));
    let bound = bound.map(|bound| if decision.is_some() { format!("{bound}.") } else { bound });
    class
        .into_iter()
        .chain(bound)
        .chain(decision.map(|text| capitalised(&text)))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The visible rows, and the folded rows: similar to a visible one but further from the limit. A single row is not
/// folded.
fn fold(group: &[&Check]) -> (Vec<CheckRow>, Vec<CheckRow>) {
    let (mut rows, mut folded) = (Vec::new(), Vec::new());
    for (at, check) in group.iter().enumerate() {
        // The reason of every failed check contains its own figures.
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

/// Prevents line breaks inside `240 000`, `120 µs` and `95 %`.
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

fn groups(report: &Report) -> Vec<LimitGroup> {
    by_limit(&report.judgement)
        .into_iter()
        .map(|group| {
            let limit = &group[0].limit;
            let (rows, folded) = fold(&group);
            LimitGroup {
                id: limit.id.clone(),
                name: limit.name.clone(),
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

/// A limit or requirement without a check in this run.
pub(super) struct NotMeasuredRow {
    pub(super) limit: String,
    pub(super) name: String,
    pub(super) series: String,
    pub(super) allowed: String,
    pub(super) source: String,
    /// The reason; empty if there is simply no such series.
    pub(super) why: String,
}

fn not_measured(judgement: &Judgement) -> Vec<NotMeasuredRow> {
    let row = |open: &NotMeasured| {
        let limit = &open.limit;
        NotMeasuredRow {
            limit: limit.id.clone(),
            name: limit.name.clone(),
            series: limit.series.shortened(),
            allowed: limit.allowed_text(),
            source: limit.source.clone(),
            why: open.why.clone(),
        }
    };
    judgement.not_measured.iter().map(row).collect()
}
