//! Compares two or more runs: differences, their size and certainty, and differences in the machine and the settings.

mod alone;
mod answer;
mod fleeting;
mod inventory;
mod page;
mod pictures;
mod prepared;
mod rounds;
mod runs;
mod series;
#[cfg(test)]
mod tests;

pub use pictures::kind_to_draw;
pub(crate) use prepared::as_one;
pub use rounds::joined;

use crate::bound::CONFIDENCE;
use crate::contradiction;
use crate::html::panels::limit_of;
use crate::limits::Profile;
use crate::screen::limits::{Row, rows_of};
use crate::section::Section;
use crate::verdict::{Judgement, unseen};
use alone::AloneSection;
use answer::AnswerSection;
use inventory::FactsSection;
use model::{Fact, RunView, SeriesView, setting};
use pictures::BoxesSection;
use prepared::Prepared;
use runs::RunsSection;
use series::ComparedSection;
use stats::comparison::{BySamples, Difference, RareDifference, confidences};
use std::collections::BTreeSet;

/// A comparison on the terminal.
const TERMINAL: [&dyn Section<Comparison>; 4] = [&RunsSection, &ComparedSection, &AloneSection, &FactsSection];

/// The page of a comparison, after the answer.
const PAGE: [&dyn Section<Comparison>; 4] = [&BoxesSection, &ComparedSection, &AloneSection, &FactsSection];

/// The document of a comparison.
const DOCUMENT: [&dyn Section<Comparison>; 5] = [
    &RunsSection,
    &ComparedSection,
    &AnswerSection,
    &AloneSection,
    &FactsSection,
];

/// Runs, compared with the first one.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The runs, with the names used to show them.
    pub runs: Vec<(String, RunView)>,
    /// Series that more than one run contains.
    pub series: Vec<Compared>,
    /// Series that only one run contains: name of the run and of the series.
    pub alone: Vec<(String, String)>,
    /// Differences of the inventories.
    pub facts: Vec<FactDifference>,
    /// The limits of each run; empty for a run that was not judged.
    pub(crate) limits: Vec<Vec<Row>>,
    /// The limit on the maximum of each series of each run, in ns; empty for a run that was not judged.
    pub(crate) allowed: Vec<Vec<Option<u64>>>,
}

/// One series over the runs.
#[derive(Debug, Clone)]
pub struct Compared {
    /// Its name in the first run that has it.
    pub name: String,
    /// Index of the series in each run; `None` if the run does not contain it.
    pub places: Vec<Option<usize>>,
    /// Differences of each further run from the first one that has the series: index of the run, and one difference for
    /// each figure.
    pub differences: Vec<(usize, Vec<Difference>)>,
    /// Comparisons by samples for the same runs, if they have too few windows.
    pub by_samples: Vec<(usize, Vec<BySamples>)>,
    /// Rare events of the same runs: maximum, samples over the threshold, missed, lost.
    pub rare: Vec<(usize, Vec<RareDifference>)>,
    /// Runs whose windows cannot be compared with those of the first, and the reason.
    pub not_compared: Vec<(usize, String)>,
    /// Settings that differ: name, and the value in each run.
    pub settings: Vec<(String, Vec<Option<String>>)>,
    /// Reasons why the comparison is not fair; empty if it is.
    pub unfair: Vec<String>,
    /// Doubts about the samples of runs: a difference may come from them.
    pub doubts: Vec<(usize, String)>,
}

/// A fact that differs between the runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactDifference {
    /// Group of the inventory.
    pub group: String,
    /// Name in the group.
    pub name: String,
    /// Its value in each run, or the reason why it is unknown; `None` if the run does not contain the fact.
    pub values: Vec<Option<Result<String, String>>>,
}

/// Settings that decide what is measured: if one differs, the figures describe two different things.
const DECISIVE: [&str; 7] = [
    "interval",
    "policy",
    "clock",
    setting::IDLE_STATES,
    "spin ahead",
    "threshold",
    "gaps above",
];

impl Comparison {
    /// Compares runs with the first of them. Each run comes with the name used to show it.
    pub fn of(runs: Vec<(String, RunView)>) -> Self {
        let series = settled(matched(&runs));
        Self::with(runs, series)
    }

