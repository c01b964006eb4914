//! The charts of a series: histogram, time line, and the range that fits into a table row.

use super::data::{bars, points};
use super::svg::{Scale, axis_count, axis_ns, axis_time, escape, polyline, time_ticks};
use crate::text::count;
use model::{Event, EventKind, Figures, SeriesView};
use std::fmt::Write;
use units::format_ns;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 250.0;
pub(super) const LEFT: f64 = 56.0;
pub(super) const RIGHT: f64 = WIDTH - 20.0;
pub(super) const TOP: f64 = 22.0;
pub(super) const BOTTOM: f64 = HEIGHT - 30.0;
/// Points of a static time line: more cannot be told apart at this width.
const STATIC_POINTS: usize = 480;

pub(super) fn open(title: &str) -> String {
    let title = escape(title);
    format!(
        "<svg class=\"static\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\"><title>{title}</title>"
    )
}

pub(super) fn grid_y(out: &mut String, scale: &Scale, label: fn(f64) -> String) {
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

pub(super) fn tick_x(out: &mut String, x: f64, label: &str) {
    let _ = write!(out, "<path class=\"grid\" d=\"M{x:.1} {TOP}V{BOTTOM}\"/>");
    let _ = write!(
        out,
        "<text class=\"tick mid\" x=\"{x:.1}\" y=\"{:.1}\">{label}</text>",
        BOTTOM + 15.0
    );
}

/// Latency along, count up, both logarithmic; the limit as a red line.
pub(super) fn histogram(series: &SeriesView, limit: Option<u64>) -> String {
    let bars = bars(series);
    let name = &series.spec.name;
    let mut out = open(&format!(
        "{name}: histogram of {} samples",
        count(series.histogram.count())
    ));
    let edges = bars
        .iter()
        .flat_map(|bar| [bar.low_ns as f64, bar.high_ns as f64 + 1.0]);
    let x = Scale::log(edges.chain(limit.map(|limit| limit as f64)), LEFT, RIGHT);
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or(1).max(10) as f64;
    let y = Scale::log_between(0.7, 10f64.powf(most.log10().ceil()), BOTTOM, TOP);
    grid_y(&mut out, &y, axis_count);
    for tick in x.ticks() {
        tick_x(&mut out, x.at(tick), &axis_ns(tick));
    }
    let mut path = String::new();
    for bar in bars.iter().filter(|bar| bar.count > 0) {
        let (left, right) = (x.at(bar.low_ns as f64), x.at(bar.high_ns as f64 + 1.0));
        let _ = write!(
            path,
            "M{left:.1} {BOTTOM}V{:.1}H{right:.1}V{BOTTOM}Z",
            y.at(bar.count as f64)
        );
    }
    let _ = write!(
        out,
        "<path class=\"bars\" d=\"{path}\"/><path class=\"axis\" d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/>"
    );
    if let Some(limit) = limit {
        let at = x.at(limit as f64);
        let _ = write!(out, "<path class=\"limit\" d=\"M{at:.1} {TOP}V{BOTTOM}\"/>");
        limit_label(&mut out, at, TOP - 6.0, limit);
    }
    out + "</svg>"
}

fn limit_label(out: &mut String, x: f64, y: f64, limit: u64) {
    let side = if x > RIGHT - 60.0 { "end" } else { "mid" };
    let x = x.min(RIGHT);
    let text = axis_ns(limit as f64);
    let _ = write!(
        out,
        "<text class=\"limit-text {side}\" x=\"{x:.1}\" y=\"{y:.1}\">limit {text}</text>"
    );
}

/// Time along, latency up (logarithmic): maximum, 99 % quantile and median of each window, events as marks.
pub(super) fn timeline(series: &SeriesView, events: &[&Event], limit: Option<u64>, length_s: f64) -> String {
    let points = points(&series.windows, STATIC_POINTS);
    let mut out = open(&format!(
        "{}: largest sample of each window over the run",
        series.spec.name
    ));
    let whole = |ns: Option<u64>| ns.map(|ns| ns as f64);
    let values = points
        .iter()
        .flat_map(|point| [point.max.map(|ns| ns as f64), whole(point.p50)])
        .flatten();
    let y = Scale::log(values.chain(limit.map(|limit| limit as f64)), BOTTOM, TOP);
    let x = Scale::linear(0.0, length_s, LEFT, RIGHT);
    grid_y(&mut out, &y, axis_ns);
    for tick in time_ticks(length_s) {
        tick_x(&mut out, x.at(tick), &axis_time(tick, length_s));
    }
    for event in events {
        event_mark(&mut out, event, &x);
    }
    let line = |figure: fn(&super::data::ChartPoint) -> Option<f64>| {
        polyline(
            points
                .iter()
                .map(|point| figure(point).map(|ns| (x.at(point.at_s), y.at(ns)))),
        )
    };
    let lines = [
        ("p50", line(|point| point.p50.map(|ns| ns as f64))),
        ("p99", line(|point| point.p99.map(|ns| ns as f64))),
        ("max", line(|point| point.max.map(|ns| ns as f64))),
    ];
    for (class, path) in lines {
        let _ = write!(out, "<path class=\"line {class}\" d=\"{path}\"/>");
    }
    if let Some(limit) = limit {
        let at = y.at(limit as f64);
        let _ = write!(out, "<path class=\"limit\" d=\"M{LEFT} {at:.1}H{RIGHT}\"/>");
        limit_label(&mut out, RIGHT, at - 5.0, limit);
    }
    let _ = write!(out, "<path class=\"axis\" d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/></svg>");
    out
}

/// Whether an event can put a figure in doubt, for its colour.
pub(super) fn is_trouble(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::ClockStep
            | EventKind::RtThrottled
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
    let text = escape(&format!(
        "{} at {}: {}",
        event.kind.word(),
        format_ns(event.at_ns as f64),
        event.text
    ));
    let _ = write!(
        out,
        "<g class=\"{class}\"><title>{text}</title><path d=\"M{at:.1} {TOP}V{BOTTOM}\"/><path class=\"flag\" d=\"M{:.1} {:.1}h8l-4 6z\"/></g>",
        at - 4.0,
        TOP - 6.0,
    );
}

/// Width of a range in a table row.
const RANGE_WIDTH: f64 = 190.0;

/// The scale all rows of a table share.
pub(super) fn range_scale<'a>(rows: impl Iterator<Item = (&'a Figures, Option<u64>)>) -> Scale {
    let values = rows.flat_map(|(figures, limit)| {
        [
            figures.min.map(|ns| ns as f64),
            figures.max.map(|ns| ns as f64),
            limit.map(|ns| ns as f64),
        ]
    });
    Scale::log(values.flatten().collect::<Vec<_>>(), 4.0, RANGE_WIDTH - 4.0)
}

/// Smallest to largest as a thin line, median to 99.9 % as a bar, the largest as a dot, the limit as a red tick.
pub(super) fn range(figures: &Figures, limit: Option<u64>, scale: &Scale) -> String {
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
