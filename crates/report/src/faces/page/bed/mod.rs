//! The bed as a picture: test set, switch, and the device under test with its points of observation, application and relay, from top
//! to bottom, with what was measured between them: the largest median of the streams, and the maximum.

mod drawing;
mod places;
#[cfg(test)]
mod tests;

use crate::Report;
use crate::verdict::Verdict;
use model::{Kind, SeriesView};
use units::{Ns, SignedNs};

/// The places that a frame passes, in order.
struct Bed {
    places: Vec<BedPlace>,
    /// The places that one thing has, where they are not that thing alone.
    frames: Vec<Frame>,
    spans: Vec<Span>,
}

/// A place on the way, and what was measured in it.
struct BedPlace {
    name: String,
    /// Of which kind it is; may be empty.
    kind: String,
    inside: Vec<Measure>,
    /// On the way to it from the place before.
    before: Vec<Measure>,
}

/// Around places of one thing: its name, its kind, which may be empty, and the first and the last of the places.
struct Frame {
    name: &'static str,
    kind: String,
    first: usize,
    last: usize,
}

/// A measurement: its name, the largest median and the maximum in ns, and if that is over a limit.
struct Measure {
    name: String,
    p50_ns: Option<u64>,
    max_ns: i64,
    is_over: bool,
}

/// From the test set to another place, over others between them.
struct Span {
    to: usize,
    measure: Measure,
}

/// The picture; nothing where no frame passed a bed.
pub(super) fn picture(report: &Report) -> Option<String> {
    let bed = Bed::of(report);
    (bed.places.len() > 1).then(|| drawing::of(&bed))
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
        let max = SignedNs(self.max_ns);
        match self.p50_ns {
            Some(p50) => format!("{}, max {max}", Ns(p50)),
            None => format!("max {max}"),
        }
    }
}
