//! The trip-time budget as a drawing.

use super::{Line, State, TRIP_TRANSFER_NS};
use crate::Report;
use crate::html::svg::{Scale, axis_ns, escape};
use crate::text::plural;
use crate::verdict::Verdict;
use std::fmt::Write;
use units::{Ns, SignedNs};

const WIDTH: f64 = 1120.0;
/// Horizontal extent of the bars; names are to the left, figures to the right.
const LEFT: f64 = 280.0;
const RIGHT: f64 = 640.0;
const TOP: f64 = 24.0;
const ROW: f64 = 34.0;
const GAP: f64 = 14.0;
/// Height of the sum below the lines.
const SUM: f64 = 92.0;

/// Bars on a logarithmic scale, one per line; below them the sum on a linear one.
pub(super) fn drawing(report: &Report) -> String {
    let budget = &report.budget;
    let rows = budget.lines.len() + budget.beside.len();
    let lines_end = TOP + rows as f64 * ROW + if budget.beside.is_empty() { 0.0 } else { GAP };
    let height = lines_end + 6.0 + if budget.sum_ns.is_some() { SUM } else { 0.0 };
    let mut out = format!(
        "<svg class=\"budget\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"Trip-time budget\"><title>Trip-time budget</title>\
         <defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
         <path class=\"hatch\" d=\"M0 0V6\"/></pattern></defs>"
    );
    let scale = scale(report);
    for tick in scale.ticks() {
        let x = scale.at(tick);
        let _ = write!(out, "<path class=\"grid\" d=\"M{x:.1} {}V{lines_end:.1}\"/>", TOP - 6.0);
        let _ = write!(
            out,
            "<text class=\"tick mid\" x=\"{x:.1}\" y=\"{}\">{}</text>",
            TOP - 11.0,
            axis_ns(tick)
        );
    }
    let mut y = TOP;
    for line in &budget.lines {
        row(&mut out, line, &scale, y);
        y += ROW;
    }
    if !budget.beside.is_empty() {
        let _ = write!(out, "<path class=\"axis\" d=\"M0 {:.1}H{WIDTH}\"/>", y + GAP / 2.0);
        y += GAP;
    }
    for line in &budget.beside {
        row(&mut out, line, &scale, y);
        y += ROW;
    }
    sum(&mut out, report, y + 28.0);
    out + "</svg>"
}

fn scale(report: &Report) -> Scale {
    let lines = report.budget.lines.iter().chain(&report.budget.beside);
    let figures = lines.flat_map(|line| {
        let max = match &line.state {
            State::Measured(measured) => Some(measured.max_ns as f64),
            _ => None,
        };
        [max, line.allowed_ns.map(|ns| ns as f64)]
    });
    Scale::log(
        figures
            .flatten()
            .chain([1_100.0, TRIP_TRANSFER_NS as f64])
            .collect::<Vec<_>>(),
        LEFT,
        RIGHT,
    )
}

fn row(out: &mut String, line: &Line, scale: &Scale, y: f64) {
    let middle = y + ROW / 2.0;
    let _ = write!(
        out,
        "<text class=\"name\" x=\"0\" y=\"{:.1}\">{}</text>",
        middle - 2.0,
        escape(line.title)
    );
    let _ = write!(
        out,
        "<text class=\"what\" x=\"0\" y=\"{:.1}\">{}</text>",
        middle + 12.0,
        escape(line.what)
    );
    match &line.state {
        State::NotMeasured | State::Within(_) => {
            let text = line.open(|verdict| verdict.word().to_owned());
            unknown(out, middle, &text.unwrap_or_default());
        }
        State::Measured(measured) => {
            let left = scale.at(scale.ends().0);
            let to = scale.at(measured.max_ns as f64);
            let top = middle - 8.0;
            let bar = |class: &str, end: f64| {
                let width = (end - left).max(1.0);
                format!("<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"16\"/>")
            };
            let class = if line.verdict == Some(Verdict::Fail) {
                "max fail"
            } else {
                "max"
            };
            out.push_str(&bar(class, to));
            if let Some(p999) = measured.p999_ns {
                out.push_str(&bar("p999", scale.at(p999 as f64)));
            }
            let p999 = measured
                .p999_ns
                .map_or_else(String::new, |ns| format!(", 99.9 % {}", Ns(ns)));
            let figure = SignedNs(measured.max_ns);
            let _ = write!(
                out,
                "<text class=\"figure\" x=\"{:.1}\" y=\"{:.1}\">max {figure}<tspan class=\"what\">{p999}</tspan></text>",
                RIGHT + 14.0,
                middle - 2.0
            );
            let from = plural(measured.samples, "sample");
            let note = if measured.note.is_empty() {
                String::new()
            } else {
                format!(", {}", measured.note)
            };
            let text = escape(&format!("{from}{note}; worst: {}", measured.worst));
            let _ = write!(
                out,
                "<text class=\"what\" x=\"{:.1}\" y=\"{:.1}\">{text}</text>",
                RIGHT + 14.0,
                middle + 12.0
            );
        }
    }
    if let Some(allowed) = line.allowed_ns {
        let x = scale.at(allowed as f64);
        let _ = write!(
            out,
            "<path class=\"limit\" d=\"M{x:.1} {:.1}V{:.1}\"/>",
            middle - 13.0,
            middle + 13.0
        );
        let text = axis_ns(allowed as f64);
        // The figures are to the right of the bars.
        let (side, x) = if x > RIGHT - 70.0 {
            ("limit-text end", x - 5.0)
        } else {
            ("limit-text", x + 5.0)
        };
        let _ = write!(
            out,
            "<text class=\"{side}\" x=\"{x:.1}\" y=\"{:.1}\">limit {text}</text>",
            middle + 4.0
        );
    }
}

