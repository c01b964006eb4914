//! Changes from the first run to another, most certain and largest first.

use crate::comparison::{Compared, Comparison};
use crate::text::count;
use model::kind::{self, Kind};
use stats::comparison::{Assumed, Difference, Figure, Happened, Outcome, RareDifference, RareOutcome};
use units::format_ns;

/// Maxima that differ by less than this factor are not listed if the difference may be chance.
const LISTED_TIMES: f64 = 1.1;

/// Certainty of a change, most certain first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sure {
    /// Certain by windows, together with all other such statements.
    ByWindows,
    /// Based on fewer windows than a certain statement needs.
    FewWindows,
    /// Based on the samples of a run with hardly any windows.
    BySamples,
    /// One of the runs is in doubt, so the difference may come from that.
    InDoubt,
    /// The difference may also be chance.
    Chance,
}

/// A value of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Amount {
    /// A time in ns.
    Ns(f64),
    /// Number of occurrences.
    Times(f64),
}

/// A difference of a series between a run and the first run that has it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Change {
    /// The two runs: the reference, and the one that differs.
    pub(crate) runs: (usize, usize),
    pub(crate) series: String,
    /// Name of its kind.
    pub(crate) family: String,
    pub(crate) figure: String,
    pub(crate) a: Amount,
    pub(crate) b: Amount,
    /// Ratio of the values, or of the occurrences per measured time; infinite if it did not happen in the reference.
    pub(crate) times: f64,
    pub(crate) sure: Sure,
    /// True if the change is for the worse; `None` if that cannot be said.
    pub(crate) is_worse: Option<bool>,
    /// True if the two runs were not measured in the same way.
    pub(crate) is_unfair: bool,
    /// Number of other series of its kind with a similar change.
    pub(crate) others: usize,
}

impl Sure {
    /// Certainty of a statement about short runs.
    pub(super) fn of(assumed: Assumed) -> Self {
        match assumed {
            Assumed::Windows => Self::FewWindows,
            Assumed::Samples => Self::BySamples,
        }
    }

    /// The same with a doubt about one of the runs.
    pub(super) fn doubted(self, is_doubted: bool) -> Self {
        match is_doubted {
            true => self.max(Self::InDoubt),
            false => self,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::ByWindows => "sure",
            Self::FewWindows => "few windows",
            Self::BySamples => "by samples",
            Self::InDoubt => "in doubt",
            Self::Chance => "may be chance",
        }
    }
}

impl Amount {
    pub(crate) fn text(self) -> String {
        match self {
            Self::Ns(ns) => format_ns(ns),
            Self::Times(times) => count(times as u64),
        }
    }

    pub(crate) fn number(self) -> f64 {
        match self {
            Self::Ns(number) | Self::Times(number) => number,
        }
    }
}

/// The largest change for each kind of series and run, most certain first.
pub(super) fn largest(comparison: &Comparison) -> Vec<Change> {
    let mut all: Vec<Change> = comparison
        .series
        .iter()
        .flat_map(|one| of_series(comparison, one))
        .collect();
    all.sort_by(|a, b| a.sure.cmp(&b.sure).then(weight(b).total_cmp(&weight(a))));
    let mut kept: Vec<Change> = Vec::new();
    for change in all {
        let is_alike = |other: &&mut Change| {
            (other.runs, &other.family, other.sure) == (change.runs, &change.family, change.sure)
                && other.is_worse == change.is_worse
        };
        match kept.iter_mut().find(is_alike) {
            Some(other) => other.others += 1,
            None => kept.push(change),
        }
    }
    kept
}

/// A change up or down by the same factor has the same weight. A difference of one in a small count has little weight.
fn weight(change: &Change) -> f64 {
    let times = match (change.a, change.b) {
        (Amount::Times(a), Amount::Times(b)) => (b + 1.0) / (a + 1.0),
        _ => change.times,
    };
    times.max(1e-9).ln().abs()
}

