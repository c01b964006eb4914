//! Histograms as an HdrHistogram interval log, version 1.3, for HistogramLogAnalyzer and for HdrHistogram's tools and libraries.

use super::ExportError;
use model::{SeriesId, SeriesSpec};
use std::io::Write;
use store::{HistogramSpan, RunFile};
use units::foreign;

/// Nanoseconds per unit of the log's third column, which is for display only: the reference implementation writes ms.
const NS_PER_SHOWN_UNIT: f64 = 1e6;

/// Writes one line for each stored histogram: its series as tag, start and length in seconds, maximum in ms, and the histogram in ns. Windows whose
/// histograms were merged to keep the run file small have one line. Lines are in order of time within a series; start times are relative to
/// `StartTime` and `BaseTime`, the run's start.
///
/// # Errors
/// The run file cannot be read or the output cannot be written.
pub fn hlog(file: &RunFile, out: &mut impl Write) -> Result<(), ExportError> {
    let info = file.info();
    let started = info.started.as_ns() as f64 / 1e9;
    writeln!(out, "#[Histogram log format version 1.3]")?;
    writeln!(
        out,
        "#[Run {} of triptime {}; histograms in ns, Interval_Max in ms]",
        one_line(&info.id),
        one_line(&info.tool_version)
    )?;
    writeln!(out, "#[StartTime: {started:.3} (seconds since epoch)]")?;
    writeln!(out, "#[BaseTime: {started:.3} (seconds since epoch)]")?;
    writeln!(
        out,
        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\""
    )?;
    for (id, spec) in file.series()? {
        series(file, id, &spec, out)?;
    }
    Ok(())
}

fn series(file: &RunFile, id: SeriesId, spec: &SeriesSpec, out: &mut impl Write) -> Result<(), ExportError> {
    let tag = tag(&spec.name);
    let mut written = Ok(());
    file.for_each_histogram(id, |span| {
        if written.is_ok() {
            written = line(&tag, &span, out);
        }
    })?;
    Ok(written?)
}

fn line(tag: &str, span: &HistogramSpan, out: &mut impl Write) -> std::io::Result<()> {
    let start = span.start_ns as f64 / 1e9;
    let length = span.end_ns.saturating_sub(span.start_ns) as f64 / 1e9;
    let max = span.histogram.max().unwrap_or(0) as f64 / NS_PER_SHOWN_UNIT;
    let encoded = base64(&span.histogram.to_compressed_bytes());
    writeln!(out, "Tag={tag},{start:.3},{length:.3},{max:.3},{encoded}")
}

/// A tag must have neither commas nor white space: these, and unprintable characters, are percent-encoded as in a URL.
pub(super) fn tag(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if c == ',' || c == '%' || c.is_whitespace() || foreign::is_unfit(c) {
            let mut bytes = [0; 4];
            out.extend(c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")));
        } else {
            out.push(c);
        }
    }
    out
}

fn one_line(text: &str) -> String {
    foreign::shown(text).into_owned()
}

/// Base64 with padding (RFC 4648, section 4).
pub(super) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = three
            .iter()
            .enumerate()
            .fold(0u32, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        for at in 0..4 {
            let digit = (bits >> (18 - 6 * at) & 63) as usize;
            out.push(if at <= three.len() {
                char::from(ALPHABET[digit])
            } else {
                '='
            });
        }
    }
    out
}
