//! Every shot with the relays' figures along it, in the result document.

use crate::document::seconds;
use crate::strain::Strain;
use model::RunView;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub(super) struct ShotEntry {
    number: u64,
    /// Seconds since the start of the run.
    at_s: f64,
    name: String,
    outcome: &'static str,
    trip: Option<i64>,
    task_max: Option<i64>,
    /// Null if 0 would prove nothing.
    overruns: Option<u64>,
    is_watched: bool,
    delivery_max: Option<i64>,
    age_max: Option<i64>,
    use_max: Option<i64>,
}

/// Every shot of the run in order of time; none if no relay was measured along them.
pub(super) fn shots(run: &RunView) -> Vec<ShotEntry> {
    if run.along.is_empty() {
        return Vec::new();
    }
    let entry = |(index, shot): (usize, &model::Shot)| {
        let strain = Strain::of(run, index);
        let [delivery_max, age_max, use_max] = strain.latencies_ns;
        ShotEntry {
            number: shot.number,
            at_s: seconds(shot.at_ns),
            name: shot.name.clone(),
            outcome: shot.outcome.word(),
            trip: shot.trip_ns,
            task_max: strain.task_ns,
            overruns: (strain.is_watched || strain.overruns > 0).then_some(strain.overruns),
            is_watched: strain.is_watched,
            delivery_max,
            age_max,
            use_max,
        }
    };
    run.shots.iter().enumerate().map(entry).collect()
}
