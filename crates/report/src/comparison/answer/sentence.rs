//! The result of a comparison in one sentence.

use super::changes::{Change, Sure, name};
use crate::comparison::{Compared, Comparison};
use model::kind::Kind;
use stats::comparison::{Difference, Outcome};
use units::format_ns;

/// Number of changes that the sentence names.
const NAMED: usize = 3;

/// How a run differs from the first one: `after is worse: round trip max 255 µs → 1.68 ms, sure; …`
pub(super) fn sentence(comparison: &Comparison, run: usize, changes: &[Change]) -> String {
    let (a, b) = (&comparison.runs[0].0, &comparison.runs[run].0);
    let of_run: Vec<&Change> = changes.iter().filter(|change| change.runs.1 == run).collect();
    if !comparison.series.iter().any(|one| one.has(run)) {
        return format!("Nothing of {b} is compared: it has no series that another run has.");
    }
    let surest = of_run.iter().map(|change| change.sure).min();
    let begin = match surest {
        Some(Sure::ByWindows) => format!("{b} is {}", how(&of_run, Sure::ByWindows)),
        Some(Sure::FewWindows) => format!("{b} seems {}, which is not sure", how(&of_run, Sure::FewWindows)),
        Some(Sure::BySamples) => format!("{b} may be {}, which is not sure", how(&of_run, Sure::BySamples)),
        Some(Sure::InDoubt) => format!("{b} may be {}, which is in doubt", how(&of_run, Sure::InDoubt)),
        _ => format!("No difference between {a} and {b} is sure"),
    };
    // Changes that may be chance are named only if there are no others.
    let is_named = |change: &&&Change| change.sure != Sure::Chance || surest == Some(Sure::Chance);
    let named = of_run.iter().filter(is_named).take(NAMED);
    let mut parts: Vec<String> = named.map(|change| part(change)).collect();
    parts.extend(same(comparison, run, &of_run));
    match parts.is_empty() {
        true => format!("{begin}."),
        false => format!("{begin}: {}.", parts.join("; ")),
    }
}

/// Direction of the changes with this certainty.
fn how(changes: &[&Change], sure: Sure) -> &'static str {
    let has = |worse: bool| {
        changes
            .iter()
            .any(|one| one.sure == sure && one.is_worse == Some(worse))
    };
    match (has(true), has(false)) {
        (true, true) => "worse in some and better in other things",
        (true, false) => "worse",
        (false, true) => "better",
        (false, false) => "different",
    }
}

fn part(change: &Change) -> String {
    let title = title(&change.family);
    let (a, b) = (change.a.text(), change.b.text());
    format!("{title} {} {a} → {b}, {}", change.figure, change.sure.word())
}

/// Title of the kind as used in a sentence: `GOOSE spacing`, `wake-up latency`.
fn title(family: &str) -> String {
    let Some(kind) = Kind::named(family) else {
        return family.to_owned();
    };
    let mut letters = kind.title.chars();
    let first = letters.next().map(|letter| letter.to_lowercase().to_string());
    match kind.title.chars().nth(1).is_some_and(char::is_uppercase) {
        true => kind.title.to_owned(),
        false => first.unwrap_or_default() + letters.as_str(),
    }
}

/// A figure that is known not to differ, from a kind without changes.
fn same(comparison: &Comparison, run: usize, changes: &[&Change]) -> Option<String> {
    let is_new = |family: &str| {
        !changes
            .iter()
            .any(|change| change.family == family && change.sure != Sure::Chance)
    };
    let mut all = comparison.series.iter().filter_map(|compared| {
        let family = compared.name.split('/').next().unwrap_or_default();
        let (one, sure) = no_difference(compared, run).filter(|_| is_new(family))?;
        let (figure, within) = (name(one.figure, sure), format_ns(one.tolerance));
        Some(format!(
            "{} {figure} no difference above {within}, {}",
            title(family),
            sure.word()
        ))
    });
    all.next()
}

fn no_difference(compared: &Compared, run: usize) -> Option<(Difference, Sure)> {
    let windows = compared.differences.iter().filter(|(index, _)| *index == run);
    let samples = compared.by_samples.iter().filter(|(index, _)| *index == run);
    let by_windows = windows.flat_map(|(_, all)| all).map(|one| (*one, Sure::ByWindows));
    let by_samples = samples
        .flat_map(|(_, all)| all)
        .map(|one| (one.difference, Sure::of(one.assumed)));
    let mut both = by_windows.chain(by_samples);
    let first = compared.places.iter().position(Option::is_some).unwrap_or(0);
    let found = both.find(|(one, _)| one.outcome == Outcome::NoDifference)?;
    Some((found.0, found.1.doubted(compared.is_doubted(first, run))))
}

impl Compared {
    fn has(&self, run: usize) -> bool {
        self.places.get(run).is_some_and(Option::is_some)
    }
}
