//! The kept spikes; the file stays within its limits while it is written.

use crate::support::{Numbers, info, spec};
use model::{RunState, SeriesId, SeriesSpec, Spike};
use proptest::collection::vec;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use std::path::Path;
use store::{Batch, MOST_SPIKES, RunFile, RunWriter, WORST_SPIKES};

fn spike(value_ns: i64, number: u64) -> Spike {
    Spike {
        series: SeriesId(0),
        at_ns: number,
        value_ns,
        cpu: Some(1),
        sequence: Some(number),
        explanation: None,
    }
}

/// A run with one series that gets `values` in batches; not yet closed.
fn run_of(path: &Path, threshold_ns: Option<u64>, values: &[i64], per_batch: usize) -> RunWriter {
    let mut writer = RunWriter::create(path, &info(), None).expect("created");
    writer
        .add_series(&SeriesSpec {
            threshold_ns,
            ..spec(0)
        })
        .expect("added");
    let spikes: Vec<Spike> = (0..).zip(values).map(|(number, value)| spike(*value, number)).collect();
    for some in spikes.chunks(per_batch) {
        writer
            .write(&Batch {
                spikes: some.to_vec(),
                ..Batch::default()
            })
            .expect("written");
    }
    writer
}

/// The expected kept values, worst first and of equal ones the earlier first, and the number above the threshold that
/// are dropped.
fn expected(values: &[i64], threshold_ns: Option<u64>) -> (Vec<(i64, u64)>, u64) {
    let over = values
        .iter()
        .filter(|value| threshold_ns.is_some_and(|ns| **value > ns as i64))
        .count() as u64;
    let mut kept: Vec<(i64, u64)> = values.iter().copied().zip(0..).collect();
    kept.sort_by_key(|(value, number)| (std::cmp::Reverse(*value), *number));
    kept.truncate(over.clamp(WORST_SPIKES, MOST_SPIKES) as usize);
    (kept, over.saturating_sub(MOST_SPIKES))
}

fn kept_in(path: &Path) -> (Vec<(i64, u64)>, u64) {
    let run = RunFile::open(path).expect("a run");
    let spikes = run.spikes(SeriesId(0)).expect("spikes");
    let kept = spikes
        .iter()
        .map(|spike| (spike.value_ns, spike.sequence.expect("numbered")))
        .collect();
    (kept, run.totals(SeriesId(0)).expect("totals").spikes_dropped)
}

#[test]
fn the_worst_hundred_stay_without_a_threshold() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("run.triptime");
    let mut numbers = Numbers::seeded(1);
    let values: Vec<i64> = (0..5_000).map(|_| numbers.below(1_000_000) as i64 - 1_000).collect();
    let writer = run_of(&path, None, &values, 20);
    assert!(
        kept_in(&path).0.len() < 2 * WORST_SPIKES as usize + 20,
        "trimmed while the run goes on"
    );
    writer.finish(RunState::Complete, 1).expect("finished");
    assert_eq!(kept_in(&path), expected(&values, None));
}

#[test]
fn all_above_the_threshold_stay_up_to_the_cap_and_the_surplus_is_counted() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("run.triptime");
    let mut numbers = Numbers::seeded(2);
    let values: Vec<i64> = (0..40_000).map(|_| numbers.below(200_000) as i64).collect();
    let threshold = Some(100_000);
    let writer = run_of(&path, threshold, &values, 1_000);
    let (rows, dropped) = kept_in(&path);
    assert!(
        rows.len() < 2 * MOST_SPIKES as usize + 1_000,
        "trimmed while the run goes on: {}",
        rows.len()
    );
    let over = values.iter().filter(|value| **value > 100_000).count() as u64;
    let over_rows = rows.iter().filter(|(value, _)| *value > 100_000).count() as u64;
    assert_eq!(over_rows + dropped, over, "kept or counted, also before the end");
    writer.finish(RunState::Complete, 1).expect("finished");
    let (kept, dropped) = kept_in(&path);
    assert_eq!((kept.len() as u64, dropped), (MOST_SPIKES, over - MOST_SPIKES));
    assert_eq!((kept, dropped), expected(&values, threshold));
}

proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(24))]

    #[test]
    fn what_stays_does_not_depend_on_the_batches(
        values in vec(-10i64..400, 0..900),
        per_batch in 1usize..200,
        threshold in 0u64..450,
    ) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("run.triptime");
        let writer = run_of(&path, Some(threshold), &values, per_batch);
        let (kept, dropped) = expected(&values, Some(threshold));
        let before = kept_in(&path);
        prop_assert!(kept.iter().all(|spike| before.0.contains(spike)), "none of the worst is missing before the end");
        writer.finish(RunState::Complete, 1).expect("finished");
        prop_assert_eq!(kept_in(&path), (kept, dropped));
    }
}
