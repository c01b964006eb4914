//! Tables as text, JSON, CSV and HTML.

use super::{Run, Table, Tables};
use crate::text::rfc3339;
use askama::Template;
use serde_json::{Value, json};
use std::fmt::Write;
use units::foreign::cell_of_shown;
use units::format_ns;

/// Name and version of the document's format.
const SCHEMA: &str = "triptime.table/1";

#[derive(Template)]
#[template(path = "table.html")]
struct Html<'a> {
    css: &'a str,
    runs: Vec<[String; 5]>,
    tables: &'a [Table],
}

impl Tables {
    /// Text for a terminal.
    pub fn text(&self) -> String {
        self.tables.iter().map(Table::text).collect::<Vec<_>>().join("\n")
    }

    /// The tables as one JSON document that ends with a newline. Cells are texts, formatted as the layout requires.
    pub fn json(&self) -> String {
        let document = json!({
            "schema": SCHEMA,
            "layout": self.layout.word(),
            "runs": self.runs.iter().map(Run::json).collect::<Vec<_>>(),
            "tables": self.tables.iter().map(Table::json).collect::<Vec<_>>(),
        });
        units::foreign::json(format!("{document:#}\n"))
    }

    /// The tables as CSV (RFC 4180): the headings, then the rows. The first column contains the table's title, so that
    /// one file can hold several tables.
    pub fn csv(&self) -> String {
        let mut out = String::new();
        for (at, table) in self.tables.iter().enumerate() {
            if at == 0 || table.heads != self.tables[0].heads {
                out += &line("table", &table.heads);
            }
            table.rows.iter().for_each(|row| out += &line(&table.title, row));
        }
        out
    }

    /// The tables as one self-contained HTML file.
    ///
    /// # Errors
    /// Only if a value cannot be written as text, which is not possible for our values.
    pub fn html(&self) -> Result<String, askama::Error> {
        Html {
            css: crate::html::CSS,
            runs: self.runs.iter().map(Run::cells).collect(),
            tables: &self.tables,
        }
        .render()
    }
}

impl Run {
    fn json(&self) -> Value {
        json!({
            "system": self.system.name,
            "hardware": self.system.hardware,
            "environment": self.system.environment,
            "id": self.view.info.id,
            "command": self.view.info.command,
            "file": self.view.file.display().to_string(),
            "started": rfc3339(self.view.info.started),
            "duration_s": self.view.duration_ns as f64 / 1e9,
        })
    }

    fn cells(&self) -> [String; 5] {
        [
            self.system.name.clone(),
            self.system.hardware.clone(),
            self.system.environment.clone(),
            format_ns(self.view.duration_ns as f64),
            self.view.file.display().to_string(),
        ]
    }
}

impl Table {
    /// Text for a terminal.
    pub(crate) fn text(&self) -> String {
        let mut out = format!("{}\n{}", self.title, columns(&self.heads, &self.rows));
        for note in &self.notes {
            let _ = writeln!(out, "{note}");
        }
        out
    }

    /// The table in a document.
    pub(crate) fn json(&self) -> Value {
        json!({"title": self.title, "columns": self.heads, "rows": self.rows, "notes": self.notes})
    }
}

/// Rows in columns below their headings.
fn columns(heads: &[String], rows: &[Vec<String>]) -> String {
    let all = || std::iter::once(heads).chain(rows.iter().map(Vec::as_slice));
    let width = |column: usize| {
        all()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
    };
    let widths: Vec<usize> = (0..heads.len()).map(|column| width(column).unwrap_or(0)).collect();
    let mut out = String::new();
    for row in all() {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join(" | ");
        let _ = writeln!(out, "| {line} |");
    }
    out
}

fn line(first: &str, cells: &[String]) -> String {
    record(std::iter::once(first).chain(cells.iter().map(String::as_str)))
}

/// A line of CSV (RFC 4180).
pub(crate) fn record<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    cells.map(quoted).collect::<Vec<_>>().join(",") + "\r\n"
}

fn quoted(cell: &str) -> String {
    let cell = cell_of_shown(cell);
    match cell.contains([',', '"', '\r', '\n']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.into_owned(),
    }
}
