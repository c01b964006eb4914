//! The recording of every sample in the HTML page: tables and drawings.

use super::chart::{bars, merged};
use super::{WAY_HEADS, WORST_HEADS, sentences, stream_heads, stream_rows, way_name, way_rows, worst_rows};
use crate::Report;
use crate::html::charts::{BOTTOM, LEFT, RIGHT, TOP, grid_y, open, tick_x};
use crate::html::svg::{Scale, axis_count, axis_ns, axis_time, time_ticks};
use crate::text::count;
use ::recording::{Band, LatencySurvey, LogHistogram, Survey};
use askama::Template;
use std::fmt::Write;

/// Number of parts in the drawing over time.
const PARTS: usize = 300;

/// Number of worst samples listed for each path.
const WORST_LISTED: usize = 20;

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"<section id="recording">
  <h2>Recording</h2>
  {% for sentence in recording.sentences %}<p class="what">{{ sentence }}.</p>{% endfor %}
  {% if !recording.ways.is_empty() %}<table class="figures">
    <thead><tr>{% for head in way_heads %}<th{% if !loop.first %} class="n"{% endif %}>{{ head }}</th>{% endfor %}</tr></thead>
    <tbody>{% for row in recording.ways %}<tr>{% for cell in row %}<td{% if !loop.first %} class="n{% if loop.last %} max{% endif %}"{% endif %}>{{ cell }}</td>{% endfor %}</tr>{% endfor %}</tbody>
  </table>{% endif %}
  {% for way in recording.charts %}
  <div class="charts">
    <figure class="chart"><figcaption>{{ way.name }}, all samples: number (vertical) by duration (horizontal); both axes logarithmic</figcaption>{{ way.histogram_svg|safe }}</figure>
    <figure class="chart"><figcaption>{{ way.name }} over time: from smallest to largest, line: median</figcaption>{{ way.bands_svg|safe }}</figure>
  </div>
  <details class="counters"><summary>Worst samples, {{ way.name }}</summary>
  <table class="figures"><thead><tr>{% for head in worst_heads %}<th class="n">{{ head }}</th>{% endfor %}</tr></thead>
  <tbody>{% for row in way.worst %}<tr>{% for cell in row %}<td class="n{% if loop.first %} max{% endif %}">{{ cell }}</td>{% endfor %}</tr>{% endfor %}</tbody></table></details>
  {% endfor %}
  <details class="counters" open><summary>Streams: loss, latency over the whole way, pacing at the first point</summary>
  <table class="figures">
    <thead><tr>{% for head in recording.stream_heads %}<th{% if !loop.first %} class="n"{% endif %}>{{ head }}</th>{% endfor %}</tr></thead>
    <tbody>{% for row in recording.streams %}<tr>{% for cell in row %}<td{% if !loop.first %} class="n"{% endif %}>{{ cell }}</td>{% endfor %}</tr>{% endfor %}</tbody>
  </table>{% if recording.left_out > 0 %}<p class="dim">and {{ recording.left_out }} more.</p>{% endif %}</details>
