//! The bed as a picture: test set, points of observation, application and relay, from top to bottom, with what was measured
//! between them: the largest median of the streams, and the maximum.

use super::svg::escape;
use crate::Report;
use crate::verdict::Verdict;
use model::hop::HopName;
use model::{Kind, SeriesView, kind};
use std::fmt::Write;
use units::format_ns;

const WIDTH: f64 = 470.0;
/// Boxes, and the arrows in their middle.
const BOX_LEFT: f64 = 2.0;
const BOX_WIDTH: f64 = 172.0;
const BOX_HEIGHT: f64 = 24.0;
const ARROW: f64 = 24.0;
/// A figure beside an arrow or in a box.
const LINE: f64 = 15.0;
/// Where the bars begin that span several boxes, and how far they are apart.
const SPANS: f64 = 268.0;
const SPAN_STEP: f64 = 13.0;
/// Where what is said of them begins.
const SPAN_TEXT: f64 = 328.0;

/// A place on the way, and what was measured in it.
struct Place {
    name: String,
    inside: Vec<Measure>,
    /// On the way to it from the place before.
    before: Vec<Measure>,
}

/// What was measured: its name, the largest median and the maximum in ns, and whether that is over a limit.
struct Measure {
    name: String,
    p50_ns: Option<u64>,
    max_ns: i64,
    is_over: bool,
}

/// From one place to another, over others between them.
struct Span {
    from: usize,
    to: usize,
    measure: Measure,
}

/// The picture; nothing where no frame passed a bed.
pub(super) fn picture(report: &Report) -> Option<String> {
    let places = places(report);
    (places.len() > 1).then(|| drawing(&places, &spans(report, &places)))
}

fn places(report: &Report) -> Vec<Place> {
    let of = |kind: &'static Kind| Measure::of_kind(report, kind);
    let mut places = vec![Place::new(
        "Test set",
        of(&kind::PUBLISH).into_iter().chain(of(&kind::TALK)).collect(),
    )];
    let mut to_host: Vec<Measure> = of(&kind::ARRIVAL).into_iter().chain(of(&kind::LISTEN)).collect();
    let points = points(report);
    for (at, point) in points.iter().enumerate() {
        let hop = at.checked_sub(1).and_then(|before| hop(report, &points[before], point));
        let is_application = at > 0 && point == "app";
        let mut place = Place::new(
            &if is_application {
                APPLICATION.to_owned()
            } else {
                format!("Point {point}")
            },
            Vec::new(),
        );
        place.before = if at == 0 {
            std::mem::take(&mut to_host)
        } else {
            hop.into_iter().collect()
        };
        places.push(place);
    }
    let is_there = |kinds: &[&'static Kind]| {
        kinds
            .iter()
            .any(|kind| report.run.series.iter().any(|series| series.is(kind)))
    };
    if points.is_empty() && is_there(&[&kind::RTT, &kind::TURNAROUND, &kind::ARRIVAL]) {
        let mut place = Place::new("Device under test", of(&kind::TURNAROUND).into_iter().collect());
        place.before = std::mem::take(&mut to_host);
        places.push(place);
    }
    if is_there(&[&kind::DELIVERY, &kind::AGE]) {
        if places.last().is_none_or(|place| place.name != APPLICATION) {
            places.push(Place::new(APPLICATION, Vec::new()));
        }
        if let Some(place) = places.last_mut() {
            place.before.extend(of(&kind::DELIVERY));
        }
    }
    if is_there(&[&kind::TASK, &kind::USE, &kind::TRIP, &kind::PONG]) {
        places.push(Place::new("Relay", of(&kind::TASK).into_iter().collect()));
    }
    if let Some(place) = places.last_mut().filter(|place| place.name != "Test set") {
        place.inside.extend(of(&kind::WAKEUP));
    }
    places
}

const APPLICATION: &str = "Application";

