//! The statements about compared series: each in full where runs differ, the others together.

use crate::comparison::{Compared, Comparison};
use stats::comparison::{Assumed, BySamples, Difference, Figure, Happened, Outcome, RareDifference, RareOutcome};

/// Said of a difference that chance alone can explain.
const CHANCE: &str = "undecided, it may be chance";

/// Said of a run whose samples of a series are doubtful.
pub(super) const IN_DOUBT: &str = "IS IN DOUBT";

/// Begins the name of a figure of the middle window.
const TYPICAL: &str = "typical ";

/// The compared series of one kind.
pub(super) struct Group<'a> {
    /// Name of the kind.
    pub(super) family: &'a str,
    pub(super) series: Vec<&'a Compared>,
}

/// The series of each kind, in the order of the first series.
pub(super) fn groups(comparison: &Comparison) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for compared in &comparison.series {
        let family = comparison.family(compared);
        match groups.iter_mut().find(|group| group.family == family) {
            Some(group) => group.series.push(compared),
            None => groups.push(Group {
                family,
                series: vec![compared],
            }),
        }
    }
    groups
}

/// A statement about a series.
enum Said {
    /// In full: the runs differ.
    Alone(String),
    /// The statement in short, and its figure.
    Together(String, String),
}

/// The statements about the series of a group: first each difference, then the others by what they say.
pub(super) fn summary(comparison: &Comparison, group: &Group<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut together: Vec<(String, Vec<(String, usize)>)> = Vec::new();
    for compared in &group.series {
        for said in said(comparison, compared) {
            match said {
                Said::Alone(text) if group.series.len() == 1 => lines.push(text),
                Said::Alone(text) => lines.push(format!("{}: {text}", compared.label())),
                Said::Together(what, figure) => add(&mut together, what, figure),
            }
        }
    }
    let pairs: usize = group.series.iter().map(|one| one.pairs()).sum();
    let of = |(figure, n): (String, usize)| {
        if n < pairs {
            format!("{figure} ({n} of {pairs})")
        } else {
            figure
        }
    };
    for (what, figures) in together {
        lines.push(format!("{what}: {}", listed(figures.into_iter().map(of).collect())));
    }
    lines
}

/// True if a statement says that runs differ in this series.
pub(super) fn differs(comparison: &Comparison, compared: &Compared) -> bool {
    said(comparison, compared)
        .iter()
        .any(|said| matches!(said, Said::Alone(_)))
}

/// `typical mean, p50; maximum of the run`: the word for figures of the middle window stands once.
fn listed(figures: Vec<String>) -> String {
    let (typical, others): (Vec<String>, Vec<String>) = figures.into_iter().partition(|one| one.starts_with(TYPICAL));
    let typical: Vec<&str> = typical.iter().filter_map(|one| one.strip_prefix(TYPICAL)).collect();
    let typical = (!typical.is_empty()).then(|| format!("{TYPICAL}{}", typical.join(", ")));
    let others = (!others.is_empty()).then(|| others.join(", "));
    typical.into_iter().chain(others).collect::<Vec<_>>().join("; ")
}

fn add(together: &mut Vec<(String, Vec<(String, usize)>)>, what: String, figure: String) {
    let at = together.iter().position(|(other, _)| *other == what);
    let at = at.unwrap_or_else(|| {
        together.push((what, Vec::new()));
        together.len() - 1
    });
    let figures = &mut together[at].1;
    match figures.iter_mut().find(|(other, _)| *other == figure) {
        Some((_, n)) => *n += 1,
        None => figures.push((figure, 1)),
    }
}

fn said(comparison: &Comparison, compared: &Compared) -> Vec<Said> {
    let first = compared.places.iter().position(Option::is_some).unwrap_or(0);
    let name = |run: usize| comparison.runs[run].0.as_str();
    let a = name(first);
    let mut all = Vec::new();
    for (run, differences) in &compared.differences {
        let weaker = compared.by_samples.iter().filter(|(other, _)| other == run);
        let weaker: Vec<BySamples> = weaker.flat_map(|(_, all)| all.iter().copied()).collect();
        let each = differences.iter();
        all.extend(each.filter_map(|one| of_figure(one, &weaker, a, name(*run))));
    }
    for (run, by_samples) in &compared.by_samples {
        all.extend(by_samples.iter().map(|one| of_samples(one, a, name(*run))));
    }
    for (run, rare) in &compared.rare {
        all.extend(rare.iter().map(|one| of_rare(one, a, name(*run))));
    }
    for (run, why) in &compared.not_compared {
        all.push(Said::Together(
            format!("{a} and {} not compared", name(*run)),
            why.clone(),
        ));
    }
    for (setting, values) in &compared.settings {
        let values = comparison.by_run(values);
        all.push(Said::Together(format!("setting \"{setting}\""), values));
    }
    let unfair = compared.unfair.iter();
    all.extend(unfair.map(|why| Said::Together("CONDITIONS DIFFER".to_owned(), why.clone())));
    let doubts = compared.doubts.iter();
    all.extend(doubts.map(|(run, why)| Said::Together(format!("{} {IN_DOUBT}", name(*run)), why.clone())));
    all
}

