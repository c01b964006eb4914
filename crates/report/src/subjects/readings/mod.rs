//! Cache and memory bandwidth during a run, in bytes. These are not samples in ns, and no limit applies to them.

mod document;
mod page;
mod text;

use crate::Report;
use crate::section::{Fields, Section};
use crate::terminal::Paint;
use crate::text::count;
use model::{Reading, Readings};
use std::io;

/// The section of the report.
pub(crate) struct ReadingsSection;

impl Section for ReadingsSection {
    fn text(&self, report: &Report, paint: &Paint) -> String {
        text::readings(report, paint)
    }

    fn html(&self, report: &Report) -> askama::Result<String> {
        page::html(report)
    }

    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        let entries = document::readings(&report.run);
        fields.some("readings", (!entries.is_empty()).then_some(entries))
    }
}

/// Headings of the table.
pub(crate) const HEADS: [&str; 6] = ["reading", "min", "mean", "max", "read", "not known"];

/// One reading over the whole run.
pub(crate) struct Row<'a> {
    pub(crate) sum: Readings,
    pub(crate) windows: Vec<&'a Reading>,
}

impl Row<'_> {
    pub(crate) fn name(&self) -> &str {
        &self.windows[0].name
    }

    /// The cells under [`HEADS`].
    pub(crate) fn cells(&self) -> [String; 6] {
        let unit = self.windows[0].unit;
        let text = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| unit.text(value));
        [
            self.name().to_owned(),
            text(self.sum.min),
            text(self.sum.mean),
            text(self.sum.max),
            count(self.sum.samples),
            count(self.sum.unknown),
        ]
    }

    /// The latest reason for missing values.
    pub(crate) fn why(&self) -> &str {
        self.sum.why.as_deref().unwrap_or_default()
    }
}

/// One row for each reading, in order of first occurrence.
pub(crate) fn rows(all: &[Reading]) -> Vec<Row<'_>> {
    let found = Reading::by_name(all).into_iter();
    found.map(|(sum, windows)| Row { sum, windows }).collect()
}