fn unknown(out: &mut String, middle: f64, text: &str) {
    let _ = write!(
        out,
        "<rect class=\"unknown\" x=\"{LEFT}\" y=\"{:.1}\" width=\"{}\" height=\"16\"/>",
        middle - 8.0,
        RIGHT - LEFT
    );
    let _ = write!(
        out,
        "<text class=\"unknown-text\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
        RIGHT + 14.0,
        middle + 4.0,
        escape(text)
    );
}

/// The parts end to end, compared with the allowed time of a trip message.
fn sum(out: &mut String, report: &Report, y: f64) {
    let budget = &report.budget;
    let Some(sum_ns) = budget.sum_ns else { return };
    let whole = TRIP_TRANSFER_NS as f64;
    let scale = Scale::linear(0.0, whole.max(sum_ns as f64), 0.0, WIDTH - 2.0);
    let _ = write!(
        out,
        "<text class=\"name\" x=\"0\" y=\"{:.1}\">{}</text><text class=\"what\" x=\"0\" y=\"{:.1}\">{}; {} of {} (TT6), not a verdict on the trip</text>",
        y,
        SignedNs(sum_ns),
        y + 14.0,
        escape(&budget.sum_label()),
        format_args!("{:.0} %", sum_ns as f64 / whole * 100.0),
        axis_ns(whole),
    );
    let top = y + 24.0;
    let _ = write!(
        out,
        "<rect class=\"whole\" x=\"1\" y=\"{top:.1}\" width=\"{:.1}\" height=\"18\"/>",
        scale.at(whole) - 1.0
    );
    let mut from = 0.0;
    let mut legend_at = 0.0;
    for (number, title) in budget.added.iter().enumerate() {
        let line = budget.lines.iter().find(|line| line.title == *title);
        let Some(State::Measured(measured)) = line.map(|line| &line.state) else {
            continue;
        };
        let to = from + measured.max_ns as f64;
        let (left, right) = (scale.at(from), scale.at(to));
        let label = escape(&format!("{title} {}", SignedNs(measured.max_ns)));
        let _ = write!(
            out,
            "<rect class=\"part part{}\" x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"18\"><title>{label}</title></rect>",
            number % 4,
            left + 1.0,
            (right - left).max(1.0),
        );
        legend_at = legend(&mut *out, legend_at, top + 32.0, number, &label);
        from = to;
    }
    // Drawn over the parts, so that it is visible even if the sum is larger.
    let x = scale.at(whole);
    let _ = write!(
        out,
        "<path class=\"limit\" d=\"M{x:.1} {:.1}V{:.1}\"/>",
        top - 4.0,
        top + 22.0
    );
    let _ = write!(
        out,
        "<text class=\"legend\" x=\"{legend_at:.1}\" y=\"{:.1}\">red line: TT6 {}</text>",
        top + 32.0,
        axis_ns(whole)
    );
}

/// The key to a part of the sum; returns the position of the next one.
fn legend(out: &mut String, x: f64, y: f64, number: usize, label: &str) -> f64 {
    let _ = write!(
        out,
        "<rect class=\"part part{}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\"/><text class=\"legend\" x=\"{:.1}\" y=\"{y:.1}\">{label}</text>",
        number % 4,
        y - 9.0,
        x + 15.0,
    );
    // The width of text is not known here: 7 units per letter is enough at this size.
    x + 15.0 + 7.0 * label.chars().count() as f64 + 16.0
}
