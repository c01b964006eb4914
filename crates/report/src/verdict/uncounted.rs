//! Quantities that a series does not count: there, 0 means nothing, and a limit cannot pass.

use crate::limits::{Quantity, quantities};
use model::kind::{self, Accounts};
use model::{Counter, RunView, SeriesView, setting};

/// The reason why a series lacks a quantity; `None` if it was counted, or if it is above 0 and therefore was counted.
pub(super) fn why(run: &RunView, series: &SeriesView, quantity: Quantity) -> Option<String> {
    match quantity.counter() {
        Some(counter) if series.counters.get(counter) > 0 => None,
        Some(Counter::Overflow) => without_threshold(series),
        Some(Counter::Unwanted) if series.is(&kind::SECURITY) => {
            uncounted(run, series, Counter::Unwanted).or_else(|| without_control(run, series))
        }
        Some(counter) => uncounted(run, series, counter),
        None => without_figure(series, quantity),
    }
}

fn without_threshold(series: &SeriesView) -> Option<String> {
    let is_without = series.spec.threshold_ns.is_none();
    is_without.then(|| "no threshold was set for it".to_owned())
}

/// A relay that is switched off does not trip either.
fn without_control(run: &RunView, series: &SeriesView) -> Option<String> {
    let tripped = |other: &SeriesView| other.is(&kind::TRIP) && other.counters.received > 0;
    let is_proved = series.setting(setting::POSITIVE_CONTROL).is_some() || run.series.iter().any(tripped);
    (!is_proved)
        .then(|| "no shot of the run shows that the relay could have tripped: it is of an older triptime".to_owned())
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
            "series of the kind \"{}\" are not known to this version: it is not known whether they count \"{name}\"",
            series.family()
        ));
    };
    Some(match series.setting(setting::NOT_COUNTED) {
        Some(_) if kind.counts(counter) => {
            format!("\"{name}\" was not counted: the source of this series cannot detect it")
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

/// Gaps are found only while a thread watches for them.
pub(super) fn watch(series: &SeriesView) -> Option<String> {
    let is_watched = series.kind().is_some_and(|kind| kind.accounts == Accounts::Watched);
    let is_known = series.counters.watched_ns > 0;
    (is_watched && !is_known).then(|| "how long the CPU was watched for gaps is not known".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Quantity, RunView, setting, why};
    use testing::synthetic::{run, series};

    #[test]
    fn shots_without_a_trip_prove_nothing_without_their_control() {
        let security = series("security/load", 3, 300_000_000, 1);
        let why_of = |run: &RunView| why(run, &run.series[0], Quantity::Unwanted);
        let alone = run(vec![security.clone()]);
        assert!(why_of(&alone).is_some_and(|why| why.contains("could have tripped")));

        let beside_a_trip = run(vec![security.clone(), series("trip/overcurrent", 3, 20_000_000, 1)]);
        assert_eq!(why_of(&beside_a_trip), None);

        let mut controlled = security.clone();
        let control = (setting::POSITIVE_CONTROL.to_owned(), "before and after".to_owned());
        controlled.spec.settings.push(control);
        assert_eq!(why_of(&run(vec![controlled])), None);

        let mut tripped = security;
        tripped.counters.unwanted = 1;
        assert_eq!(why_of(&run(vec![tripped])), None, "a false trip is one all the same");
    }
}
