//! The report as one HTML file: no network, no other file, readable without scripts and on paper.
//!
//! Every chart is drawn here as SVG; where scripts run, uPlot lays a zoomable chart over it.

pub(crate) mod boxes;
mod budget;
mod charts;
mod data;
pub(crate) mod overlay;
mod page;
mod published;
mod recording;
mod svg;
#[cfg(test)]
mod tests;
mod type_test;
mod way;

use crate::Report;
use askama::Template;
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
    published: String,
    css: &'a str,
    uplot: &'a str,
    script: &'a str,
    data: String,
}

impl Report {
    /// The report as one self-contained HTML file.
    ///
    /// # Errors
    /// Only when a value cannot be written as text, which none of ours can.
    pub fn html(&self) -> Result<String, askama::Error> {
        let report = &self.shown();
        Html {
            page: page::Page::of(report),
            published: published::part(self)?,
            css: CSS,
            uplot: UPLOT,
            script: SCRIPT,
            data: data::json(report),
        }
        .render()
    }
}
