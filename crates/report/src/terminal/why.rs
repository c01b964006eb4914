//! Statistics of the series, and causes of their late samples.

use super::table::{Align, TextTable};
use super::{Paint, section};
use crate::Report;
use crate::text::count;
use std::fmt::Write;
use units::format_ns;

/// Number of series whose statistics are shown.
const SERIES_LISTED: usize = 4;

/// Group of the inventory with the observations and the cost of the flight recorder.
const RECORDER: &str = "flight recorder";

/// The certainty of the figures, and the statements they support.
pub(crate) fn statistics(report: &Report, paint: &Paint) -> String {
    if report.insights.is_empty() {
        return String::new();
    }
    let mut out = format!("{}\n", paint.heading("What the figures support"));
    for insight in report.insights.iter().take(SERIES_LISTED) {
        let _ = writeln!(out, "  {}", insight.series);
        let mut say = |name: &str, text: &str| {
            if !text.is_empty() {
                let _ = writeln!(out, "    {name:<14} {text}");
            }
        };
        if let Some(stolen) = &insight.stolen {
            say("stolen time", &stolen.text());
        }
        if let Some(claim) = &insight.claim {
            say("rate", &claim.text());
        }
        say("quantiles", &insight.quantiles_text());
        say("over time", &insight.steadiness.text());
        say("rare values", &insight.rare_text());
    }
    if report.insights.len() > SERIES_LISTED {
        let more = report.insights.len() - SERIES_LISTED;
        let _ = writeln!(out, "  and {more} more series (in the JSON and in the HTML report)");
    }
    out.push_str(
        "  Quantiles with the interval (95 %) that independent samples would support; stalls come in bursts, so\n",
    );
    out.push_str("  the uncertainty of high quantiles is at least this interval.\n");
    out
}

/// Explained samples by cause, and the cost of the flight recorder.
pub(crate) fn causes(report: &Report, paint: &Paint) -> String {
    let mut table = TextTable::new(&[
        ("series", Align::Left),
        ("cause", Align::Left),
        ("samples", Align::Right),
    ]);
    table.columns(&[("time", Align::Right), ("largest", Align::Right)]);
    for series in &report.run.series {
        for total in &series.causes {
            table.row(vec![
                series.spec.name.clone(),
                total.cause.word().to_owned(),
                count(total.count),
                format_ns(total.total_ns as f64),
                format_ns(total.max_ns as f64),
            ]);
        }
    }
    for fact in report.run.facts.iter().filter(|fact| fact.group == RECORDER) {
        let value = fact.value.clone().unwrap_or_else(|why| format!("unknown: {why}"));
        table.note(&format!("{RECORDER}, {}: {value}", fact.name));
    }
    section(paint, "What held samples up", &table)
}
