//! Facts that differ between the machines of the compared runs.

use super::{Comparison, FactDifference};
use crate::section::{Fields, Section};
use crate::terminal::{Align, Paint, TextTable};
use askama::Template;
use serde_json::{Value, json};
use std::io;

/// Maximum width of an inventory value in columns.
const VALUE_WIDTH: usize = 60;

/// The section of a comparison.
pub(super) struct FactsSection;

impl Section<Comparison> for FactsSection {
    fn text(&self, comparison: &Comparison, _paint: &Paint) -> String {
        text(comparison)
    }

    fn html(&self, comparison: &Comparison) -> askama::Result<String> {
        let row = |fact: &FactDifference| (format!("{}: {}", fact.group, fact.name), values(fact).collect());
        Html {
            names: comparison.runs.iter().map(|(name, _)| name.as_str()).collect(),
            facts: comparison.facts.iter().map(row).collect(),
        }
        .render()
    }

    fn json(&self, comparison: &Comparison, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        fields.field("inventory", comparison.facts.iter().map(entry).collect::<Vec<_>>())
    }
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"<section>
  <h2>Differences between the machines</h2>
  {% if facts.is_empty() %}<p class="what">The inventories do not differ.</p>{% else %}
  <table class="figures"><thead><tr><th>Fact</th>{% for name in names %}<th>{{ name }}</th>{% endfor %}</tr></thead>
  <tbody>{% for fact in facts %}<tr><td>{{ fact.0 }}</td>{% for value in fact.1 %}<td>{{ value }}</td>{% endfor %}</tr>{% endfor %}</tbody></table>{% endif %}
</section>"##
)]
struct Html<'a> {
    names: Vec<&'a str>,
    facts: Vec<(String, Vec<String>)>,
}

fn entry(fact: &FactDifference) -> Value {
    let value = |value: &Option<Result<String, String>>| match value {
        Some(Ok(value)) => json!({"value": value}),
        Some(Err(why)) => json!({"unknown_because": why}),
        None => Value::Null,
    };
    json!({
        "group": fact.group,
        "name": fact.name,
        "values": fact.values.iter().map(value).collect::<Vec<_>>(),
    })
}

fn text(comparison: &Comparison) -> String {
    if comparison.facts.is_empty() {
        return "The inventories do not differ.\n".to_owned();
    }
    let mut table = TextTable::new(&[("fact", Align::Left)]);
    for (name, _) in &comparison.runs {
        table.columns(&[(name, Align::Left)]);
    }
    for fact in &comparison.facts {
        let mut row = vec![format!("{}: {}", fact.group, fact.name)];
        row.extend(values(fact).map(|value| shortened(&value)));
        table.row(row);
    }
    format!("Differences between the machines\n{}", table.text())
}

/// Values of a fact, as text for people.
pub(super) fn values(fact: &FactDifference) -> impl Iterator<Item = String> {
    fact.values.iter().map(|value| match value {
        Some(Ok(value)) => value.clone(),
        Some(Err(why)) => format!("unknown: {why}"),
        None => "not looked at".to_owned(),
    })
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= VALUE_WIDTH {
        return text.to_owned();
    }
    text.chars().take(VALUE_WIDTH - 1).chain(['…']).collect()
}
