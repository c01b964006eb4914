//! The uncertainty budgets on the page.

use super::{OfKind, by_kind, is_stated, letter};
use crate::Report;
use crate::uncertainty::Component;
use askama::Template;
use units::{Ns, format_ns};

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"{% if !kinds.is_empty() || !rules.is_empty() %}<section id="uncertainty">
  <h2>Uncertainty of our own</h2>
  {% for rule in rules %}<p class="what">{{ rule }}</p>{% endfor %}
  <p class="what">Errors of this program's clocks, stamps and storage by kind of series (GUM, k = 2), each for the series with the largest one at its largest sample.</p>
  <details class="counters"><summary>Every component of the budget</summary><table>
    <thead><tr><th>Component</th><th>Type</th><th>Distribution</th><th class="n">Standard</th><th>Error</th><th>From</th></tr></thead>
    {% for kind in kinds %}<tbody>
      <tr class="limit-head"><td colspan="6"><b>{{ kind.name }}</b>: {{ kind.sum }}</td></tr>
      {% for row in kind.rows %}<tr><td>{{ row.name }}</td><td>{{ row.letter }}</td><td>{{ row.distribution }}</td><td class="n">{{ row.standard }}</td><td>{{ row.error }}</td><td class="dim">{{ row.from }}</td></tr>{% endfor %}
    </tbody>{% endfor %}
  </table></details>
</section>{% endif %}"##
)]
struct Html {
    rules: Vec<String>,
    kinds: Vec<KindRows>,
}

struct KindRows {
    name: String,
    sum: String,
    rows: Vec<ComponentRow>,
}

struct ComponentRow {
    name: &'static str,
    letter: &'static str,
    distribution: &'static str,
    standard: String,
    error: String,
    from: String,
}

pub(super) fn html(report: &Report) -> askama::Result<String> {
    if !is_stated(report) {
        return Ok(String::new());
    }
    Html {
        rules: crate::uncertainty::rules(&report.profiles),
        kinds: by_kind(report).iter().map(rows).collect(),
    }
    .render()
}

fn rows(of_kind: &OfKind) -> KindRows {
    let at = Ns(of_kind.at_ns.unsigned_abs());
    KindRows {
        name: format!("{} ({}, {at})", of_kind.kind, of_kind.series),
        sum: of_kind.budget.text(),
        rows: of_kind.budget.components.iter().map(row).collect(),
    }
}

fn row(one: &Component) -> ComponentRow {
    let standard = one.shape.as_ref().map(|shape| format_ns(shape.standard()));
    ComponentRow {
        name: one.name,
        letter: letter(one.evaluation),
        distribution: one.distribution(),
        standard: standard.unwrap_or_else(|_| "–".to_owned()),
        error: one.text(),
        from: one.from.clone(),
    }
}