/// Points of observation in the order of the way.
fn points(report: &Report) -> Vec<String> {
    let names = report
        .run
        .series
        .iter()
        .filter_map(|series| HopName::parse(&series.spec.name));
    let mut points: Vec<String> = Vec::new();
    for name in names {
        for point in [name.from, name.to] {
            if !points.iter().any(|known| known == point) {
                points.push(point.to_owned());
            }
        }
    }
    points
}

fn hop(report: &Report, from: &str, to: &str) -> Option<Measure> {
    let is_it =
        |series: &&SeriesView| HopName::parse(&series.spec.name).is_some_and(|name| name.from == from && name.to == to);
    Measure::of("Hop", report, report.run.series.iter().filter(is_it))
}

/// What spans several places: round trip, age, age at the task, trip.
fn spans(report: &Report, places: &[Place]) -> Vec<Span> {
    let last = places.len() - 1;
    let application = places
        .iter()
        .position(|place| place.name == APPLICATION)
        .unwrap_or(last);
    let all = [
        (&kind::RTT, "Round trip", 1),
        (&kind::AGE, "Age", application),
        (&kind::USE, "Age at the task", last),
        (&kind::TRIP, "Trip, there and back", last),
        (&kind::PONG, "Answer, there and back", last),
    ];
    let span = |(kind, name, to): (&'static Kind, &str, usize)| {
        let series = report.run.series.iter().filter(|series| series.is(kind));
        let measure = Measure::of(name, report, series)?;
        Some(Span { from: 0, to, measure })
    };
    all.into_iter().filter_map(span).collect()
}

impl Place {
    fn new(name: &str, inside: Vec<Measure>) -> Self {
        Self {
            name: name.to_owned(),
            inside,
            before: Vec::new(),
        }
    }

    fn height(&self) -> f64 {
        BOX_HEIGHT + 2.0 * LINE * self.inside.len() as f64
    }

    /// Of the arrow to it.
    fn way(&self) -> f64 {
        ARROW.max(2.0 * LINE * self.before.len() as f64 + 6.0)
    }
}

impl Measure {
    fn of_kind(report: &Report, kind: &'static Kind) -> Option<Self> {
        Self::of(
            kind.title,
            report,
            report.run.series.iter().filter(|series| series.is(kind)),
        )
    }

    fn of<'a>(name: &str, report: &Report, series: impl Iterator<Item = &'a SeriesView>) -> Option<Self> {
        let series: Vec<&SeriesView> = series.collect();
        let max_ns = series.iter().filter_map(|series| series.max_ns).max()?;
        let fails = report
            .judgement
            .checks
            .iter()
            .filter(|check| check.verdict == Verdict::Fail);
        let is_over = fails
            .map(|check| &check.series)
            .any(|name| series.iter().any(|one| one.spec.name == *name));
        Some(Self {
            name: name.to_owned(),
            p50_ns: series.iter().filter_map(|series| series.figures().p50).max(),
            max_ns,
            is_over,
        })
    }

    fn figures(&self) -> String {
        let max = format_ns(self.max_ns as f64);
        match self.p50_ns {
            Some(p50) => format!("{}, max {max}", format_ns(p50 as f64)),
            None => format!("max {max}"),
        }
    }

    /// Its name and its figures, one below the other.
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

fn drawing(places: &[Place], spans: &[Span]) -> String {
    let mut tops = Vec::new();
    let mut y = 2.0;
    for (at, place) in places.iter().enumerate() {
        y += if at == 0 { 0.0 } else { place.way() };
        tops.push(y);
        y += place.height();
    }
    let text = "The bed with the largest median and the maximum of each part of the way";
    let mut out = format!(
        "<svg class=\"bed\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"{text}\"><title>{text}</title>",
        y + 4.0
    );
    for (at, (place, top)) in places.iter().zip(&tops).enumerate() {
        if at > 0 {
            arrow(&mut out, place, *top);
        }
        draw(&mut out, place, *top);
    }
    for (at, span) in spans.iter().enumerate() {
        let same_end = spans[..at].iter().filter(|other| other.to == span.to).count();
        let bottom = tops[span.to] + places[span.to].height() / 2.0;
        bar(
            &mut out,
            span,
            at as f64,
            (tops[span.from] + BOX_HEIGHT / 2.0, bottom),
            same_end as f64,
        );
    }
    out + "</svg>"
}

