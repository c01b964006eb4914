//! Limits and requirements with their checks.

mod coverage;
mod document;
mod page;
mod required;
mod requirements;
mod text;

use crate::Report;
use crate::section::{Fields, Link, Section};
use crate::terminal::Paint;
pub(crate) use coverage::{CoverageSection, ProfilesSection};
use std::io;

/// The section of the report.
pub(crate) struct ChecksSection;

impl Section for ChecksSection {
    fn text(&self, report: &Report, paint: &Paint) -> String {
        text::checks(report, paint)
    }

    fn html(&self, report: &Report) -> askama::Result<String> {
        page::html(report)
    }

    fn links(&self, _report: &Report) -> Vec<Link> {
        vec![Link::to("limits", "Limits")]
    }

    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        fields.field("checks", document::checks(report))
    }
}

/// Limits without a check; other output formats list them with the checks.
pub(crate) struct NotMeasuredSection;

impl Section for NotMeasuredSection {
    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        fields.field("not_measured", document::not_measured(report))
    }
}

/// Requirements that cannot be met; other output formats list them with the checks.
pub(crate) struct NotApplicableSection;

impl Section for NotApplicableSection {
    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        fields.field("not_applicable", required::not_applicable(report))
    }
}
