//! The budget in all output formats.

use super::{document, drawing, text};
use crate::Report;
use crate::section::{Fields, Link, Section};
use crate::terminal::Paint;
use askama::Template;
use std::io;

/// The section with the budget.
pub(crate) struct BudgetSection;

impl Section for BudgetSection {
    fn text(&self, report: &Report, paint: &Paint) -> String {
        text::budget(report, paint)
    }

    fn html(&self, report: &Report) -> askama::Result<String> {
        let budget = &report.budget;
        Html {
            budget_svg: drawing::drawing(report),
            own_lateness: budget.own.as_deref(),
            crossing: budget.lines.len() > 7 || !budget.beside.is_empty(),
        }
        .render()
    }

    fn links(&self, _report: &Report) -> Vec<Link> {
        vec![Link::to("budget", "Budget")]
    }

    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        fields.field("budget", document::budget(report))
    }
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"<section id="budget">
  <h2>Trip-time budget</h2>
  <p class="what">From a fault to the trip message: each part of the path with its worst measured value. A part that was not measured is not zero.
  Bars on a logarithmic scale: dark to the 99.9 % quantile, light to the maximum.</p>
  <figure class="budget-figure">{{ budget_svg|safe }}</figure>
  {% if let Some(own) = own_lateness %}<p class="note">{{ own }}</p>{% endif %}
  {% if crossing %}<p class="note">Arrival spans publish, network and host transit where they were not measured apart. Round trip and age run across several parts: they are shown separately and are not added.</p>{% endif %}
</section>"##
)]
struct Html<'a> {
    budget_svg: String,
    /// Handling of the test set's own lateness.
    own_lateness: Option<&'a str>,
    /// True if a measurement spans several lines.
    crossing: bool,
}
