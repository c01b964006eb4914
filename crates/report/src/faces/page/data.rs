//! The data of the zoomable charts, as JSON inside the page.

use crate::Report;
use crate::html::charts::{is_marked, is_trouble};
use crate::html::lines::{self, Curve};
use crate::html::overlay::look;
use crate::html::panels::{self, Panel};
use model::RunView;
use serde::Serialize;
use stats::Histogram;

/// Maximum number of points of a line in a chart.
const MOST_POINTS: usize = 1000;
/// Maximum number of points in all lines together, so that a page of hundreds of series opens quickly.
const MOST_POINTS_IN_ALL: usize = 40_000;
/// Number of histogram bars per factor of ten.
const BARS_PER_DECADE: u32 = 30;

#[derive(Serialize)]
struct Data {
    /// Start of the run, in ms since 1970.
    started_ms: i64,
    run: String,
    panels: Vec<PanelData>,
    /// Time in seconds since the run's start, and whether the event can put a figure in doubt.
    events: Vec<(f64, bool)>,
}

#[derive(Serialize)]
struct PanelData {
    id: String,
    limit: Option<u64>,
    /// Beginning and end of the measurement of its series, in seconds.
    span: (f64, f64),
    lines: Vec<LineData>,
    bars: Vec<BarData>,
}

#[derive(Serialize)]
struct LineData {
    name: String,
    look: String,
    /// Seconds since the run's start; `None` if they are the same as for the previous line.
    at: Option<Vec<f64>>,
    ns: Vec<Option<f64>>,
}

#[derive(Serialize)]
struct BarData {
    name: String,
    look: String,
    /// Lower edges of the bars in ns, followed by the upper edge of the last bar.
    edges: Vec<u64>,
    /// Samples in each bar, `None` for an empty bar, followed by one additional entry.
    counts: Vec<Option<u64>>,
}

/// JSON that may be inside a script element.
pub(super) fn json(report: &Report) -> String {
    let run = &report.run;
    let panels = panels::of(report);
    let lines = panels.len() * (lines::MOST_OWN + 1);
    let most = (MOST_POINTS_IN_ALL / lines.max(1)).clamp(100, MOST_POINTS);
    let data = Data {
        started_ms: run.info.started.as_ns() / 1_000_000,
        run: run.info.id.clone(),
        panels: panels.iter().map(|panel| panel_data(report, panel, most)).collect(),
        events: events(run),
    };
    // Numbers and text only, so this cannot fail; "</script" in a text must not end the element.
    serde_json::to_string(&data).unwrap_or_default().replace('<', "\\u003c")
}

fn panel_data(report: &Report, panel: &Panel<'_>, most: usize) -> PanelData {
    let mut before = Vec::new();
    let lines = lines::of(&panel.series, most)
        .into_iter()
        .map(|line| line_data(line, &mut before));
    let histograms = panel.histograms();
    let bars = histograms.iter().enumerate();
    let bars = bars.map(|(at, (name, histogram))| bar_data(name, look(at, histograms.len()), histogram));
    PanelData {
        id: panel.family.to_owned(),
        limit: panel.limit_ns(report),
        span: lines::span_s(&panel.series),
        lines: lines.collect(),
        bars: bars.collect(),
    }
}

fn line_data(line: Curve, before: &mut Vec<f64>) -> LineData {
    let (at, ns): (Vec<f64>, Vec<Option<f64>>) = line.points.into_iter().unzip();
    // Rounded to the millisecond: smaller steps are not visible.
    let at: Vec<f64> = at.into_iter().map(|at| (at * 1e3).round() / 1e3).collect();
    let is_same = *before == at;
    before.clone_from(&at);
    LineData {
        name: line.name,
        look: line.look,
        at: (!is_same).then_some(at),
        ns,
    }
}

fn bar_data(name: &str, look: String, histogram: &Histogram) -> BarData {
    let bars = histogram.log_buckets(BARS_PER_DECADE);
    let mut edges: Vec<u64> = bars.iter().map(|bar| bar.low_ns).collect();
    let mut counts: Vec<Option<u64>> = bars.iter().map(|bar| (bar.count > 0).then_some(bar.count)).collect();
    if let Some(last) = bars.last() {
        edges.push(last.high_ns + 1);
        counts.push(None);
    }
    BarData {
        name: name.to_owned(),
        look,
        edges,
        counts,
    }
}

fn events(run: &RunView) -> Vec<(f64, bool)> {
    let marked = run.events.iter().filter(|event| is_marked(event.kind));
    marked
        .map(|event| (event.at_ns as f64 / 1e9, is_trouble(event.kind)))
        .collect()
}
