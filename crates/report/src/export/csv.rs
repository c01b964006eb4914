//! Windows as comma-separated values (RFC 4180).

use super::ExportError;
use std::io::Write;
use store::RunFile;
use store::model::WindowRow;
use units::foreign;

/// Columns; `_ns` says that a column is in nanoseconds, and the instants are since the run's start. The rest are counts.
const HEADER: &str = "series,start_ns,end_ns,expected,received,lost,late,duplicate,reordered,missed,clipped,overflow,overrun,\
                      mean_ns,min_ns,p50_ns,p99_ns,p999_ns,max_ns,conflicting";

/// Writes one row for each window of each series. A figure that a window does not have is empty, not 0.
///
/// # Errors
/// When the run file cannot be read or the output not written.
pub fn csv(file: &RunFile, out: &mut impl Write) -> Result<(), ExportError> {
    write!(out, "{HEADER}\r\n")?;
    for (id, spec) in file.series()? {
        let name = quoted(&spec.name);
        for window in file.windows(id)? {
            write!(out, "{name},{}\r\n", row(&window))?;
        }
    }
    Ok(())
}

fn row(window: &WindowRow) -> String {
    let c = &window.counters;
    let counts = [
        window.start_ns,
        window.end_ns,
        c.expected,
        c.received,
        c.lost,
        c.late,
        c.duplicate,
        c.reordered,
        c.missed,
        c.clipped,
        c.overflow,
        c.overrun,
    ];
    let mut cells: Vec<String> = counts.iter().map(u64::to_string).collect();
    cells.push(text(window.mean_ns));
    cells.push(text(window.min_ns));
    cells.extend([window.p50_ns, window.p99_ns, window.p999_ns].map(text));
    cells.push(text(window.max_ns));
    cells.push(c.conflicting.to_string());
    cells.join(",")
}

fn text<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A text of others as a field: safe in a terminal and in a spreadsheet, in quotes where it must be.
pub(super) fn quoted(field: &str) -> String {
    let field = foreign::cell(field);
    if field.contains(['"', ',', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.into_owned()
    }
}