fn draw(out: &mut String, place: &Place, top: f64) {
    let _ = write!(
        out,
        "<rect class=\"place\" x=\"{BOX_LEFT}\" y=\"{top:.0}\" width=\"{BOX_WIDTH}\" height=\"{:.0}\" rx=\"4\"/>\
         <text class=\"name\" x=\"{}\" y=\"{:.0}\">{}</text>",
        place.height(),
        BOX_LEFT + 10.0,
        top + 17.0,
        escape(&place.name)
    );
    for (row, measure) in place.inside.iter().enumerate() {
        measure.draw(out, BOX_LEFT + 10.0, top + BOX_HEIGHT + 8.0 + 2.0 * LINE * row as f64);
    }
}

/// Down to a place. Dashed where nothing was measured on the way.
fn arrow(out: &mut String, place: &Place, top: f64) {
    let (x, from) = (BOX_LEFT + 24.0, top - place.way());
    let look = if place.before.is_empty() { "arrow open" } else { "arrow" };
    let _ = write!(
        out,
        "<path class=\"{look}\" d=\"M{x} {from:.0}V{:.0}\"/><path class=\"head\" d=\"M{} {:.0}h8l-4 6z\"/>",
        top - 5.0,
        x - 4.0,
        top - 6.0
    );
    for (row, measure) in place.before.iter().enumerate() {
        measure.draw(out, x + 12.0, from + 14.0 + 2.0 * LINE * row as f64);
    }
}

/// A bar beside the boxes that it spans, with its figures at the end; `place` from the left, and below so many others that end there.
fn bar(out: &mut String, span: &Span, place: f64, (top, bottom): (f64, f64), others: f64) {
    let x = SPANS + SPAN_STEP * place;
    let text = bottom - 4.0 - 34.0 * others;
    let end = bottom - 34.0 * others;
    let _ = write!(
        out,
        "<path class=\"span\" d=\"M{} {top:.0}H{x}V{end:.0}H{SPAN_TEXT}\"/>",
        BOX_LEFT + BOX_WIDTH
    );
    span.measure.draw(out, SPAN_TEXT + 4.0, text);
}

#[cfg(test)]
mod tests {
    use super::picture;
    use crate::Report;
    use testing::synthetic;

    fn drawn(names: &[&str]) -> Option<String> {
        let series = names.iter().map(|name| synthetic::series(name, 1000, 60_000, 10));
        picture(&Report::new(synthetic::run(series.collect()), Vec::new()))
    }

    #[test]
    fn places_stand_in_the_order_of_the_way() {
        let names = [
            "publish/lateness",
            "arrival/MU01",
            "hop/nic-to-edge/MU01",
            "hop/edge-to-app/MU01",
            "age/MU01",
            "task/bay",
            "trip/bay",
        ];
        let drawn = drawn(&names).expect("a picture");
        let at = |name: &str| {
            drawn
                .find(&format!(">{name}</text>"))
                .unwrap_or_else(|| panic!("{name}: {drawn}"))
        };
        let places = ["Test set", "Point nic", "Point edge", "Application", "Relay"].map(at);
        assert!(places.is_sorted(), "{places:?}");
        assert_eq!(drawn.matches("class=\"span\"").count(), 2, "age and trip");
    }

    #[test]
    fn a_run_without_frames_has_no_bed() {
        assert_eq!(drawn(&["wakeup/cpu1"]), None);
        assert_eq!(drawn(&[]), None);
    }

    #[test]
    fn names_of_points_are_text() {
        let drawn = drawn(&["hop/<b>-to-&/MU01"]).expect("a picture");
        assert!(drawn.contains("&lt;b&gt;") && !drawn.contains("<b>"));
    }
}