/// `by_samples` are the statements by samples about the same two runs.
fn of_figure(one: &Difference, by_samples: &[BySamples], a: &str, b: &str) -> Option<Said> {
    let what = match one.outcome {
        Outcome::Higher | Outcome::Lower => return Some(Said::Alone(one.text(a, b))),
        Outcome::NoDifference => "no difference that matters",
        Outcome::Undecided => "undecided, more windows would decide",
        // A weaker statement takes its place.
        Outcome::TooFewWindows { .. } if by_samples.iter().any(|other| other.difference.figure == one.figure) => {
            return None;
        }
        Outcome::TooFewWindows { .. } => "too few windows; measure longer, or in shorter windows",
        Outcome::TooAlike => "neighbouring windows are too alike; measure longer",
        Outcome::NotSteady => "not steady during one of the runs; measure under constant load",
    };
    Some(Said::Together(
        what.to_owned(),
        format!("{TYPICAL}{}", figure(one.figure)),
    ))
}

fn of_samples(one: &BySamples, a: &str, b: &str) -> Said {
    let what = match one.difference.outcome {
        Outcome::Higher | Outcome::Lower => return Said::Alone(one.text(a, b)),
        Outcome::NoDifference => "no difference that matters, which is not sure",
        _ => CHANCE,
    };
    let typical = if one.assumed == Assumed::Windows { TYPICAL } else { "" };
    Said::Together(what.to_owned(), format!("{typical}{}", figure(one.difference.figure)))
}

fn of_rare(one: &RareDifference, a: &str, b: &str) -> Said {
    let what = match one.outcome {
        RareOutcome::Higher | RareOutcome::Lower => return Said::Alone(one.text(a, b)),
        RareOutcome::Undecided => CHANCE,
        RareOutcome::InNeither => "none in either run",
    };
    let figure = match one.what {
        Happened::Highest if one.outcome == RareOutcome::InNeither => return equal_maxima(),
        Happened::Highest => "maximum of the run".to_owned(),
        Happened::Over(limit_ns) => format!("samples over {}", units::Ns(limit_ns)),
        Happened::Missed => "missed periods".to_owned(),
        Happened::Lost => "lost samples".to_owned(),
    };
    Said::Together(what.to_owned(), figure)
}

fn equal_maxima() -> Said {
    Said::Together("equal".to_owned(), "maximum of the run".to_owned())
}

fn figure(figure: Figure) -> &'static str {
    match figure {
        Figure::Mean => "mean",
        Figure::Median => "p50",
        Figure::P99 => "p99",
        Figure::P999 => "p99.9",
        Figure::WindowMax => "maximum",
    }
}

impl Compared {
    /// Its name without the kind.
    pub(super) fn label(&self) -> &str {
        self.name.split_once('/').map_or(&self.name, |(_, label)| label)
    }

    /// Number of runs that are compared with the first one that has the series.
    fn pairs(&self) -> usize {
        self.places.iter().flatten().count().saturating_sub(1)
    }
}

impl Comparison {
    /// Name of the kind of a series.
    fn family<'a>(&'a self, compared: &'a Compared) -> &'a str {
        let mut views = (0..self.runs.len()).filter_map(|run| self.view(run, compared));
        let unknown = || compared.name.split('/').next().unwrap_or_default();
        views.next().map_or_else(unknown, model::SeriesView::family)
    }

    /// A setting's value in each run that has it: `A: held off; B: as the system has them`.
    fn by_run(&self, values: &[Option<String>]) -> String {
        let each = values.iter().zip(&self.runs);
        let shown: Vec<String> = each
            .filter_map(|(value, (run, _))| Some(format!("{run}: {}", value.as_ref()?)))
            .collect();
        shown.join("; ")
    }

    /// Every statement about a series, in full.
    pub(super) fn words(&self, compared: &Compared) -> Vec<String> {
        let mut lines = Vec::new();
        let first = compared.places.iter().position(Option::is_some).unwrap_or(0);
        let a = &self.runs[first].0;
        let name = |run: usize| &self.runs[run].0;
        for (run, differences) in &compared.differences {
            lines.extend(differences.iter().map(|one| one.text(a, name(*run))));
        }
        for (run, by_samples) in &compared.by_samples {
            lines.extend(by_samples.iter().map(|one| one.text(a, name(*run))));
        }
        for (run, rare) in &compared.rare {
            lines.extend(rare.iter().map(|one| one.text(a, name(*run))));
        }
        for (run, why) in &compared.not_compared {
            lines.push(format!("{a} and {} not compared: {why}", name(*run)));
        }
        for (setting, values) in &compared.settings {
            lines.push(format!("setting \"{setting}\": {}", self.by_run(values)));
        }
        for (run, why) in &compared.doubts {
            lines.push(format!("{} is in doubt: {why}", name(*run)));
        }
        lines
    }
}
