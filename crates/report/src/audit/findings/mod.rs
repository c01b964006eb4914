//! The findings of an audit, by group.

mod text;

use super::AuditReport;
use super::row::Row;
use crate::section::{Fields, Section};
use crate::terminal::Paint;
use askama::Template;
use audit::finding::Outcome;
use std::io;

/// The section with the findings of an audit.
pub(super) struct FindingsSection {
    /// If true, the terminal also shows findings that do not apply.
    pub(crate) all: bool,
}

impl Section<AuditReport> for FindingsSection {
    fn text(&self, report: &AuditReport, paint: &Paint) -> String {
        text::text(report, paint, self.all)
    }

    fn html(&self, report: &AuditReport) -> askama::Result<String> {
        Html {
            groups: report.groups(),
        }
        .render()
    }

    fn json(&self, report: &AuditReport, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        let entries = report.rows.iter();
        fields.field("findings", entries.collect::<Vec<_>>())
    }
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"{% for group in groups %}
<section>
  <h2>{{ group.name }}</h2>
  <div class="scroll"><table class="figures"><thead><tr><th>Finding</th><th>Severity</th><th>Check</th><th>Wanted</th><th>Booted</th><th>Live</th></tr></thead>
  <tbody>{% for row in group.rows %}<tr><td><span class="badge {{ row.outcome.word() }}">{{ row.outcome.word() }}</span></td><td>{{ row.severity.word() }}</td><td>{{ row.id }}<br>{{ row.title }}</td><td>{{ row.wanted }}</td><td>{% if let Some(booted) = row.booted %}{{ booted }}{% endif %}</td><td>{{ row.live }}{% if !row.reason.is_empty() %}<br>{{ row.reason }}{% endif %}</td></tr>
  {% if row.outcome != Outcome::Pass %}<tr><td></td><td colspan="5">{{ row.why }} Seen: {{ row.worth }}.<br><b>How</b> ({{ row.change }}): {{ row.how }}.{% if !row.risk.is_empty() %} Risk: {{ row.risk }}.{% endif %}<details><summary>Sources{% if !row.traps.is_empty() %}, and what misleads{% endif %}</summary>{% for source in row.sources %}{% if !loop.first %}; {% endif %}{{ source }}{% endfor %}.{% for trap in row.traps %}<br>{{ trap }}{% endfor %}</details></td></tr>{% endif %}{% endfor %}</tbody></table></div>
</section>
{% endfor %}"##
)]
struct Html<'a> {
    groups: Vec<Group<'a>>,
}

struct Group<'a> {
    name: &'a str,
    rows: Vec<&'a Row>,
}

impl AuditReport {
    /// The findings by group; the group with the worst finding comes first.
    fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for row in self.rows.iter().filter(|row| row.outcome != Outcome::NotApplicable) {
            match groups.iter_mut().find(|group| group.name == row.group) {
                Some(group) => group.rows.push(row),
                None => groups.push(Group {
                    name: row.group,
                    rows: vec![row],
                }),
            }
        }
        groups
    }
}
