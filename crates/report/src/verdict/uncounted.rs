//! Quantities that a series does not count: 0 says nothing there, and nobody can pass by it.

use crate::limits::{Quantity, quantities};
use model::kind::Accounts;
use model::{Counter, RunView, SeriesView, setting};

/// Why a series has no such quantity; `None` where it was counted, and where it is over 0, which somebody did count.
pub(super) fn why(run: &RunView, series: &SeriesView, quantity: Quantity) -> Option<String> {
    match quantity.counter() {
        Some(counter) if series.counters.get(counter) > 0 => None,
        Some(Counter::Overflow) => without_threshold(series),
        Some(counter) => uncounted(run, series, counter),
        None => without_figure(series, quantity),
    }
}

fn without_threshold(series: &SeriesView) -> Option<String> {
    let is_without = series.spec.threshold_ns.is_none();
    is_without.then(|| "no threshold was set for it".to_owned())
}

fn uncounted(run: &RunView, series: &SeriesView, counter: Counter) -> Option<String> {
    let name = counter.name();
    if run.lacks.contains(&counter) {
        return Some(format!("the run is from before \"{name}\" was counted"));
    }
    if series.spec.counts(counter) {
        return None;
    }
    let Some(kind) = series.kind() else {
        return Some(format!(
            "series of the kind \"{}\" are not known to this version: nobody can tell whether they count \"{name}\"",
            series.family()
        ));
    };
    Some(match series.setting(setting::NOT_COUNTED) {
        Some(_) if kind.counts(counter) => {
            format!("\"{name}\" was not counted: what made this series could not see it")
        }
        _ => format!("{}/* does not count \"{name}\": it has {}", kind.name, quantities(kind)),
    })
}

fn without_figure(series: &SeriesView, quantity: Quantity) -> Option<String> {
    let kind = series.kind().filter(|kind| !quantity.is_of(kind))?;
    let word = quantity.word();
    Some(format!(
        "{}/* has no \"{word}\": it has {}",
        kind.name,
        quantities(kind)
    ))
}

/// A gap is found only while somebody watches for it.
pub(super) fn watch(series: &SeriesView) -> Option<String> {
    let is_watched = series.kind().is_some_and(|kind| kind.accounts == Accounts::Watched);
    let is_known = series.counters.watched_ns > 0;
    (is_watched && !is_known).then(|| "how long the CPU was watched for gaps is not known".to_owned())
}
