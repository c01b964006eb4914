//! A picture of the test bed, from top to bottom: test set, switch, and the device under test with its observation
//! points, application and relay. It shows the figures measured between them: the largest median of the streams, and
//! the maximum.

mod drawing;
mod places;
#[cfg(test)]
mod tests;

use crate::Report;
use crate::procedure::by_step;
use crate::verdict::Verdict;
use model::{Kind, SeriesView};
use units::{Ns, SignedNs};

/// The places that a frame passes, in order.
struct Bed {
    places: Vec<BedPlace>,
    /// Frames around the places of one device, if it has other places than itself.
    frames: Vec<Frame>,
    spans: Vec<Span>,
}

/// A place on the path of a frame, and the figures measured in it.
struct BedPlace {
    name: String,
    /// Kind of the place; may be empty.
    kind: String,
    inside: Vec<Measure>,
    /// Figures measured on the path from the previous place.
    before: Vec<Measure>,
}

/// A frame around the places of one device: its name, its kind (may be empty), and its first and last place.
struct Frame {
    name: &'static str,
    kind: String,
    first: usize,
    last: usize,
}

/// A measurement: its name, the largest median and the maximum in ns, and whether it is over a limit.
struct Measure {
    name: String,
    p50_ns: Option<u64>,
    max_ns: i64,
    is_over: bool,
}

/// A measurement from the test set to another place, across the places between.
struct Span {
    to: usize,
    measure: Measure,
}

/// The series of a picture, in their run.
struct Seen<'a> {
    report: &'a Report,
    series: Vec<&'a SeriesView>,
}

/// A picture, and the step that it shows; no step for a run that has none, or only one.
pub(crate) struct Picture {
    pub(crate) step: Option<String>,
    pub(crate) svg: String,
}

/// A picture for each step in which frames passed through a bed: figures of different steps never stand in one picture, because they
/// were measured under different conditions.
pub(super) fn pictures(report: &Report) -> Vec<Picture> {
    let steps = by_step(&report.run);
    let is_named = steps.len() > 1;
    let pictures = steps.into_iter().filter_map(|(step, series)| {
        let bed = Bed::of(&Seen { report, series });
        (bed.places.len() > 1).then(|| Picture {
            step: step.filter(|_| is_named),
            svg: drawing::of(&bed),
        })
    });
    pictures.collect()
}

impl Measure {
    fn of_kind(seen: &Seen<'_>, kind: &'static Kind) -> Option<Self> {
        Self::of(
            kind.title,
            seen.report,
            seen.series.iter().copied().filter(|series| series.is(kind)),
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
        let max = SignedNs(self.max_ns);
        match self.p50_ns {
            Some(p50) => format!("{}, max {max}", Ns(p50)),
            None => format!("max {max}"),
        }
    }
}
