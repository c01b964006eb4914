//! Windows as comma-separated values (RFC 4180).

use super::ExportError;
use model::{Counter, WindowRow};
use std::io::Write;
use store::RunFile;
use units::foreign;

/// Writes one row for each window of each series. A missing value is empty, not 0.
///
/// # Errors
/// The run file cannot be read or the output cannot be written.
pub fn csv(file: &RunFile, out: &mut impl Write) -> Result<(), ExportError> {
    write!(out, "{}\r\n", header())?;
    for (id, spec) in file.series()? {
        let name = quoted(&spec.name);
        for window in file.windows(id)? {
            write!(out, "{name},{}\r\n", row(&window))?;
        }
    }
    Ok(())
}

/// Times are relative to the run's start. Newer columns are at the end, so that the others keep their positions.
fn header() -> String {
    let name = |counter: Counter| counter.name().to_owned();
    let mut columns = ["series", "start_ns", "end_ns"].map(str::to_owned).to_vec();
    columns.extend(Counter::first().map(name));
    columns.extend(WindowRow::FIGURES.map(|figure| format!("{}_ns", figure.name())));
    columns.extend(Counter::ADDED.map(name));
    columns.join(",")
}

fn row(window: &WindowRow) -> String {
    let count = |counter: Counter| window.counters.get(counter).to_string();
    let mut cells = vec![window.start_ns.to_string(), window.end_ns.to_string()];
    cells.extend(Counter::first().map(count));
    cells.extend(WindowRow::FIGURES.map(|figure| text(window.figure(figure))));
    cells.extend(Counter::ADDED.map(count));
    cells.join(",")
}

fn text<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A third-party text as a field: safe in a terminal and in a spreadsheet, quoted if necessary.
pub(super) fn quoted(field: &str) -> String {
    let field = foreign::cell(field);
    if field.contains(['"', ',', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.into_owned()
    }
}
