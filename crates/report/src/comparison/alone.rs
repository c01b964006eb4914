//! Series that only one of the compared runs contains.

use super::Comparison;
use crate::section::{Fields, Section};
use crate::terminal::Paint;
use askama::Template;
use serde_json::{Value, json};
use std::io;

/// The section of a comparison.
pub(super) struct AloneSection;

impl Section<Comparison> for AloneSection {
    fn text(&self, comparison: &Comparison, _paint: &Paint) -> String {
        let alone = comparison.alone.iter();
        let lines = alone.map(|(run, series)| format!("only in {run}: {series}\n"));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn html(&self, comparison: &Comparison) -> askama::Result<String> {
        let alone = &comparison.alone[..];
        Html { alone }.render()
    }

    fn json(&self, comparison: &Comparison, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        let entry = |(run, series): &(String, String)| json!({"run": run, "series": series});
        fields.field("alone", comparison.alone.iter().map(entry).collect::<Vec<Value>>())
    }
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"{% for item in alone %}<p class="note">Only in {{ item.0 }}: {{ item.1 }}</p>{% endfor %}"##
)]
struct Html<'a> {
    alone: &'a [(String, String)],
}
