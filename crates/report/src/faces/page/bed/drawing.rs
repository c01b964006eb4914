//! Draws the test bed as SVG.

use super::{Bed, BedPlace, Frame, Measure, Span};
use crate::html::svg::escape;
use std::fmt::Write;

const WIDTH: f64 = 470.0;
/// Horizontal positions of frames around boxes, of the boxes, and of the arrows between them.
const FRAME_LEFT: f64 = 1.0;
const FRAME_WIDTH: f64 = 190.0;
const BOX_LEFT: f64 = 9.0;
const BOX_WIDTH: f64 = 174.0;
const BOX_HEIGHT: f64 = 24.0;
const ARROW: f64 = 24.0;
/// Height of a frame above its first box, where its name is, and below its last box.
const FRAME_HEAD: f64 = 24.0;
const FRAME_FOOT: f64 = 8.0;
/// Height of a figure next to an arrow or in a box.
const LINE: f64 = 15.0;
/// Position of the first bar that spans several boxes, and the distance between bars.
const SPANS: f64 = 206.0;
const SPAN_STEP: f64 = 13.0;
/// Position of the text for these bars.
const SPAN_TEXT: f64 = 304.0;
/// Height of a bar's name and figures.
const SPAN_HEIGHT: f64 = 34.0;

/// The picture of a bed with at least two places.
pub(super) fn of(bed: &Bed) -> String {
    let (tops, height) = laid_out(bed);
    let text = "The bed with the largest median and the maximum of each part of the way";
    let mut out = format!(
        "<svg class=\"bed\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"{text}\"><title>{text}</title>"
    );
    for frame in &bed.frames {
        let bottom = tops[frame.last] + bed.places[frame.last].height() + FRAME_FOOT;
        frame.draw(&mut out, tops[frame.first] - FRAME_HEAD, bottom);
    }
    for (at, (place, top)) in bed.places.iter().zip(&tops).enumerate() {
        if at > 0 {
            let from = tops[at - 1] + bed.places[at - 1].height();
            let foot = if bed.ends_frame(at - 1) { FRAME_FOOT } else { 0.0 };
            place.arrow(&mut out, from, from + foot, *top);
        }
        place.draw(&mut out, *top);
    }
    let mut ends: Vec<f64> = Vec::new();
    for (at, span) in bed.spans.iter().enumerate() {
        let end = free(&ends, tops[span.to] + bed.places[span.to].height() / 2.0);
        ends.push(end);
        span.draw(&mut out, SPANS + SPAN_STEP * at as f64, tops[0] + BOX_HEIGHT / 2.0, end);
    }
    out + "</svg>"
}

/// Lowest free position for the end of a bar, at or above `wanted`, that leaves room for the texts of the other bars.
fn free(ends: &[f64], wanted: f64) -> f64 {
    let mut end = wanted;
    while let Some(other) = ends.iter().find(|other| (**other - end).abs() < SPAN_HEIGHT) {
        end = other - SPAN_HEIGHT;
    }
    end
}

/// The top of each place, and the bottom of the picture.
fn laid_out(bed: &Bed) -> (Vec<f64>, f64) {
    let mut tops = Vec::new();
    let mut y = 2.0;
    for (at, place) in bed.places.iter().enumerate() {
        y += if at == 0 { 0.0 } else { place.way() };
        if bed.frames.iter().any(|frame| frame.first == at) {
            y += FRAME_HEAD;
        }
        tops.push(y);
        y += place.height();
        if bed.ends_frame(at) {
            y += FRAME_FOOT;
        }
    }
    (tops, y + 4.0)
}

/// Writes a name and its kind.
fn name(out: &mut String, name: &str, kind: &str, x: f64, y: f64) {
    let _ = write!(out, "<text class=\"name\" x=\"{x}\" y=\"{y:.0}\">{}", escape(name));
    if !kind.is_empty() {
        let _ = write!(out, "<tspan class=\"what\" dx=\"6\">{}</tspan>", escape(kind));
    }
    out.push_str("</text>");
}

impl Bed {
    /// True if a frame ends after that place.
    fn ends_frame(&self, place: usize) -> bool {
        self.frames.iter().any(|frame| frame.last == place)
    }
}

impl Frame {
    fn draw(&self, out: &mut String, top: f64, bottom: f64) {
        let _ = write!(
            out,
            "<rect class=\"around\" x=\"{FRAME_LEFT}\" y=\"{top:.0}\" width=\"{FRAME_WIDTH}\" height=\"{:.0}\" rx=\"5\"/>",
            bottom - top
        );
        name(out, self.name, &self.kind, BOX_LEFT + 1.0, top + 16.0);
    }
}

impl BedPlace {
    fn height(&self) -> f64 {
        BOX_HEIGHT + 2.0 * LINE * self.inside.len() as f64
    }

    /// Length of the arrow to this place, without the head of a frame that it passes.
    fn way(&self) -> f64 {
        ARROW.max(2.0 * LINE * self.before.len() as f64 + 6.0)
    }

    fn draw(&self, out: &mut String, top: f64) {
        let _ = write!(
            out,
            "<rect class=\"place\" x=\"{BOX_LEFT}\" y=\"{top:.0}\" width=\"{BOX_WIDTH}\" height=\"{:.0}\" rx=\"4\"/>",
            self.height()
        );
        name(out, &self.name, &self.kind, BOX_LEFT + 10.0, top + 17.0);
        for (row, measure) in self.inside.iter().enumerate() {
            measure.draw(out, BOX_LEFT + 10.0, top + BOX_HEIGHT + 8.0 + 2.0 * LINE * row as f64);
        }
    }

    /// Draws the arrow from the end of the previous place down to this one, with its figures at `label`. It is dashed
    /// if nothing was measured between the two.
    fn arrow(&self, out: &mut String, from: f64, label: f64, top: f64) {
        let look = if self.before.is_empty() { "arrow open" } else { "arrow" };
        // The name of a frame is on the left, so the arrow is on the right.
        let x = BOX_LEFT + BOX_WIDTH - 12.0;
        let _ = write!(
            out,
            "<path class=\"{look}\" d=\"M{x} {from:.0}V{:.0}\"/><path class=\"head\" d=\"M{} {:.0}h8l-4 6z\"/>",
            top - 5.0,
            x - 4.0,
            top - 6.0
        );
        for (row, measure) in self.before.iter().enumerate() {
            measure.draw(out, BOX_LEFT + 10.0, label + 14.0 + 2.0 * LINE * row as f64);
        }
    }
}

impl Measure {
    /// Draws its name, and its figures below.
    fn draw(&self, out: &mut String, x: f64, y: f64) {
        let look = if self.is_over { " over" } else { "" };
        let _ = write!(
            out,
            "<text class=\"what\" x=\"{x}\" y=\"{y:.0}\">{}</text><text class=\"figure{look}\" x=\"{x}\" y=\"{:.0}\">{}</text>",
            escape(&self.name),
            y + LINE - 2.0,
            escape(&self.figures())
        );
    }
}

impl Span {
    /// Draws a bar next to the boxes that it spans, with its figures at the end.
    fn draw(&self, out: &mut String, x: f64, top: f64, end: f64) {
        let _ = write!(
            out,
            "<path class=\"span\" d=\"M{} {top:.0}H{x}V{end:.0}H{SPAN_TEXT}\"/>",
            BOX_LEFT + BOX_WIDTH
        );
        self.measure.draw(out, SPAN_TEXT + 4.0, end - 4.0);
    }
}
