//! Readings of a run in units other than ns, as comma-separated values (RFC 4180).

use super::ExportError;
use super::csv::quoted;
use std::io::Write;
use store::RunFile;

/// Writes one row for each window of each reading. A missing value is empty, not 0; the last column has the reason.
///
/// # Errors
/// The run file cannot be read or the output cannot be written.
pub fn readings(file: &RunFile, out: &mut impl Write) -> Result<(), ExportError> {
    write!(
        out,
        "reading,unit,start_ns,end_ns,samples,min,mean,max,unknown,unknown_because\r\n"
    )?;
    for reading in file.readings()? {
        let values = reading.values;
        let text = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        let cells = [
            quoted(&reading.name),
            reading.unit.word().to_owned(),
            reading.start_ns.to_string(),
            reading.end_ns.to_string(),
            values.samples.to_string(),
            text(values.min),
            text(values.mean),
            text(values.max),
            values.unknown.to_string(),
            quoted(values.why.as_deref().unwrap_or_default()),
        ];
        write!(out, "{}\r\n", cells.join(","))?;
    }
    Ok(())
}