</section>"##
)]
struct Html {
    recording: RecordingPart,
    way_heads: [&'static str; 10],
    worst_heads: [&'static str; 5],
}

/// The section of the page; empty without a recording.
pub(super) fn html(report: &Report) -> askama::Result<String> {
    let Some(recording) = RecordingPart::of(report) else {
        return Ok(String::new());
    };
    Html {
        recording,
        way_heads: WAY_HEADS,
        worst_heads: WORST_HEADS,
    }
    .render()
}

struct RecordingPart {
    sentences: Vec<String>,
    ways: Vec<Vec<String>>,
    stream_heads: [&'static str; 12],
    streams: Vec<Vec<String>>,
    left_out: usize,
    charts: Vec<WayPart>,
}

struct WayPart {
    name: String,
    histogram_svg: String,
    bands_svg: String,
    worst: Vec<Vec<String>>,
}

impl RecordingPart {
    fn of(report: &Report) -> Option<Self> {
        let survey = report.recording.as_ref()?;
        let (streams, left_out) = stream_rows(survey);
        let ways = survey.latencies.iter().enumerate();
        Some(Self {
            sentences: sentences(survey),
            ways: way_rows(survey),
            stream_heads: stream_heads(survey),
            streams,
            left_out,
            charts: ways.map(|(index, way)| way_part(survey, index, way)).collect(),
        })
    }
}

fn way_part(survey: &Survey, index: usize, way: &LatencySurvey) -> WayPart {
    let name = way_name(survey, way);
    let (first_ns, last_ns) = survey.span_ns;
    let length_s = last_ns.saturating_sub(first_ns) as f64 / 1e9;
    WayPart {
        histogram_svg: histogram(&name, &survey.histogram(index)),
        bands_svg: bands(&name, &merged(&way.bands(), PARTS), length_s),
        worst: worst_rows(survey, way, WORST_LISTED),
        name,
    }
}

/// A chart with latency along the horizontal axis and counts on the vertical axis, both logarithmic.
fn histogram(name: &str, histogram: &LogHistogram) -> String {
    let bars = bars(histogram);
    let mut out = open(&format!("{name}: histogram of {} samples", count(histogram.count())));
    let x = Scale::log(bars.iter().flat_map(|bar| [bar.low_ns, bar.high_ns]), LEFT, RIGHT);
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or(1).max(10) as f64;
    let y = Scale::log_between(0.7, 10f64.powf(most.log10().ceil()), BOTTOM, TOP);
    grid_y(&mut out, &y, axis_count);
    for tick in x.ticks() {
        tick_x(&mut out, x.at(tick), &axis_ns(tick));
    }
    let mut path = String::new();
    for bar in bars.iter().filter(|bar| bar.count > 0) {
        let (left, right, top) = (x.at(bar.low_ns), x.at(bar.high_ns), y.at(bar.count as f64));
        let _ = write!(path, "M{left:.1} {BOTTOM}V{top:.1}H{right:.1}V{BOTTOM}Z");
    }
    let _ = write!(
        out,
        "<path class=\"bars\" d=\"{path}\"/><path class=\"axis\" d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/>"
    );
    out + "</svg>"
}

/// A chart with time along the horizontal axis and latency on the logarithmic vertical axis: smallest, largest and
/// median of each part.
fn bands(name: &str, bands: &[Option<Band>], length_s: f64) -> String {
    let mut out = open(&format!("{name}: smallest, median and largest latency over time"));
    let there = bands.iter().flatten();
    let y = Scale::log(
        there.flat_map(|band| [band.min_ns as f64, band.max_ns as f64]),
        BOTTOM,
        TOP,
    );
    let x = Scale::linear(0.0, bands.len() as f64, LEFT, RIGHT);
    grid_y(&mut out, &y, axis_ns);
    for tick in time_ticks((0.0, length_s)) {
        let at = x.at(tick / length_s.max(1e-9) * bands.len() as f64);
        tick_x(&mut out, at, &axis_time(tick, length_s));
    }
    let (mut spans, mut medians) = (String::new(), String::new());
    for (index, band) in bands.iter().enumerate() {
        let Some(band) = band else { continue };
        let (left, right) = (x.at(index as f64), x.at(index as f64 + 1.0));
        let (low, high) = (y.at(band.min_ns as f64), y.at(band.max_ns as f64));
        let _ = write!(
            spans,
            "M{left:.1} {:.1}V{high:.1}H{right:.1}V{:.1}Z",
            low + 0.5,
            low + 0.5
        );
        let _ = write!(medians, "M{left:.1} {:.1}H{right:.1}", y.at(band.median_ns as f64));
    }
    let _ = write!(
        out,
        "<path class=\"bars\" d=\"{spans}\"/><path class=\"line max\" d=\"{medians}\"/><path class=\"axis\" d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/>"
    );
    out + "</svg>"
}
