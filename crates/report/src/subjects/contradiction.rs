//! The contradictions in the run file, as a section of the report.

use crate::Report;
use crate::contradiction::Contradiction;
use crate::section::{Fields, Section};
use crate::terminal::{Align, Paint, TextTable, section};
use askama::Template;
use serde::Serialize;
use std::io;

/// Number of findings listed on a terminal.
const LISTED: usize = 20;

/// The section of the report.
pub(crate) struct ContradictionSection;

impl Section for ContradictionSection {
    fn text(&self, report: &Report, paint: &Paint) -> String {
        text(&report.judgement.contradictions, paint)
    }

    fn html(&self, report: &Report) -> askama::Result<String> {
        let found = &report.judgement.contradictions[..];
        match found {
            [] => Ok(String::new()),
            _ => Html { found }.render(),
        }
    }

    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        let found = report.judgement.contradictions.iter();
        fields.field("contradictions", found.map(ContradictionEntry::of).collect::<Vec<_>>())
    }
}

fn text(found: &[Contradiction], paint: &Paint) -> String {
    let mut table = TextTable::new(&[("series", Align::Left)]);
    for one in found.iter().take(LISTED) {
        table.row(vec![one.series.clone()]);
        table.note(&one.text);
    }
    if found.len() > LISTED {
        table.note(&format!("and {} more", found.len() - LISTED));
    }
    section(
        paint,
        "The run file contradicts itself: nothing in these series is decided",
        &table,
    )
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"
<section id="contradictions">
  <h2>The run file contradicts itself</h2>
  <p class="what">It was damaged or changed after it was written, or triptime has a fault. Nothing in these series is decided.</p>
  <table><thead><tr><th>Series</th><th>What disagrees</th></tr></thead><tbody>
    {% for row in found %}{% if loop.index0 < 12 %}<tr><td>{{ row.series }}</td><td>{{ row.text }}</td></tr>{% endif %}{% endfor %}
  </tbody></table>
  {% if found.len() > 12 %}<details><summary>{{ found.len() - 12 }} more</summary><table><tbody>
    {% for row in found %}{% if loop.index0 >= 12 %}<tr><td>{{ row.series }}</td><td>{{ row.text }}</td></tr>{% endif %}{% endfor %}
  </tbody></table></details>{% endif %}
</section>
"##
)]
struct Html<'a> {
    found: &'a [Contradiction],
}

#[derive(Debug, Serialize)]
struct ContradictionEntry {
    series: String,
    text: String,
}

impl ContradictionEntry {
    fn of(found: &Contradiction) -> Self {
        Self {
            series: found.series.clone(),
            text: found.text.clone(),
        }
    }
}
