//! Tasks along the shots, in the HTML page.

use super::{HEADS, MEANING};
use crate::Report;
use askama::Template;

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"
<section id="shots">
  <h2>Relays during the shots</h2>
  <p class="what">{{ meaning }}</p>
  <table class="figures">
    <thead><tr>{% for head in heads %}<th{% if !loop.first %} class="n"{% endif %}>{{ head }}</th>{% endfor %}</tr></thead>
    <tbody>{% for row in rows %}<tr>{% for cell in row %}<td{% if !loop.first %} class="n"{% endif %}>{{ cell }}</td>{% endfor %}</tr>{% endfor %}</tbody>
  </table>
</section>
"##
)]
struct Html {
    meaning: &'static str,
    heads: [&'static str; 8],
    rows: Vec<[String; 8]>,
}

/// The section of the page; empty if no relay was measured along the shots.
pub(super) fn html(report: &Report) -> askama::Result<String> {
    let rows: Vec<[String; 8]> = super::patterns(&report.run).iter().map(super::Pattern::cells).collect();
    match rows.is_empty() {
        true => Ok(String::new()),
        false => Html {
            meaning: MEANING,
            heads: HEADS,
            rows,
        }
        .render(),
    }
}
