//! The time chart of a panel, and the range of a series that fits into a table row.

use super::lines::Curve;
use super::svg::{Scale, axis_ns, axis_time, escape, polyline, time_ticks};
use model::{Event, EventKind, Figures};
use std::fmt::Write;
use units::{Ns, format_ns};

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 200.0;
/// Width and height of a chart.
pub(crate) const SIZE: (f64, f64) = (WIDTH, HEIGHT);
pub(crate) const LEFT: f64 = 56.0;
pub(crate) const RIGHT: f64 = WIDTH - 20.0;
pub(crate) const TOP: f64 = 22.0;
pub(crate) const BOTTOM: f64 = HEIGHT - 30.0;
/// Maximum number of points of a drawn line: more cannot be distinguished at this width.
pub(crate) const STATIC_POINTS: usize = 300;
/// Maximum number of events marked in a drawing: more make it unreadable.
const MOST_MARKS: usize = 60;

pub(crate) fn open(title: &str) -> String {
    opened("static", title)
}

/// The beginning of a drawing of this class.
pub(crate) fn opened(class: &str, title: &str) -> String {
    let title = escape(title);
    format!(
        "<svg class=\"{class}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\"><title>{title}</title>"
    )
}

pub(crate) fn grid_y(out: &mut String, scale: &Scale, label: fn(f64) -> String) {
    for tick in scale.ticks() {
        let y = scale.at(tick);
        let _ = write!(out, "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/>");
        let _ = write!(
            out,
            "<text class=\"tick end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            LEFT - 6.0,
            y + 3.5,
            label(tick)
        );
    }
}

pub(crate) fn tick_x(out: &mut String, x: f64, label: &str) {
    let _ = write!(out, "<path class=\"grid\" d=\"M{x:.1} {TOP}V{BOTTOM}\"/>");
    let _ = write!(
        out,
        "<text class=\"tick mid\" x=\"{x:.1}\" y=\"{:.1}\">{label}</text>",
        BOTTOM + 15.0
    );
}

pub(crate) fn limit_label(out: &mut String, x: f64, y: f64, limit: u64) {
    let side = if x > RIGHT - 60.0 { "end" } else { "mid" };
    let x = x.min(RIGHT);
    let text = axis_ns(limit as f64);
    let _ = write!(
        out,
        "<text class=\"limit-text {side}\" x=\"{x:.1}\" y=\"{y:.1}\">limit {text}</text>"
    );
}

/// A chart with time along the horizontal axis, over the measured span, and latency on the vertical logarithmic axis:
/// lines, and events as marks.
pub(crate) fn timeline(
    name: &str,
    lines: &[Curve],
    events: &[&Event],
    limit: Option<u64>,
    span_s: (f64, f64),
) -> String {
    let mut out = open(&format!("{name}: over the time it was measured"));
    let values = lines.iter().flat_map(|line| &line.points).filter_map(|(_, ns)| *ns);
    let y = Scale::log(values.chain(limit.map(|limit| limit as f64)), BOTTOM, TOP);
    let x = Scale::linear(span_s.0, span_s.1, LEFT, RIGHT);
    grid_y(&mut out, &y, axis_ns);
    for tick in time_ticks(span_s) {
        tick_x(&mut out, x.at(tick), &axis_time(tick, span_s.1));
    }
    let is_in = |event: &&&Event| (span_s.0..=span_s.1).contains(&(event.at_ns as f64 / 1e9));
    for event in events.iter().filter(is_in).take(MOST_MARKS) {
        event_mark(&mut out, event, &x);
    }
    for line in lines {
        let points = line.points.iter().map(|(at, ns)| ns.map(|ns| (x.at(*at), y.at(ns))));
        let (look, path) = (&line.look, polyline(points));
        let _ = write!(out, "<path class=\"line {look}\" d=\"{path}\"/>");
    }
    single_points(&mut out, lines, &x, &y);
    if let Some(limit) = limit {
        let at = y.at(limit as f64);
        let _ = write!(out, "<path class=\"limit\" d=\"M{LEFT} {at:.1}H{RIGHT}\"/>");
        limit_label(&mut out, RIGHT, at - 5.0, limit);
    }
    let _ = write!(out, "<path class=\"axis\" d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/></svg>");
    out
}

/// Smallest distance of two values written in a chart.
const VALUE_HEIGHT: f64 = 11.0;