/// The most certain and largest change of a series in each run.
fn of_series(comparison: &Comparison, compared: &Compared) -> Vec<Change> {
    let first = compared.places.iter().position(Option::is_some).unwrap_or(0);
    let kind = comparison.view(first, compared).and_then(model::SeriesView::kind);
    let family = kind.map_or_else(
        || compared.name.split('/').next().unwrap_or_default().to_owned(),
        |kind| kind.name.to_owned(),
    );
    let change = |run: usize, found: Found| Change {
        runs: (first, run),
        series: compared.name.clone(),
        family: family.clone(),
        is_worse: is_worse(kind, &found),
        figure: found.figure,
        a: found.a,
        b: found.b,
        times: found.times,
        sure: found.sure.doubted(compared.is_doubted(first, run)),
        is_unfair: !compared.unfair.is_empty(),
        others: 0,
    };
    let further = compared.places.iter().enumerate().skip(first + 1);
    let best = further.filter_map(|(run, _)| {
        let all = found(compared, run).into_iter().map(|found| change(run, found));
        all.min_by(|a, b| a.sure.cmp(&b.sure).then(weight(b).total_cmp(&weight(a))))
    });
    best.collect()
}

struct Found {
    figure: String,
    /// True for a figure of typical values, not of late ones.
    is_usual: bool,
    a: Amount,
    b: Amount,
    times: f64,
    sure: Sure,
}

fn found(compared: &Compared, run: usize) -> Vec<Found> {
    let of_run = |index: &usize| *index == run;
    let windows = compared.differences.iter().filter(|(index, _)| of_run(index));
    let samples = compared.by_samples.iter().filter(|(index, _)| of_run(index));
    let rare = compared.rare.iter().filter(|(index, _)| of_run(index));
    let mut all: Vec<Found> = windows
        .flat_map(|(_, differences)| differences)
        .filter_map(|one| of_figure(one, Sure::ByWindows))
        .collect();
    for one in samples.flat_map(|(_, differences)| differences) {
        all.extend(of_figure(&one.difference, Sure::of(one.assumed)));
    }
    all.extend(rare.flat_map(|(_, differences)| differences).filter_map(of_rare));
    all
}

fn of_figure(one: &Difference, sure: Sure) -> Option<Found> {
    matches!(one.outcome, Outcome::Higher | Outcome::Lower).then(|| Found {
        figure: name(one.figure, sure),
        is_usual: matches!(one.figure, Figure::Mean | Figure::Median),
        a: Amount::Ns(one.a),
        b: Amount::Ns(one.b),
        times: ratio(one.a, one.b),
        sure,
    })
}

/// The `typical max` is the median of the windows' maxima.
pub(super) fn name(figure: Figure, sure: Sure) -> String {
    let name = match figure {
        Figure::Mean => "mean",
        Figure::Median => "p50",
        Figure::P99 => "p99",
        Figure::P999 => "p99.9",
        Figure::WindowMax => "max",
    };
    match sure {
        Sure::ByWindows | Sure::FewWindows => format!("typical {name}"),
        _ => name.to_owned(),
    }
}

fn of_rare(one: &RareDifference) -> Option<Found> {
    let sure = match one.outcome {
        RareOutcome::Higher | RareOutcome::Lower => Sure::ByWindows,
        RareOutcome::Undecided => Sure::Chance,
        RareOutcome::InNeither => return None,
    };
    let (figure, amount): (String, fn(f64) -> Amount) = match one.what {
        Happened::Highest => ("max".to_owned(), Amount::Ns),
        Happened::Over(limit) => (format!("over {}", format_ns(limit as f64)), Amount::Times),
        Happened::Missed => ("missed".to_owned(), Amount::Times),
        Happened::Lost => ("lost".to_owned(), Amount::Times),
    };
    let per_window = |total: f64, windows: u64| match one.what {
        Happened::Highest => total,
        _ => total / windows.max(1) as f64,
    };
    let times = ratio(
        per_window(one.a_total, one.a_windows),
        per_window(one.b_total, one.b_windows),
    );
    let is_listed = sure == Sure::ByWindows || times.max(1.0 / times) > LISTED_TIMES;
    is_listed.then(|| Found {
        figure,
        is_usual: false,
        a: amount(one.a_total),
        b: amount(one.b_total),
        times,
        sure,
    })
}

fn ratio(a: f64, b: f64) -> f64 {
    if a == b { 1.0 } else { b / a }
}

/// More time, or more occurrences, are worse; not so if a sender decides the typical value, or if the figure is only
/// observed.
fn is_worse(kind: Option<&'static Kind>, found: &Found) -> Option<bool> {
    let kind = kind.filter(|kind| **kind != kind::SECURITY)?;
    let is_of_sender = [&kind::SPACING, &kind::LISTEN, &kind::GOOSE].contains(&kind);
    (!(is_of_sender && found.is_usual)).then_some(found.times > 1.0)
}
