//! The result of a search for the host's capacity, as a section of the report.

use super::Capacity;
use super::document::CapacityEntry;
use crate::Report;
use crate::section::{Fields, Section};
use crate::terminal::{Align, Paint, TextTable};
use askama::Template;
use std::fmt::Write;
use std::io;

/// The section of the report.
pub(crate) struct CapacitySection;

impl Section for CapacitySection {
    fn text(&self, report: &Report, paint: &Paint) -> String {
        report
            .capacity
            .as_ref()
            .map_or_else(String::new, |capacity| text(capacity, paint))
    }

    fn html(&self, report: &Report) -> askama::Result<String> {
        report.capacity.as_ref().map_or_else(|| Ok(String::new()), html)
    }

    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        fields.some("capacity", report.capacity.as_ref().map(CapacityEntry::of))
    }
}

fn text(capacity: &Capacity, paint: &Paint) -> String {
    let mut out = format!("{}\n", paint.heading("Capacity"));
    for line in capacity.lines() {
        let _ = writeln!(out, "  {line}");
    }
    let [streams, kind, attempts, failed, _] = Capacity::HEADS;
    let mut table = TextTable::new(&[(streams, Align::Right), (kind, Align::Left), (attempts, Align::Right)]);
    table.columns(&[(failed, Align::Right)]);
    for [streams, kind, attempts, failed, gave_way] in capacity.rows() {
        table.row(vec![streams, kind, attempts, failed]);
        table.note(&gave_way);
    }
    out + &table.text()
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"<section id="capacity">
  <h2>Capacity</h2>
  {% for line in lines %}<p class="what">{{ line }}</p>{% endfor %}
  <table class="figures">
    <thead><tr>{% for head in heads %}<th>{{ head }}</th>{% endfor %}</tr></thead>
    <tbody>{% for row in rows %}<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>{% endfor %}</tbody>
  </table>
</section>"##
)]
struct Html {
    lines: Vec<String>,
    heads: [&'static str; 5],
    rows: Vec<[String; 5]>,
}

fn html(capacity: &Capacity) -> askama::Result<String> {
    Html {
        lines: capacity.lines(),
        heads: Capacity::HEADS,
        rows: capacity.rows(),
    }
    .render()
}
