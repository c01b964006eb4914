//! Cache and memory bandwidth during the run, in the HTML page.

use super::{HEADS, Row, rows};
use crate::Report;
use crate::html::charts::{BOTTOM, LEFT, RIGHT, STATIC_POINTS, TOP, grid_y, open, tick_x};
use crate::html::svg::{Scale, axis_time, polyline, time_ticks};
use askama::Template;
use model::{Reading, Readings};
use std::fmt::Write;
use units::format_octets;

/// A part with a row and a chart for each.
#[derive(Template)]
#[template(
    ext = "html",
    source = r##"
<section id="readings">
  <h2>Cache and memory bandwidth</h2>
  <p class="what">Counted by the kernel once a second for the groups of the measured CPUs, and for the default group. No limit applies to these figures.</p>
  <table class="figures">
    <thead><tr>{% for head in heads %}<th{% if !loop.first %} class="n"{% endif %}>{{ head }}</th>{% endfor %}</tr></thead>
    <tbody>{% for reading in readings %}<tr title="{{ reading.why }}">{% for cell in reading.cells %}<td{% if !loop.first %} class="n"{% endif %}>{{ cell }}</td>{% endfor %}</tr>{% endfor %}</tbody>
  </table>
  {% for reading in readings %}{% if !reading.why.is_empty() %}<p class="dim">{{ reading.name }}: {{ reading.why }}</p>{% endif %}{% endfor %}
  <div class="charts">{% for reading in readings %}{% if let Some(svg) = reading.svg %}
    <figure class="chart"><figcaption>{{ reading.name }}, {{ reading.unit }}: mean and largest of each window</figcaption>{{ svg|safe }}</figure>{% endif %}{% endfor %}
  </div>
</section>
"##
)]
struct Html {
    readings: Vec<ReadingPart>,
    heads: [&'static str; 6],
}

/// The section of the page; empty without readings.
pub(super) fn html(report: &Report) -> askama::Result<String> {
    let readings = parts(report);
    match readings.is_empty() {
        true => Ok(String::new()),
        false => Html { readings, heads: HEADS }.render(),
    }
}

struct ReadingPart {
    cells: [String; 6],
    why: String,
    name: String,
    unit: &'static str,
    /// `None` if nothing was read.
    svg: Option<String>,
}

fn parts(report: &Report) -> Vec<ReadingPart> {
    let length_s = report.run.duration_ns as f64 / 1e9;
    let part = |row: Row<'_>| ReadingPart {
        cells: row.cells(),
        why: row.why().to_owned(),
        name: row.name().to_owned(),
        unit: row.windows[0].unit.word(),
        svg: row.sum.max.map(|_| drawing(row.name(), &row.windows, length_s)),
    };
    rows(&report.run.readings).into_iter().map(part).collect()
}

/// A chart with time along the horizontal axis and bytes on the vertical axis: mean and largest of each window. The
/// lines have gaps where nothing was read.
fn drawing(name: &str, windows: &[&Reading], length_s: f64) -> String {
    let points: Vec<(f64, Readings)> = windows
        .chunks(windows.len().div_ceil(STATIC_POINTS))
        .map(together)
        .collect();
    let mut out = open(&format!("{name} over the time of the run"));
    let largest = points.iter().filter_map(|(_, values)| values.max).fold(0.0, f64::max);
    let y = Scale::linear(0.0, largest * 1.05, BOTTOM, TOP);
    let end_s = points.last().map_or(length_s, |(at, _)| at.max(length_s));
    let x = Scale::linear(0.0, end_s, LEFT, RIGHT);
    grid_y(&mut out, &y, format_octets);
    for tick in time_ticks((0.0, end_s)) {
        tick_x(&mut out, x.at(tick), &axis_time(tick, end_s));
    }
    for (look, pick) in [
        ("max", (|values| values.max) as fn(&Readings) -> Option<f64>),
        ("mean", |values| values.mean),
    ] {
        let line = polyline(
            points
                .iter()
                .map(|(at, values)| pick(values).map(|value| (x.at(*at), y.at(value)))),
        );
        let _ = write!(out, "<path class=\"line {look}\" d=\"{line}\"/>");
    }
    let _ = write!(out, "<path class=\"axis\" d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/></svg>");
    out
}

/// Merges several windows into one point: its instant in seconds, and the readings.
fn together(windows: &[&Reading]) -> (f64, Readings) {
    let middle_ns = (windows[0].start_ns as f64 + windows[windows.len() - 1].end_ns as f64) / 2.0;
    (middle_ns / 1e9, Reading::sum(windows))
}
