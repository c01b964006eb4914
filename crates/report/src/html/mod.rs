//! The report as one HTML file: no network, no other file, readable without scripts and on paper.
//!
//! Every chart is drawn here as SVG; where scripts run, uPlot lays a zoomable chart over it.

mod bed;
pub(crate) mod boxes;
pub(crate) mod charts;
mod data;
pub(crate) mod lines;
pub(crate) mod overlay;
pub(crate) mod page;
pub(crate) mod panels;
mod record;
pub(crate) mod svg;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod timeline;

use crate::Report;
use crate::about::{About, Evidence};
use crate::section::{self, Link, PAGE};
use askama::Template;
use record::RecordPart;
use units::foreign::Show;

pub(crate) const CSS: &str = concat!(
    include_str!("../../assets/uplot/uPlot.min.css"),
    "\n",
    include_str!("../../assets/report.css")
);
const UPLOT: &str = include_str!("../../assets/uplot/uPlot.iife.min.js");
const SCRIPT: &str = include_str!("../../assets/report.js");

#[derive(Template)]
#[template(path = "report.html")]
struct Html<'a> {
    page: page::Page,
    links: Vec<Link>,
    sections: String,
    css: &'a str,
    uplot: &'a str,
    script: &'a str,
    data: String,
}

impl Report {
    /// The report as one self-contained HTML file. `about` and `evidence` are for its printed acceptance record.
    ///
    /// # Errors
    /// Only when a value cannot be written as text, which none of ours can.
    pub fn html(&self, about: &About, evidence: Option<&Evidence>) -> Result<String, askama::Error> {
        let report = &self.shown();
        let record = RecordPart::of(report, &about.shown(), evidence);
        Html {
            page: page::Page::of(report, record),
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
