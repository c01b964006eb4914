//! Finds the places that a frame passes, as far as the run recorded them.

use super::{Bed, BedPlace, Frame, Measure, Seen, Span};
use model::fact::{NO_SWITCH, SWITCH};
use model::hop::HopName;
use model::{Kind, SeriesView, kind};

const TEST_SET: &str = "Test set";
const SWITCH_NAME: &str = "Switch";
const DEVICE: &str = "Device under test";
const APPLICATION: &str = "Application";

/// Observation points from which on a frame is in the device's network namespace; a dash and an interface name may
/// follow.
const ON_DEVICE: [&str; 2] = ["edge", "app"];

/// Maximum length of a switch's kind in characters.
const KIND: usize = 26;

impl Bed {
    pub(super) fn of(seen: &Seen<'_>) -> Self {
        let mut bed = Self {
            places: vec![BedPlace::new(TEST_SET, sent(seen))],
            frames: Vec::new(),
            spans: Vec::new(),
        };
        let (on_switch, on_device) = bed.switch(seen);
        let device = bed.places.len();
        bed.points(seen, &on_device);
        bed.receivers(seen, on_device.is_empty());
        bed.arrivals(seen, device, on_switch);
        bed.frame(DEVICE, String::new(), device);
        bed.spans(seen, device);
        bed
    }

    /// Adds the switch if the run recorded one; returns whether it has its own points, and the points after it.
    fn switch(&mut self, seen: &Seen<'_>) -> (bool, Vec<String>) {
        let points = points(seen);
        let kind = SWITCH.of(&seen.report.run.facts).filter(|kind| kind != NO_SWITCH);
        let Some(kind) = kind.filter(|_| has_frames(seen)) else {
            return (false, points);
        };
        let kind: String = kind.chars().take(KIND).collect();
        let (on_device, before): (Vec<String>, Vec<String>) = points.into_iter().partition(|point| is_on_device(point));
        let first = self.places.len();
        if before.is_empty() {
            self.places.push(BedPlace {
                kind,
                ..BedPlace::new(SWITCH_NAME, Vec::new())
            });
        } else {
            self.points(seen, &before);
            self.frame(SWITCH_NAME, kind, first);
        }
        (!before.is_empty(), on_device)
    }

    /// Adds observation points and the hops between them.
    fn points(&mut self, seen: &Seen<'_>, points: &[String]) {
        for point in points {
            let hop = self.places.last().and_then(|before| hop(seen, before.point()?, point));
            let name = match point.as_str() {
                "app" if self.places.len() > 1 => APPLICATION.to_owned(),
                _ => format!("Point {point}"),
            };
            self.places.push(BedPlace {
                before: hop.into_iter().collect(),
                ..BedPlace::new(&name, Vec::new())
            });
        }
    }

    /// Adds the receivers of the frames on the device.
    fn receivers(&mut self, seen: &Seen<'_>, without_points: bool) {
        let of = |kind: &'static Kind| Measure::of_kind(seen, kind);
        if without_points && has(seen, &[&kind::RTT, &kind::TURNAROUND, &kind::ARRIVAL, &kind::LISTEN]) {
            let turnaround = of(&kind::TURNAROUND).into_iter().collect();
            self.places.push(BedPlace::new(DEVICE, turnaround));
        }
        if has(seen, &[&kind::DELIVERY, &kind::AGE]) {
            if self.places.last().is_none_or(|place| place.name != APPLICATION) {
                self.places.push(BedPlace::new(APPLICATION, Vec::new()));
            }
            if let Some(place) = self.places.last_mut() {
                place.before.extend(of(&kind::DELIVERY));
            }
        }
        if has(seen, &[&kind::TASK, &kind::USE, &kind::TRIP, &kind::PONG]) {
            let task = of(&kind::TASK).into_iter().collect();
            self.places.push(BedPlace::new("Relay", task));
        }
        if let Some(place) = self.places.last_mut().filter(|place| place.name != TEST_SET) {
            place.inside.extend(of(&kind::WAKEUP));
        }
    }

