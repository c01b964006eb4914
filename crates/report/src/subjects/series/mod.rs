//! Series with their figures and counters.

mod document;
mod page;
mod text;
mod why;

use crate::Report;
use crate::html::panels;
use crate::section::{Fields, Link, Section};
use crate::terminal::Paint;
use model::Kind;
use std::io;

/// The section of the report; the page has one part for each kind.
pub(crate) struct SeriesSection;

impl Section for SeriesSection {
    fn text(&self, report: &Report, paint: &Paint) -> String {
        text::series(report, paint)
    }

    fn html(&self, report: &Report) -> askama::Result<String> {
        page::html(report)
    }

    fn links(&self, report: &Report) -> Vec<Link> {
        let link = |family: &str| Link::to(&format!("family-{family}"), &title(family));
        panels::of(report).iter().map(|panel| link(panel.family)).collect()
    }

    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        let series = report.run.series.iter();
        let entries = series.map(|series| document::entry(report, series));
        fields.field("series", entries.collect::<Vec<_>>())
    }
}

/// The name of a kind of series, for people.
pub(crate) fn title(family: &str) -> String {
    Kind::named(family).map_or_else(|| family.to_owned(), |kind| kind.title.to_owned())
}
