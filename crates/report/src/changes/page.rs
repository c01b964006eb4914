//! Changes of the machine, in the HTML page.

use super::drift::{Drift, drift, value};
use super::{LISTED, Row, audited, rows, sentence, unread};
use crate::Report;
use askama::Template;
use units::Ns;

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"<section id="changes">
  <h2>Changes of the machine</h2>
  {% if let Some(sentence) = sentence %}<p class="what">{{ sentence }} A change that was undone between two looks is not seen.</p>{% else %}<p class="dim">Not watched in this run: whether the machine changed is not known.</p>{% endif %}
  {% for why in unread %}<p class="dim">Not watched: {{ why }}</p>{% endfor %}
  {% if let Some(audited) = audited %}<p class="what">{{ audited }}</p>{% endif %}
  {% for text in reservations %}<p class="what">Reservation: {{ text }}.</p>{% endfor %}
  {% if !rows.is_empty() %}<table class="figures"><thead><tr><th class="n">At</th><th>Changed</th><th>Before</th><th>After</th><th>By</th><th>Worst sample then</th></tr></thead>
  <tbody>{% for row in rows %}<tr><td class="n" title="after {{ row.since }}">{{ row.at }}</td><td>{{ row.what }}</td><td>{{ row.before }}</td><td>{{ row.after }}</td><td>{{ row.who }}</td><td>{{ row.sample }}</td></tr>{% endfor %}</tbody></table>{% endif %}
  {% if !drift.is_empty() %}<table class="figures"><thead><tr><th>Fact</th><th>First audit</th><th>Last audit</th></tr></thead>
  <tbody>{% for row in drift %}<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>{% endfor %}</tbody></table>{% endif %}
  {% if left_out > 0 %}<p class="dim">{{ left_out }} more are in the run file.</p>{% endif %}
</section>"##
)]
struct Html {
    sentence: Option<String>,
    unread: Vec<String>,
    audited: Option<String>,
    reservations: Vec<String>,
    /// Facts that differ, with the first and the last value.
    drift: Vec<[String; 3]>,
    rows: Vec<ChangeRow>,
    left_out: usize,
}

struct ChangeRow {
    at: String,
    since: String,
    what: String,
    before: String,
    after: String,
    who: String,
    sample: String,
}

/// The section of the page; empty for a run without measurements of its own.
pub(super) fn html(report: &Report) -> askama::Result<String> {
    let rows = rows(report);
    Html {
        sentence: sentence(report, rows.len()),
        unread: unread(report),
        audited: audited(report),
        reservations: reservations(report),
        drift: drift(report).iter().take(LISTED).map(difference).collect(),
        left_out: rows.len().saturating_sub(LISTED),
        rows: rows.iter().take(LISTED).map(row).collect(),
    }
    .render()
}

/// The reservations; a run without a watch has its own sentence.
fn reservations(report: &Report) -> Vec<String> {
    match report.run.watches.is_empty() {
        true => Vec::new(),
        false => report.reservations(),
    }
}

fn difference(drift: &Drift<'_>) -> [String; 3] {
    let before = drift.before.map_or_else(|| "not there".to_owned(), value);
    [format!("{}, {}", drift.group, drift.name), before, value(drift.after)]
}

fn row(row: &Row<'_>) -> ChangeRow {
    let value = |value: &Option<String>, otherwise: &str| value.clone().unwrap_or_else(|| otherwise.to_owned());
    ChangeRow {
        at: Ns(row.change.at_ns).to_string(),
        since: Ns(row.change.since_ns).to_string(),
        what: row.what(),
        before: value(&row.change.before, "was not there"),
        after: value(&row.change.after, "is gone"),
        who: row.who().to_owned(),
        sample: row.sample_text(),
    }
}
