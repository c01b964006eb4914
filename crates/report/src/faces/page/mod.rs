//! The report as one HTML file, without network access or other files; readable without scripts and on paper.

mod bed;
mod data;
mod head;
mod record;

use super::PAGE;
use crate::Report;
use crate::about::{About, Evidence};
use crate::html::CSS;
use crate::section::{self, Link};
use askama::Template;
use record::RecordPart;
use units::foreign::Show;

const UPLOT: &str = include_str!("../../../assets/uplot/uPlot.iife.min.js");
const SCRIPT: &str = include_str!("../../../assets/report.js");

#[derive(Template)]
#[template(path = "report.html")]
struct Html<'a> {
    page: head::Page,
    links: Vec<Link>,
    sections: String,
    css: &'a str,
    uplot: &'a str,
    script: &'a str,
    data: String,
}

impl Report {
    /// The report as one self-contained HTML file. `about` and `evidence` supply its printed acceptance record.
    ///
    /// # Errors
    /// Only if a value cannot be written as text, which is not possible for our values.
    pub fn html(&self, about: &About, evidence: Option<&Evidence>) -> Result<String, askama::Error> {
        let report = &self.shown();
        let record = RecordPart::of(report, &about.shown(), evidence)?;
        Html {
            page: head::Page::of(report, record),
            links: PAGE.iter().flat_map(|section| section.links(report)).collect(),
            sections: section::html(&PAGE, report)?,
            css: CSS,
            uplot: UPLOT,
            script: SCRIPT,
            data: data::json(report),
        }
        .render()
    }
}
