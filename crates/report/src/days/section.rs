//! Verdicts per day: the section of the report, and its text for a terminal.

use super::{document, page};
use crate::Report;
use crate::section::{Fields, Section};
use crate::terminal::{Align, Paint, TextTable, section, wrapped};
use std::io;

/// The section of the report.
pub(crate) struct DaysSection;

/// Heading of the section.
pub(super) const TITLE: &str = "Days";

/// Meaning of the table.
pub(super) const MEANING: &str = "Each 24 h from the start of the step, judged alone by the same rules. A window across midnight counts for both days. \
                                  Quantiles, means and how long a limit has to be measured are judged over the whole run only.";

/// Columns of the explanation under the table.
const WIDTH: usize = 96;

impl Section for DaysSection {
    fn text(&self, report: &Report, paint: &Paint) -> String {
        let mut table = TextTable::new(&[("limit", Align::Left), ("days", Align::Left), ("worst", Align::Left)]);
        for limit in &report.days {
            table.row(vec![
                limit.limit.id.clone(),
                limit.sentence(),
                limit.worst().unwrap_or_else(|| "–".to_owned()),
            ]);
            limit.open().iter().for_each(|day| table.note(day));
        }
        match report.days.is_empty() {
            true => String::new(),
            false => format!(
                "{}  {}\n",
                section(paint, TITLE, &table),
                wrapped(MEANING, WIDTH).join("\n  ")
            ),
        }
    }

    fn html(&self, report: &Report) -> askama::Result<String> {
        page::html(report)
    }

    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        let entries = document::days(report);
        fields.some("days", (!entries.is_empty()).then_some(entries))
    }
}
