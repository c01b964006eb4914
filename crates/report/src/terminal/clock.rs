//! Agreement of the clocks of one-way series.

use super::Paint;
use crate::Report;
use crate::one_way::OneWay;
use model::Doubtful;
use std::fmt::Write;

/// Maximum number of spans listed.
const SPANS_LISTED: usize = 10;

/// Series with the same information share one entry.
pub(crate) fn clocks(report: &Report, paint: &Paint) -> String {
    let mut groups: Vec<(OneWay, Vec<&str>)> = Vec::new();
    for series in &report.run.series {
        let Some(clocks) = OneWay::of(&report.run, series) else {
            continue;
        };
        let name = series.spec.name.as_str();
        match groups.iter_mut().find(|(known, _)| known.text() == clocks.text()) {
            Some((_, names)) => names.push(name),
            None => groups.push((clocks, vec![name])),
        }
    }
    let Some((first, _)) = groups.first() else {
        return String::new();
    };
    let mut out = format!("{}\n", paint.heading("Clocks"));
    for (clocks, names) in &groups {
        let names = match names[..] {
            [first, _, _, ..] => format!("{first} and {} more", names.len() - 1),
            _ => names.join(", "),
        };
        let _ = writeln!(out, "  {names}: {}", clocks.text());
    }
    // The spans belong to the run, so they are the same for every series.
    for span in first.doubtful.iter().take(SPANS_LISTED) {
        let _ = writeln!(out, "  in doubt {}", Doubtful::text(span));
    }
    let more = first.doubtful.len().saturating_sub(SPANS_LISTED);
    if more > 0 {
        let _ = writeln!(out, "  and {more} more");
    }
    out
}
