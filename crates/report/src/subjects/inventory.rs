//! The facts about the machine that a run recorded.

use crate::Report;
use crate::section::{Fields, Link, Section};
use askama::Template;
use model::Fact;
use serde::Serialize;
use std::io;

/// The section of the page and of the result document.
pub(crate) struct InventorySection;

impl Section for InventorySection {
    fn html(&self, report: &Report) -> askama::Result<String> {
        let inventory = inventory(report);
        Html { inventory }.render()
    }

    fn links(&self, _report: &Report) -> Vec<Link> {
        vec![Link::to("inventory", "Inventory")]
    }

    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        let entries: Vec<FactEntry<'_>> = report.run.facts.iter().map(FactEntry::of).collect();
        fields.field("inventory", entries)
    }
}

#[derive(Serialize)]
struct FactEntry<'a> {
    group: &'a str,
    name: &'a str,
    value: Option<&'a str>,
    unknown_because: Option<&'a str>,
    source: &'a str,
}

impl<'a> FactEntry<'a> {
    fn of(fact: &'a Fact) -> Self {
        Self {
            group: &fact.group,
            name: &fact.name,
            value: fact.value.as_deref().ok(),
            unknown_because: fact.value.as_ref().err().map(String::as_str),
            source: &fact.source,
        }
    }
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"<section id="inventory">
  <h2>Inventory</h2>
  {% if inventory.is_empty() %}<p class="dim">Not taken in this run.</p>{% endif %}
  <details class="counters"><summary>Every fact that was read from the machine, by group</summary><div class="inventory">
  {% for group in inventory %}
  <div class="facts"><h3>{{ group.0 }}</h3>
  <table><tbody>{% for fact in group.1 %}<tr title="{{ fact.source }}"><th>{{ fact.name }}</th><td>{% if fact.known %}{{ fact.value }}{% else %}<span class="unknown-fact">unknown: {{ fact.value }}</span>{% endif %}</td></tr>{% endfor %}</tbody></table></div>
  {% endfor %}
  </div></details>
</section>"##
)]
struct Html {
    inventory: Vec<(String, Vec<FactRow>)>,
}

/// A fact in the HTML page.
pub(crate) struct FactRow {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) known: bool,
    pub(crate) source: String,
}

impl FactRow {
    pub(crate) fn of(fact: &Fact) -> Self {
        Self {
            name: fact.name.clone(),
            value: fact.value.clone().unwrap_or_else(|reason| reason),
            known: fact.value.is_ok(),
            source: fact.source.clone(),
        }
    }
}

/// Facts by group, without those of interfaces, which have a separate section.
fn inventory(report: &Report) -> Vec<(String, Vec<FactRow>)> {
    let mut groups: Vec<(String, Vec<FactRow>)> = Vec::new();
    for fact in report
        .run
        .facts
        .iter()
        .filter(|fact| !crate::subjects::nics::is_nic(&fact.group))
    {
        let row = FactRow::of(fact);
        match groups.iter_mut().find(|(group, _)| *group == fact.group) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((fact.group.clone(), vec![row])),
        }
    }
    groups
}