    /// Compares the runs of each set with the first of the set. The confidence applies to all statements of all sets
    /// together.
    pub fn together(sets: Vec<Vec<(String, RunView)>>) -> Vec<Self> {
        let matched: Vec<_> = sets.iter().map(|runs| matched(runs)).collect();
        let lengths: Vec<usize> = matched.iter().map(Vec::len).collect();
        let mut settled = settled(matched.into_iter().flatten().collect()).into_iter();
        let with = |(runs, length)| Self::with(runs, settled.by_ref().take(length).collect());
        sets.into_iter().zip(lengths).map(with).collect()
    }

    fn with(runs: Vec<(String, RunView)>, series: Vec<Compared>) -> Self {
        let matched_names: BTreeSet<(usize, usize)> = series
            .iter()
            .flat_map(|compared| compared.places.iter().enumerate())
            .filter_map(|(run, place)| Some((run, (*place)?)))
            .collect();
        let mut alone = Vec::new();
        for (index, (name, run)) in runs.iter().enumerate() {
            for (place, series) in run.series.iter().enumerate() {
                if !matched_names.contains(&(index, place)) {
                    alone.push((name.clone(), series.spec.name.clone()));
                }
            }
        }
        Self {
            series,
            alone,
            facts: fact_differences(&runs),
            limits: vec![Vec::new(); runs.len()],
            allowed: vec![Vec::new(); runs.len()],
            runs,
        }
    }

    /// Judges each run by its own limits: one optional profile for each run.
    pub fn judged(mut self, profiles: &[Option<Profile>]) -> Self {
        let kept = self.limits.iter_mut().zip(&mut self.allowed);
        for ((_, run), (profile, (rows, allowed))) in self.runs.iter().zip(profiles.iter().zip(kept)) {
            let profiles = profile.as_slice();
            let judgement = Judgement::of(run, profiles);
            *rows = rows_of(run, profiles, &judgement);
            *allowed = run.series.iter().map(|series| limit_of(&judgement, series)).collect();
        }
        self
    }

    /// The series of a run that a comparison refers to.
    pub(crate) fn view(&self, run: usize, compared: &Compared) -> Option<&SeriesView> {
        let place = (*compared.places.get(run)?)?;
        self.runs.get(run)?.1.series.get(place)
    }
}

/// Matches series by name. If every run has exactly one series of a kind, they are matched by kind, so that cpu1 in one
/// run can be compared with cpu2 in another.
fn matched(runs: &[(String, RunView)]) -> Vec<(Compared, Vec<Further>)> {
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    for (index, (_, run)) in runs.iter().enumerate() {
        for series in &run.series {
            let key = key(runs, series);
            if !seen.insert(key.clone()) {
                continue;
            }
            let places: Vec<Option<usize>> = runs
                .iter()
                .map(|(_, run)| run.series.iter().position(|other| self::key(runs, other) == key))
                .collect();
            if places.iter().flatten().count() > 1 {
                all.push(compared(runs, index, series, places));
            }
        }
    }
    all
}

/// A further run of a series, not yet compared: index of the run, and its figures next to those of the first.
type Further = (usize, Prepared);

/// The statements about every series of every run, all together with the stated confidence.
fn settled(all: Vec<(Compared, Vec<Further>)>) -> Vec<Compared> {
    let further = all.iter().flat_map(|(_, further)| further);
    let ps: Vec<Option<f64>> = further.clone().flat_map(|(_, prepared)| prepared.ps()).collect();
    // These statements need more assumptions, so they are a separate family: the others keep their full confidence.
    let of_samples: Vec<Option<f64>> = further.flat_map(|(_, prepared)| prepared.ps_by_samples()).collect();
    let mut by_samples = confidences(&of_samples, CONFIDENCE).into_iter();
    let mut confidences = confidences(&ps, CONFIDENCE).into_iter();
    let mut settle = |(mut compared, further): (Compared, Vec<Further>)| {
        for (run, prepared) in further {
            let (differences, rare) = prepared.at(&mut confidences);
            compared.by_samples.push((run, prepared.by_samples(&mut by_samples)));
            compared.differences.push((run, differences));
            compared.rare.push((run, rare));
            compared.not_compared.extend(prepared.refused.map(|why| (run, why)));
        }
        compared
    };
    all.into_iter().map(&mut settle).collect()
}

