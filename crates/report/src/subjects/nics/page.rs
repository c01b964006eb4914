//! The interfaces used by the run, in the HTML page.

use super::{HEADINGS, Nic, of};
use crate::Report;
use crate::subjects::inventory::FactRow;
use askama::Template;

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"
<section id="interfaces">
  <h2>Interfaces</h2>
  <table class="figures">
    <thead><tr><th>Interface</th>{% for heading in nic_headings %}<th>{{ heading }}</th>{% endfor %}</tr></thead>
    <tbody>{% for nic in nics %}<tr><td>{{ nic.name }}</td>{% for cell in nic.cells %}<td>{{ cell }}</td>{% endfor %}</tr>{% endfor %}</tbody>
  </table>
  {% for nic in nics %}
  <details class="counters"><summary>Everything known of {{ nic.name }}</summary>
  <div class="facts"><table><tbody>{% for fact in nic.facts %}<tr title="{{ fact.source }}"><th>{{ fact.name }}</th><td>{% if fact.known %}{{ fact.value }}{% else %}<span class="unknown-fact">unknown: {{ fact.value }}</span>{% endif %}</td></tr>{% endfor %}</tbody></table></div>
  </details>
  {% endfor %}
</section>
"##
)]
struct Html {
    nics: Vec<NicPart>,
    nic_headings: [&'static str; 7],
}

/// The section of the page; empty without interfaces.
pub(super) fn html(report: &Report) -> askama::Result<String> {
    let nics = parts(report);
    match nics.is_empty() {
        true => Ok(String::new()),
        false => Html {
            nics,
            nic_headings: HEADINGS,
        }
        .render(),
    }
}

struct NicPart {
    name: String,
    cells: [String; 7],
    facts: Vec<FactRow>,
}

fn parts(report: &Report) -> Vec<NicPart> {
    let part = |nic: Nic<'_>| NicPart {
        name: nic.name.to_owned(),
        cells: nic.cells(),
        facts: nic.facts.iter().map(|fact| FactRow::of(fact)).collect(),
    };
    of(&report.run).into_iter().map(part).collect()
}