    /// Assigns the measurements from the test set to the device's interface to the arrow between them, or draws them as
    /// bars if the switch is in between.
    fn arrivals(&mut self, seen: &Seen<'_>, device: usize, over_points: bool) {
        let measures = [&kind::ARRIVAL, &kind::LISTEN].map(|kind| Measure::of_kind(seen, kind));
        let measures = measures.into_iter().flatten();
        match self.places.get_mut(device) {
            Some(place) if !over_points => {
                let behind = std::mem::take(&mut place.before);
                place.before = measures.chain(behind).collect();
            }
            Some(_) => self.spans.extend(measures.map(|measure| Span { to: device, measure })),
            None => {}
        }
    }

    /// Adds a frame around the places from `first` on, unless the only place has the same name.
    fn frame(&mut self, name: &'static str, kind: String, first: usize) {
        let last = self.places.len() - 1;
        let is_alone = first == last && self.places[last].name == name;
        if first <= last && !is_alone {
            self.frames.push(Frame {
                name,
                kind,
                first,
                last,
            });
        }
    }

    /// Adds measurements across several places: round trip, age, age at the task, trip.
    fn spans(&mut self, seen: &Seen<'_>, device: usize) {
        let last = self.places.len() - 1;
        let application = self.places.iter().position(|place| place.name == APPLICATION);
        let all = [
            (&kind::RTT, "Round trip", device.min(last)),
            (&kind::AGE, "Age", application.unwrap_or(last)),
            (&kind::USE, "Age at the task", last),
            (&kind::TRIP, "Trip, there and back", last),
            (&kind::PONG, "Answer, there and back", last),
        ];
        for (kind, name, to) in all {
            let series = seen.series.iter().copied().filter(|series| series.is(kind));
            let measure = Measure::of(name, seen.report, series);
            self.spans.extend(measure.map(|measure| Span { to, measure }));
        }
    }
}

/// Lateness of the test set's sending.
fn sent(seen: &Seen<'_>) -> Vec<Measure> {
    let of = |kind: &'static Kind| Measure::of_kind(seen, kind);
    of(&kind::PUBLISH).into_iter().chain(of(&kind::TALK)).collect()
}

fn has(seen: &Seen<'_>, kinds: &[&'static Kind]) -> bool {
    let is_one = |series: &SeriesView| kinds.iter().any(|kind| series.is(kind));
    seen.series.iter().copied().any(is_one)
}

/// True if any frame passed through the bed.
fn has_frames(seen: &Seen<'_>) -> bool {
    let of_frames = [
        &kind::RTT,
        &kind::TURNAROUND,
        &kind::ARRIVAL,
        &kind::LISTEN,
        &kind::HOP,
        &kind::DELIVERY,
        &kind::AGE,
        &kind::TASK,
        &kind::USE,
        &kind::TRIP,
        &kind::PONG,
    ];
    has(seen, &of_frames)
}

fn is_on_device(point: &str) -> bool {
    let kind = point.split('-').next();
    ON_DEVICE.iter().any(|name| kind == Some(name))
}

/// Observation points in the order of the path.
fn points(seen: &Seen<'_>) -> Vec<String> {
    let names = seen
        .series
        .iter()
        .copied()
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

fn hop(seen: &Seen<'_>, from: &str, to: &str) -> Option<Measure> {
    let is_it =
        |series: &&SeriesView| HopName::parse(&series.spec.name).is_some_and(|name| name.from == from && name.to == to);
    Measure::of("Hop", seen.report, seen.series.iter().copied().filter(is_it))
}

impl BedPlace {
    fn new(name: &str, inside: Vec<Measure>) -> Self {
        Self {
            name: name.to_owned(),
            kind: String::new(),
            inside,
            before: Vec::new(),
        }
    }

    /// The observation point of this place.
    fn point(&self) -> Option<&str> {
        match self.name.as_str() {
            APPLICATION => Some("app"),
            name => name.strip_prefix("Point "),
        }
    }
}
