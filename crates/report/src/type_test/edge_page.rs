//! Drawings of searched borders: a zone in the R-X plane, a differential characteristic over the restraint.

use super::EdgeLine;
use crate::html::charts::{BOTTOM, LEFT, RIGHT, TOP, grid_y, open, tick_x};
use crate::html::svg::{Scale, polyline};
use model::Characteristic;
use std::fmt::Write;

/// Colours of borders within and outside the declared error.
const WITHIN: &str = "#11694a";
const OUTSIDE: &str = "#c8261f";

/// Caption and drawing for each kind of fault.
pub(super) fn charts(test: &str, lines: &[EdgeLine]) -> Vec<(String, String)> {
    let of_type = lines.chunk_by(|one, other| one.line.fault == other.line.fault);
    let one = |lines: &[EdgeLine]| {
        let fault = &lines[0].line.fault;
        let without = lines.iter().filter(|line| line.measured().is_none()).count();
        let plane = match lines[0].line.of {
            Characteristic::Reach => "reach in ohm, R to the right, X upwards",
            Characteristic::Bias => "operate current over restraint, x In",
        };
        let gaps = match without {
            0 => String::new(),
            some => format!("; {some} of {} lines have no border, and no dot", lines.len()),
        };
        let caption = format!("{fault}: {plane}; lines: wanted and allowed, dots: measured, red: outside{gaps}");
        (caption, chart(test, fault, lines))
    };
    of_type.map(one).collect()
}

/// Place of a value in the plane, horizontal and vertical.
fn placed(line: &EdgeLine, value: f64) -> (f64, f64) {
    match line.line.of {
        Characteristic::Reach => {
            let (sine, cosine) = line.line.along.to_radians().sin_cos();
            (value * cosine, value * sine)
        }
        Characteristic::Bias => (line.line.along, value),
    }
}

fn chart(test: &str, fault: &str, lines: &[EdgeLine]) -> String {
    let mut out = open(&format!("{test}: border of {fault} faults"));
    let (x, y) = scales(lines);
    grid_y(&mut out, &y, |value| value.to_string());
    for tick in x.ticks() {
        tick_x(&mut out, x.at(tick), &((tick * 1e3).round() / 1e3).to_string());
    }
    let along = |part: f64| {
        let points = lines.iter().map(|line| {
            let (across, up) = placed(line, line.line.wanted * part);
            Some((x.at(across), y.at(up)))
        });
        polyline(points.collect::<Vec<_>>())
    };
    let error = lines[0].line.error_percent / 100.0;
    for (part, look) in [(1.0, "max"), (1.0 - error, "p50"), (1.0 + error, "p50")] {
        let _ = write!(out, "<path class=\"line {look}\" d=\"{}\"/>", along(part));
    }
    for line in lines {
        let Some(value) = line.measured() else { continue };
        let (across, up) = placed(line, value);
        let colour = if line.is_outside() { OUTSIDE } else { WITHIN };
        let _ = write!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"/>",
            x.at(across),
            y.at(up)
        );
    }
    out + "<path class=\"axis\" d=\"M" + &format!("{LEFT} {BOTTOM}H{RIGHT}\"/></svg>")
}

/// Scales that hold every wanted and measured value; those of an R-X plane are equal in both directions.
fn scales(lines: &[EdgeLine]) -> (Scale, Scale) {
    let values = |line: &EdgeLine| {
        let most = line.line.wanted * (1.0 + line.line.error_percent / 100.0);
        [Some(most), line.measured()]
            .into_iter()
            .flatten()
            .collect::<Vec<f64>>()
    };
    let points: Vec<(f64, f64)> = lines
        .iter()
        .flat_map(|line| values(line).into_iter().map(|value| placed(line, value)))
        .chain([(0.0, 0.0)])
        .collect();
    let range = |of: fn(&(f64, f64)) -> f64| {
        let all = points.iter().map(of);
        all.fold((f64::MAX, f64::MIN), |(low, high), value| {
            (low.min(value), high.max(value))
        })
    };
    let ((left, right), (low, high)) = (range(|point| point.0), range(|point| point.1));
    if lines[0].line.of == Characteristic::Bias {
        return (
            Scale::linear(0.0, right, LEFT, RIGHT),
            Scale::linear(0.0, high, BOTTOM, TOP),
        );
    }
    let ohm_a_pixel = ((high - low) / (BOTTOM - TOP)).max((right - left) / (RIGHT - LEFT));
    let half = ohm_a_pixel * (RIGHT - LEFT) / 2.0;
    let middle = f64::midpoint(left, right);
    let x = Scale::linear(middle - half, middle + half, LEFT, RIGHT);
    (x, Scale::linear(low, low + ohm_a_pixel * (BOTTOM - TOP), BOTTOM, TOP))
}