/// Key that identifies the same series in two runs.
fn key(runs: &[(String, RunView)], series: &SeriesView) -> String {
    let single = runs.iter().all(|(_, run)| {
        let of_kind = run.series.iter().filter(|other| other.family() == series.family());
        of_kind.count() <= 1
    });
    match single {
        true => series.family().to_owned(),
        false => series.spec.name.clone(),
    }
}

fn compared(
    runs: &[(String, RunView)],
    first: usize,
    series: &SeriesView,
    places: Vec<Option<usize>>,
) -> (Compared, Vec<Further>) {
    let views: Vec<Option<&SeriesView>> = runs
        .iter()
        .zip(&places)
        .map(|((_, run), place)| run.series.get((*place)?))
        .collect();
    let further = views
        .iter()
        .enumerate()
        .skip(first + 1)
        .filter_map(|(run, view)| Some((run, Prepared::of(series, (*view)?))))
        .collect();
    let settings = setting_differences(&views);
    let compared = Compared {
        name: series.spec.name.clone(),
        unfair: unfair(&settings),
        settings,
        places,
        differences: Vec::new(),
        by_samples: Vec::new(),
        rare: Vec::new(),
        not_compared: Vec::new(),
        doubts: doubts(runs, &views),
    };
    (compared, further)
}

/// The doubts about a series in each run.
fn doubts(runs: &[(String, RunView)], views: &[Option<&SeriesView>]) -> Vec<(usize, String)> {
    let mut doubts = Vec::new();
    for (at, ((_, run), view)) in runs.iter().zip(views).enumerate() {
        let Some(series) = view else { continue };
        let found = unseen(run, series, &contradiction::of_series(run, series));
        doubts.extend(found.into_iter().map(|why| (at, why)));
    }
    doubts
}

impl Compared {
    /// True if a difference of a run from that of index `first` may come from a doubt.
    pub(crate) fn is_doubted(&self, first: usize, run: usize) -> bool {
        self.doubts.iter().any(|(of, _)| [first, run].contains(of))
    }
}

fn setting_differences(views: &[Option<&SeriesView>]) -> Vec<(String, Vec<Option<String>>)> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in views.iter().flatten().flat_map(|view| &view.spec.settings) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let values_of = |name: &str| -> Vec<Option<String>> {
        let of = |view: &Option<&SeriesView>| {
            let settings = &view.as_ref()?.spec.settings;
            settings
                .iter()
                .find(|(other, _)| other == name)
                .map(|(_, value)| value.clone())
        };
        views.iter().map(of).collect()
    };
    let there: Vec<bool> = views.iter().map(Option::is_some).collect();
    names
        .into_iter()
        .map(|name| (name.to_owned(), values_of(name)))
        .filter(|(_, values)| {
            let present: Vec<_> = values.iter().zip(&there).filter(|(_, there)| **there).collect();
            present.windows(2).any(|pair| pair[0].0 != pair[1].0)
        })
        .collect()
}

fn unfair(settings: &[(String, Vec<Option<String>>)]) -> Vec<String> {
    let decisive = settings.iter().filter(|(name, _)| DECISIVE.contains(&name.as_str()));
    decisive
        .map(|(name, _)| format!("the setting \"{name}\" is not the same"))
        .collect()
}

/// Facts that differ, in the order of the first run's inventory.
fn fact_differences(runs: &[(String, RunView)]) -> Vec<FactDifference> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    for fact in runs.iter().flat_map(|(_, run)| &run.facts) {
        let name = (fact.group.as_str(), fact.name.as_str());
        if !names.contains(&name) && !fleeting::is_fleeting(name) {
            names.push(name);
        }
    }
    let value = |run: &RunView, (group, name): (&str, &str)| {
        let is = |fact: &&Fact| fact.group == group && fact.name == name;
        run.facts.iter().find(is).map(|fact| fact.value.clone())
    };
    let difference = |name: (&str, &str)| FactDifference {
        group: name.0.to_owned(),
        name: name.1.to_owned(),
        values: runs.iter().map(|(_, run)| value(run, name)).collect(),
    };
    let all = names.into_iter().map(difference);
    all.filter(fleeting::differs).collect()
}
