//! Type tests in the HTML page: tables and drawings.

use super::edge_page;
use super::edges::{edge_heads, edge_note, edge_rows};
use super::ramp::{RAMP_HEADS, ramp_note, ramp_rows};
use super::ramp_page;
use super::{CELL_HEADS, CURVE_HEADS, CurvePoint, REACH_HEADS, TypeTest, ZoneLine};
use super::{cell_rows, curve_rows, reach_rows};
use crate::Report;
use crate::html::charts::{BOTTOM, LEFT, RIGHT, TOP, grid_y, open, tick_x};
use crate::html::svg::{Scale, axis_ns, polyline};
use askama::Template;
use std::fmt::Write;

/// Colours of the lines, in ascending order of the source impedance ratio.
const COLOURS: [&str; 6] = ["#1d4f7c", "#c8261f", "#11694a", "#8a5300", "#6b3fa0", "#51616f"];

/// Approximate number of grid lines of an operate-time axis.
const TICKS: f64 = 6.0;

/// Width of a label under the axis, in pixels: grid lines that are closer get no label between them.
const LABEL: f64 = 24.0;

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"{% for test in tests %}<section id="type-test-{{ loop.index }}">
  <h2>Type test {{ test.name }}</h2>
  <p class="what">{{ test.note }}</p>
  <div class="charts">
  {% for chart in test.charts %}<figure class="chart"><figcaption>{{ chart.0 }}</figcaption>{{ chart.1|safe }}</figure>
  {% endfor %}</div>
  {% for table in test.tables %}<details class="counters"{% if table.is_open %} open{% endif %}><summary>{{ table.summary }}</summary>
  <table class="figures">
    <thead><tr>{% for head in table.heads %}<th{% if !loop.first %} class="n"{% endif %}>{{ head }}</th>{% endfor %}</tr></thead>
    <tbody>{% for row in table.rows %}<tr>{% for cell in row %}<td{% if !loop.first %} class="n"{% endif %}>{{ cell }}</td>{% endfor %}</tr>{% endfor %}</tbody>
  </table></details>
  {% endfor %}
</section>{% endfor %}"##
)]
struct Html {
    tests: Vec<TypeTestPart>,
}

/// A section of the page for each type test; empty if there are none.
pub(super) fn html(report: &Report) -> askama::Result<String> {
    let tests = TypeTestPart::all(report);
    Html { tests }.render()
}

struct TypeTestPart {
    name: String,
    /// Meaning and resolution of the figures.
    note: String,
    /// Operate times of each fault type: caption and drawing.
    charts: Vec<(String, String)>,
    tables: Vec<TablePart>,
}

struct TablePart {
    summary: &'static str,
    is_open: bool,
    heads: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl TypeTestPart {
    fn all(report: &Report) -> Vec<Self> {
        TypeTest::all(&report.run.shots).iter().map(Self::of).collect()
    }

    fn of(test: &TypeTest) -> Self {
        let mut charts = zone_charts(test);
        if !test.curve.is_empty() {
            let caption = "Operate time over multiples of the setting, both logarithmic: curve, tolerance, smallest to largest, dot: median";
            charts.push((caption.to_owned(), curve(test)));
        }
        charts.extend(ramp_page::charts(&test.name, &test.ramps));
        charts.extend(edge_page::charts(&test.name, &test.edges));
        let border_heads = test.edges.first().map(|line| edge_heads(line.line.of));
        let tables = [
            ("Reach", true, &REACH_HEADS[..], reach_rows(test)),
            (
                "Operate times compared with the curve",
                true,
                &CURVE_HEADS[..],
                curve_rows(test),
            ),
            (
                "Borders",
                true,
                border_heads.as_ref().map_or(&[][..], |heads| &heads[..]),
                edge_rows(&test.edges),
            ),
            ("Pick-up and drop-off", true, &RAMP_HEADS[..], ramp_rows(&test.ramps)),
            ("Every cell", false, &CELL_HEADS[..], cell_rows(test)),
        ];
        let tables = tables.into_iter().filter(|table| !table.3.is_empty());
        Self {
            name: test.name.clone(),
            note: note(test),
            charts,
            tables: tables
                .map(|(summary, is_open, heads, rows)| TablePart {
                    summary,
                    is_open,
                    heads: heads.to_vec(),
                    rows,
                })
                .collect(),
        }
    }
}

fn note(test: &TypeTest) -> String {
    match (test.ramps.first(), test.edges.is_empty()) {
        (None, false) => format!("{}.", edge_note(&test.edges)),
        (Some(line), _) => format!("Pick-up and drop-off: {}.", ramp_note(&line.ramp)),
        (None, true) => "Operate times from the due instant of the first faulted sample to the trip at the test set. The reach is only as fine as the \
                 tested positions."
            .to_owned(),
    }
}

/// One drawing for each fault type.
fn zone_charts(test: &TypeTest) -> Vec<(String, String)> {
    let of_type = test.zone.chunk_by(|one, other| one.fault == other.fault);
    let charts = of_type.map(|lines| {
        let fault = &lines[0].fault;
        let caption =
            format!("{fault}: operate time over position in percent of the reach; smallest to largest, line: median");
        (caption, zone(test, fault, lines))
    });
    charts.collect()
}

/// A chart with position along the horizontal axis and operate time on the vertical axis: one line for each source
/// impedance ratio.
fn zone(test: &TypeTest, fault: &str, lines: &[ZoneLine]) -> String {
    let mut out = open(&format!("{}: operate times of {fault} faults", test.name));
    let positions = test.positions();
    let furthest = positions.last().copied().unwrap_or(0.0).max(100.0);
    let x = Scale::linear(0.0, furthest, LEFT, RIGHT);
    let times = lines.iter().flat_map(|line| &line.cells);
    let longest = times.flat_map(|(_, tally)| tally.times_ns.last()).max();
    let y = linear_y(&mut out, longest.map_or(10e6, |ns| *ns as f64));
    let mut free = 0.0;
    for position in &positions {
        let at = x.at(*position);
        let label = if at < free { String::new() } else { position.to_string() };
        free = free.max(at + if label.is_empty() { 0.0 } else { LABEL });
        tick_x(&mut out, at, &label);
    }
    let _ = write!(out, "<path class=\"limit\" d=\"M{:.1} {TOP}V{BOTTOM}\"/>", x.at(100.0));
    for (number, line) in lines.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        // Drawn next to each other, so that none covers another.
        let aside = 2.5 * (number as f64 - (lines.len() as f64 - 1.0) / 2.0);
        let points: Vec<Option<[f64; 4]>> = line
            .cells
            .iter()
            .map(|(at, tally)| Some(placed(x.at(*at) + aside, tally.times()?, &y)))
            .collect();
        mark(&mut out, &points, colour);
        let _ = write!(
            out,
            "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" style=\"fill:{colour}\">SIR {}</text>",
            LEFT + 6.0 + 78.0 * (number % COLOURS.len()) as f64,
            TOP - 8.0,
            line.sir
        );
    }
    out + "<path class=\"axis\" d=\"M" + &format!("{LEFT} {BOTTOM}H{RIGHT}\"/></svg>")
}

