//! The recording of every sample, for a terminal.

use super::{WAY_HEADS, WORST_HEADS, chart, sentences, stream_heads, stream_rows, way_name, way_rows, worst_rows};
use crate::Report;
use crate::terminal::{Align, Paint, TextTable};
use std::fmt::Write;

/// Number of worst samples listed for each path.
const WORST_LISTED: usize = 10;

pub(super) fn recording(report: &Report, paint: &Paint) -> String {
    let Some(survey) = &report.recording else {
        return String::new();
    };
    let mut out = format!("{}\n", paint.heading("Recording"));
    for sentence in sentences(survey) {
        let _ = writeln!(out, "  {sentence}");
    }
    if !survey.latencies.is_empty() {
        out.push_str(&table(&WAY_HEADS, 1, way_rows(survey)).text());
    }
    let (rows, left_out) = stream_rows(survey);
    let mut streams = table(&stream_heads(survey), 1, rows);
    if left_out > 0 {
        streams.note(&format!("and {left_out} more (--json has all)"));
    }
    out.push_str(&streams.text());
    for (index, way) in survey.latencies.iter().enumerate() {
        let name = way_name(survey, way);
        let _ = writeln!(
            out,
            "\n  {name}: latency horizontal, samples vertical, both logarithmic"
        );
        for line in chart::histogram_lines(&survey.histogram(index)) {
            let _ = writeln!(out, "{line}");
        }
        let _ = writeln!(out, "\n  {name} over time: smallest to largest, ● median");
        for line in chart::band_lines(&way.bands()) {
            let _ = writeln!(out, "{line}");
        }
        out.push('\n');
        out.push_str(&table(&WORST_HEADS, 0, worst_rows(survey, way, WORST_LISTED)).text());
    }
    out
}

/// A table whose first `left` columns are left-aligned.
fn table(heads: &[&str], left: usize, rows: Vec<Vec<String>>) -> TextTable {
    let columns: Vec<(&str, Align)> = heads
        .iter()
        .enumerate()
        .map(|(at, head)| (*head, if at < left { Align::Left } else { Align::Right }))
        .collect();
    let mut table = TextTable::new(&columns);
    rows.into_iter().for_each(|row| table.row(row));
    table
}