/// Marks the points that no line reaches, because their neighbours are missing; a line of one point gets its value.
fn single_points(out: &mut String, lines: &[Curve], x: &Scale, y: &Scale) {
    let mut texts: Vec<(f64, f64, String)> = Vec::new();
    for line in lines {
        let is_there = |at: Option<usize>| {
            at.and_then(|at| line.points.get(at))
                .is_some_and(|(_, ns)| ns.is_some())
        };
        let alone = line.points.iter().enumerate().filter_map(|(at, (s, ns))| {
            let is_alone = !is_there(at.checked_sub(1)) && !is_there(Some(at + 1));
            Some((x.at(*s), y.at(ns.filter(|_| is_alone)?), (*ns)?))
        });
        let alone: Vec<(f64, f64, f64)> = alone.collect();
        for (at, height, _) in &alone {
            let look = &line.look;
            let _ = write!(
                out,
                "<circle class=\"line point {look}\" cx=\"{at:.1}\" cy=\"{height:.1}\" r=\"3.5\"/>"
            );
        }
        if let [(at, height, ns)] = alone[..]
            && line.points.iter().filter(|(_, ns)| ns.is_some()).count() == 1
        {
            texts.push((at, height, format!("{} {}", line.name, format_ns(ns))));
        }
    }
    // From the top: the lines are given from the faintest to the worst.
    texts.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut free = f64::MIN;
    for (at, height, text) in texts {
        let height = height.max(free);
        free = height + VALUE_HEIGHT;
        let _ = write!(
            out,
            "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            at + 8.0,
            height + 3.5,
            escape(&text)
        );
    }
}

/// True if an event is marked in a chart: it can put a figure in doubt, or it changed the conditions.
pub(crate) fn is_marked(kind: EventKind) -> bool {
    let is_condition = matches!(
        kind,
        EventKind::LoadStarted
            | EventKind::LoadStopped
            | EventKind::StepStarted
            | EventKind::StepStopped
            | EventKind::Action
    );
    is_condition || is_trouble(kind)
}

/// True if an event can put a figure in doubt; this decides its colour.
pub(crate) fn is_trouble(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::ActionFailed
            | EventKind::ClockStep
            | EventKind::RtThrottled
            | EventKind::HeldUp
            | EventKind::HeldByUs
            | EventKind::Steal
            | EventKind::PageFaults
            | EventKind::Migration
            | EventKind::ThreadChanged
            | EventKind::SecondMeasurement
            | EventKind::RecorderOverrun
            | EventKind::SocketDrop
            | EventKind::NicDrop
            | EventKind::Link
            | EventKind::Interrupted
    )
}

fn event_mark(out: &mut String, event: &Event, x: &Scale) {
    let at = x.at(event.at_ns as f64 / 1e9);
    let class = if is_trouble(event.kind) {
        "event trouble"
    } else {
        "event"
    };
    let text = escape(&format!("{} at {}: {}", event.kind.word(), Ns(event.at_ns), event.text));
    let _ = write!(
        out,
        "<g class=\"{class}\"><title>{text}</title><path d=\"M{at:.1} {TOP}V{BOTTOM}\"/><path class=\"flag\" d=\"M{:.1} {:.1}h8l-4 6z\"/></g>",
        at - 4.0,
        TOP - 6.0,
    );
}

/// Width of a range in a table row.
const RANGE_WIDTH: f64 = 190.0;

/// The scale that all rows of a table share.
pub(crate) fn range_scale<'a>(rows: impl Iterator<Item = (&'a Figures, Option<u64>)>) -> Scale {
    let values = rows.flat_map(|(figures, limit)| {
        [
            figures.min.map(|ns| ns as f64),
            figures.max.map(|ns| ns as f64),
            limit.map(|ns| ns as f64),
        ]
    });
    Scale::log(values.flatten().collect::<Vec<_>>(), 4.0, RANGE_WIDTH - 4.0)
}

/// Draws smallest to largest as a thin line, median to 99.9 % as a bar, the largest as a dot, the limit as a red tick.
pub(crate) fn range(figures: &Figures, limit: Option<u64>, scale: &Scale) -> String {
    let (Some(min), Some(max)) = (figures.min, figures.max) else {
        return String::new();
    };
    let (from, to) = (scale.at(min as f64), scale.at(max as f64));
    let mut out = format!(
        "<svg class=\"range\" viewBox=\"0 0 {RANGE_WIDTH} 16\" aria-hidden=\"true\"><path class=\"whisker\" d=\"M{from:.1} 8H{to:.1}\"/>"
    );
    let upper = figures.p999.or(figures.p99).or(figures.p50);
    if let (Some(p50), Some(upper)) = (figures.p50, upper) {
        let (left, right) = (scale.at(p50 as f64), scale.at(upper as f64));
        let width = (right - left).max(1.5);
        let _ = write!(
            out,
            "<rect class=\"body\" x=\"{left:.1}\" y=\"4\" width=\"{width:.1}\" height=\"8\"/>"
        );
    }
    let _ = write!(out, "<circle class=\"largest\" cx=\"{to:.1}\" cy=\"8\" r=\"3\"/>");
    if let Some(limit) = limit {
        let _ = write!(out, "<path class=\"limit\" d=\"M{:.1} 1V15\"/>", scale.at(limit as f64));
    }
    out + "</svg>"
}
