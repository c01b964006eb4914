//! A run in the layout that its plan names.

use crate::Report;
use crate::tables::{Layout, Table};
use askama::Template;

#[derive(Template)]
#[template(path = "published.html")]
struct Published {
    tables: Vec<Table>,
}

/// The part of the page, of a report whose texts are as they were read; empty without a plan that names a layout, and for the networks, which have a part of their own.
pub(super) fn part(report: &Report) -> Result<String, askama::Error> {
    let tables = match report.table {
        Some(Layout::Networks) | None => Vec::new(),
        Some(_) => report.tables(),
    };
    Published { tables }.render()
}
