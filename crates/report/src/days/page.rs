//! Verdicts per day, in the HTML page.

use super::section::{MEANING, TITLE};
use super::{Day, LimitDays};
use crate::Report;
use crate::verdict::Verdict;
use askama::Template;

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"
<section id="days">
  <h2>{{ title }}</h2>
  <p class="what">{{ meaning }}</p>
  <table class="figures">
    <thead><tr><th>limit</th><th class="n">allowed</th><th>day</th><th>verdict</th><th class="n">worst</th><th>series; why</th></tr></thead>
    <tbody>{% for limit in limits %}<tr><td>{{ limit.name }}{% if limit.name != limit.id %} <span class="limit-id">{{ limit.id }}</span>{% endif %}</td><td class="n">{{ limit.allowed }}</td><td colspan="4">{{ limit.sentence }}</td></tr>{% for day in limit.days %}<tr><td></td><td></td><td>{{ day.number }}</td><td>{{ day.word }}</td><td class="n">{{ day.worst }}</td><td>{{ day.told }}</td></tr>{% endfor %}{% endfor %}</tbody>
  </table>
</section>
"##
)]
struct Html {
    title: &'static str,
    meaning: &'static str,
    limits: Vec<LimitPart>,
}

struct LimitPart {
    id: String,
    name: String,
    allowed: String,
    sentence: String,
    days: Vec<DayPart>,
}

struct DayPart {
    number: u64,
    word: &'static str,
    worst: String,
    told: String,
}

/// The section of the page; empty without days.
pub(super) fn html(report: &Report) -> askama::Result<String> {
    match report.days.is_empty() {
        true => Ok(String::new()),
        false => Html {
            title: TITLE,
            meaning: MEANING,
            limits: report.days.iter().map(limit).collect(),
        }
        .render(),
    }
}

fn limit(days: &LimitDays) -> LimitPart {
    LimitPart {
        id: days.limit.id.clone(),
        name: days.limit.name.clone(),
        allowed: days.limit.allowed_text(),
        sentence: days.sentence(),
        days: days.days.iter().map(day).collect(),
    }
}

fn day(day: &Day) -> DayPart {
    DayPart {
        number: day.number,
        word: match day.verdict {
            Verdict::Pass => "within",
            Verdict::Fail => "exceeded",
            Verdict::Inconclusive => "undecided",
        },
        worst: day.worst.clone(),
        told: match day.why.is_empty() {
            true => day.series.clone(),
            false => format!("{}: {}", day.series, day.why),
        },
    }
}