/// Position of a range of times: horizontal, and vertical for its smallest, median and largest time.
fn placed(x: f64, [min, median, max]: [i64; 3], y: &Scale) -> [f64; 4] {
    [x, y.at(min as f64), y.at(median as f64), y.at(max as f64)]
}

/// Draws ranges as bars, and medians as dots connected by a line; `None` interrupts the line.
fn mark(out: &mut String, points: &[Option<[f64; 4]>], colour: &str) {
    let medians = points.iter().map(|point| point.map(|[x, _, median, _]| (x, median)));
    let _ = write!(
        out,
        "<path class=\"line\" stroke=\"{colour}\" d=\"{}\"/>",
        polyline(medians)
    );
    for [x, min, median, max] in points.iter().flatten() {
        let _ = write!(
            out,
            "<path class=\"line\" stroke=\"{colour}\" d=\"M{x:.1} {min:.1}V{max:.1}\"/>\
             <circle cx=\"{x:.1}\" cy=\"{median:.1}\" r=\"2.4\" fill=\"{colour}\"/>"
        );
    }
}

/// A linear axis of times from 0 to at least `longest_ns`, with its grid lines.
fn linear_y(out: &mut String, longest_ns: f64) -> Scale {
    let power = 10f64.powf((longest_ns / TICKS).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power);
    let step = steps
        .into_iter()
        .find(|step| longest_ns / step <= TICKS)
        .unwrap_or(steps[3]);
    let lines = (longest_ns / step).ceil();
    let y = Scale::linear(0.0, lines * step, BOTTOM, TOP);
    for line in 0..=lines as u64 {
        let at = y.at(line as f64 * step);
        let _ = write!(
            out,
            "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{RIGHT}\"/><text class=\"tick end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            LEFT - 6.0,
            at + 3.5,
            axis_ns(line as f64 * step)
        );
    }
    y
}

/// A chart with multiples along the horizontal axis and operate time on the vertical axis, both logarithmic: measured
/// times, the curve, and its tolerance.
fn curve(test: &TypeTest) -> String {
    let mut out = open(&format!("{}: operate times over the curve", test.name));
    let low = |point: &CurvePoint| point.expected_ns.saturating_sub(point.tolerance_ns) as f64;
    let high = |point: &CurvePoint| (point.expected_ns + point.tolerance_ns) as f64;
    let measured = test.curve.iter().flat_map(|point| &point.tally.times_ns);
    let allowed = test.curve.iter().flat_map(|point| [low(point), high(point)]);
    let y = Scale::log(allowed.chain(measured.map(|ns| *ns as f64)), BOTTOM, TOP);
    let x = Scale::log(test.curve.iter().map(|point| point.multiple), LEFT, RIGHT);
    grid_y(&mut out, &y, axis_ns);
    for tick in x.ticks() {
        tick_x(&mut out, x.at(tick), &format!("{tick} x"));
    }
    let along = |of: &dyn Fn(&CurvePoint) -> f64| {
        let points = test
            .curve
            .iter()
            .map(|point| Some((x.at(point.multiple), y.at(of(point)))));
        polyline(points.collect::<Vec<_>>())
    };
    let _ = write!(
        out,
        "<path class=\"line max\" d=\"{}\"/><path class=\"line p50\" d=\"{}\"/><path class=\"line p50\" d=\"{}\"/>",
        along(&|point| point.expected_ns as f64),
        along(&low),
        along(&high)
    );
    for point in &test.curve {
        let Some(times) = point.tally.times() else { continue };
        mark(&mut out, &[Some(placed(x.at(point.multiple), times, &y))], COLOURS[1]);
    }
    out + "<path class=\"axis\" d=\"M" + &format!("{LEFT} {BOTTOM}H{RIGHT}\"/></svg>")
}
