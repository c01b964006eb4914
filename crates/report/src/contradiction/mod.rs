//! Contradictions: statements in a run file that cannot all be true. The file was damaged or changed, or triptime has a
//! fault.
//!
//! Most figures are in a file more than once: a maximum is also the end of a histogram, and a lost sample is also a
//! sample that was due. If two of them disagree, neither is known, and no limit on the series is decided. Files that
//! triptime wrote are free of contradictions; if a command cannot know a figure for certain, the rule about it skips
//! the files of that command, and its comment explains why.

#[cfg(test)]
mod healthy;
#[cfg(test)]
mod property;
mod samples;
#[cfg(test)]
mod tests;
mod time;
mod windows;

use crate::text::count;
use model::{RunView, SeriesId, SeriesView, kind::Samples};

/// Command of a run that was made from another tool's file. Such files know most samples only to their bucket, and some
/// not at all.
const IMPORTED: &str = "import";

/// Two figures of a series that cannot both be true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// Number of the series.
    pub id: SeriesId,
    /// Its name.
    pub series: String,
    /// Text of the disagreement, with the numbers.
    pub text: String,
}

/// All contradictions in a run, series by series.
pub fn of(run: &RunView) -> Vec<Contradiction> {
    run.series.iter().flat_map(|series| of_series(run, series)).collect()
}

pub(crate) fn of_series(run: &RunView, series: &SeriesView) -> Vec<Contradiction> {
    let precision = Precision::of(run, series);
    let mut found = Findings::default();
    windows::look(series, precision, &mut found);
    samples::look(series, precision, &mut found);
    time::look(run, series, &mut found);
    let told = found.told();
    told.map(|text| Contradiction {
        id: series.id,
        series: series.spec.name.clone(),
        text,
    })
    .collect()
}

/// Precision of the figures of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Precision {
    /// Each sample was counted once in every figure.
    Exact,
    /// Counted in the kernel, in buckets that are wider than ours and represented by their upper end; the sum is read
    /// separately.
    InKernel,
    /// Made from another tool's file.
    Imported,
}

impl Precision {
    fn of(run: &RunView, series: &SeriesView) -> Self {
        match (run.info.command.as_str(), series.samples()) {
            (IMPORTED, _) => Self::Imported,
            (_, Some(Samples::Hops)) => Self::InKernel,
            _ => Self::Exact,
        }
    }
}

/// The findings, each kind once with its number of occurrences.
#[derive(Default)]
struct Findings(Vec<(&'static str, String, u64)>);

impl Findings {
    /// Adds a finding; of several with the same `rule`, only the first is reported in full.
    fn add(&mut self, rule: &'static str, text: impl FnOnce() -> String) {
        match self.0.iter_mut().find(|(known, ..)| *known == rule) {
            Some((.., n)) => *n += 1,
            None => self.0.push((rule, text(), 1)),
        }
    }

    fn told(self) -> impl Iterator<Item = String> {
        self.0.into_iter().map(|(_, text, n)| match n {
            1 => text,
            n => format!("{text}, and {} more of this kind", count(n - 1)),
        })
    }
}
