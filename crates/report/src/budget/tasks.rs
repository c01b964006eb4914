//! A relay with several threads: a trip passes through its tasks one after the other.

use super::Measurement;
use model::{SeriesView, task};

/// Replaces the largest task by the largest sum of all tasks of one relay, if a relay has several.
pub(super) fn in_a_row(series: &[&SeriesView], measured: Measurement) -> Measurement {
    let sums = series.iter().filter_map(|one| {
        let (relay, _) = several(one)?;
        let tasks: Vec<&&SeriesView> = series
            .iter()
            .filter(|other| several(other).is_some_and(|(other, _)| other == relay))
            .collect();
        let sum_ns: i64 = tasks.iter().filter_map(|task| task.max_ns).sum();
        let worst = tasks.into_iter().max_by_key(|task| task.max_ns)?;
        Some((sum_ns, relay, worst))
    });
    match sums.max_by_key(|(sum_ns, ..)| *sum_ns) {
        Some((sum_ns, relay, worst)) if sum_ns > measured.max_ns => Measurement {
            max_ns: sum_ns,
            worst: worst.spec.name.clone(),
            // The quantiles of parts do not give the quantile of the whole.
            p999_ns: None,
            note: [measured.note, format!("the tasks of {relay} in a row")]
                .into_iter()
                .filter(|note| !note.is_empty())
                .collect::<Vec<_>>()
                .join(", "),
            ..measured
        },
        _ => measured,
    }
}

/// The relay of a task, if it has several tasks.
fn several(series: &SeriesView) -> Option<(&str, &'static str)> {
    let (relay, task) = task::of_label(series.spec.label());
    Some((relay, task?))
}
