//! The drawing of a ramp: the current over time, with pick-ups and drop-offs.

use super::RampLine;
use crate::html::charts::{BOTTOM, LEFT, RIGHT, TOP, grid_y, open, tick_x};
use crate::html::svg::{Scale, axis_time, polyline, time_ticks};
use std::fmt::Write;

/// Colours of pick-ups and drop-offs.
const MARKS: [&str; 2] = ["#c8261f", "#1d4f7c"];

/// Caption and drawing for each line.
pub(super) fn charts(test: &str, lines: &[RampLine]) -> Vec<(String, String)> {
    let one = |line: &RampLine| {
        let caption = format!(
            "{}: current over time; band: allowed pick-up, red: pick-up, blue: drop-off, by the relay's {}",
            line.ramp.phases,
            line.ramp.signal.word()
        );
        (caption, chart(test, line))
    };
    lines.iter().map(one).collect()
}

fn chart(test: &str, line: &RampLine) -> String {
    let ramp = &line.ramp;
    let mut out = open(&format!("{test}: ramp through {}", ramp.phases));
    let peak_a = ramp.from_a + f64::from(ramp.steps) * ramp.step_a;
    let y = Scale::linear(ramp.from_a - ramp.step_a, peak_a + ramp.step_a, BOTTOM, TOP);
    let length_s = ramp.lasts_ns() as f64 / 1e9;
    let x = Scale::linear(0.0, length_s, LEFT, RIGHT);
    grid_y(&mut out, &y, |amps| format!("{amps} A"));
    for tick in time_ticks((0.0, length_s)) {
        tick_x(&mut out, x.at(tick), &axis_time(tick, length_s));
    }
    for border in [-ramp.error_percent, ramp.error_percent] {
        let at = y.at(ramp.setting_a * (1.0 + border / 100.0));
        let _ = write!(out, "<path class=\"line p50\" d=\"M{LEFT} {at:.1}H{RIGHT}\"/>");
    }
    let _ = write!(
        out,
        "<path class=\"limit\" d=\"M{LEFT} {:.1}H{RIGHT}\"/>",
        y.at(ramp.setting_a)
    );
    // Each step has its begin and its end.
    let corners = (0..2 * ramp.steps).flat_map(|step| {
        let height = y.at(ramp.step_current_a(step));
        let at = |steps: u32| x.at(f64::from(steps) * ramp.step_ns as f64 / 1e9);
        [Some((at(step), height)), Some((at(step + 1), height))]
    });
    let _ = write!(out, "<path class=\"line max\" d=\"{}\"/>", polyline(corners));
    for course in &line.courses {
        for (ns, colour) in [course.pick_up_ns, course.drop_off_ns].into_iter().zip(MARKS) {
            let Some((ns, amps)) = ns.and_then(|ns| Some((ns, ramp.current_a(ns)?))) else {
                continue;
            };
            let _ = write!(
                out,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.2\" fill=\"{colour}\"/>",
                x.at(ns as f64 / 1e9),
                y.at(amps)
            );
        }
    }
    out + "<path class=\"axis\" d=\"M" + &format!("{LEFT} {BOTTOM}H{RIGHT}\"/></svg>")
}
