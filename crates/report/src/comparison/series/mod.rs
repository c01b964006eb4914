//! The series that more than one of the compared runs contains.

mod html;
mod json;
mod text;
mod words;

pub(super) use html::MOST_OPEN;

use super::Comparison;
use crate::section::{Fields, Section};
use crate::terminal::Paint;
use std::io;

/// The section of a comparison.
pub(super) struct ComparedSection;

impl Section<Comparison> for ComparedSection {
    fn text(&self, comparison: &Comparison, _paint: &Paint) -> String {
        text::text(comparison)
    }

    fn html(&self, comparison: &Comparison) -> askama::Result<String> {
        html::html(comparison)
    }

    fn json(&self, comparison: &Comparison, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        let series = comparison.series.iter();
        let entries = series.map(|compared| comparison.series_entry(compared));
        fields.field("series", entries.collect::<Vec<_>>())
    }
}
