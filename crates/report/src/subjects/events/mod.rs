//! Events during the measurement.

mod document;
mod page;
mod text;

use crate::Report;
use crate::section::{Fields, Link, Section};
use crate::terminal::Paint;
use std::io;

/// The section of the report.
pub(crate) struct EventsSection;

impl Section for EventsSection {
    fn text(&self, report: &Report, paint: &Paint) -> String {
        text::events(report, paint)
    }

    fn html(&self, report: &Report) -> askama::Result<String> {
        page::html(report)
    }

    fn links(&self, _report: &Report) -> Vec<Link> {
        vec![Link::to("events", "Events")]
    }

    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        fields.field("events", document::Events::of(&report.run))
    }
}
