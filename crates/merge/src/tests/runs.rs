//! Merges whole runs, and checks the merged run.

use super::bed::{CROSSING_NS, HOP_NS, Plan, merge, open, try_finish};
use crate::{Input, Merge, MergeError, Relation};
use model::{EventKind, setting};
use tempfile::TempDir;

#[test]
fn every_frame_has_all_points_and_the_crossing_its_time() {
    let result = merge(&[&Plan::host(10_000), &Plan::guest(10_000)], Relation::SameHost);
    let took = Some((CROSSING_NS, CROSSING_NS));
    assert_eq!(result.crossing(), ([10_000, 10_000, 0, 0], took));
    let whole = 2 * HOP_NS + CROSSING_NS;
    assert_eq!(
        result.of("hop/host.nic-to-guest.app/MU01"),
        ([10_000, 10_000, 0, 0], Some((whole, whole)))
    );
    assert_eq!(result.of("hop/guest.nic-to-guest.app/MU01").0, [10_000, 10_000, 0, 0]);
    assert_eq!(
        (result.merged.frames, result.merged.whole, result.merged.apart_ns),
        (10_000, 10_000, Some(200))
    );
    assert_eq!(result.file.segment_totals().unwrap().unwrap().samples, 10_000);
    let series = result.file.series().unwrap();
    let crossing = series
        .iter()
        .find(|(_, spec)| spec.name.contains("to-guest.nic"))
        .unwrap();
    let uncertainty = (setting::CLOCK_UNCERTAINTY_NS.to_owned(), "200".to_owned());
    assert!(crossing.1.settings.contains(&uncertainty), "{:?}", crossing.1.settings);
}

#[test]
fn what_cannot_be_merged_is_refused() {
    let directory = TempDir::new().unwrap();
    let path = Plan::host(10).write(directory.path(), "a");
    let input = |label: &str| Input {
        path: path.clone(),
        label: Some(label.to_owned()),
        ahead_ns: 0,
    };
    assert!(matches!(
        Merge::open(&[input("a")], Relation::Unstated),
        Err(MergeError::Runs(1))
    ));
    let twice = Merge::open(&[input("a"), input("a")], Relation::Unstated);
    assert!(matches!(twice, Err(MergeError::Label(_))));
    let mut merged = Plan::host(10);
    merged.command = "merge";
    let refused = open(directory.path(), &[&merged, &Plan::guest(10)], Relation::Unstated).unwrap_err();
    assert!(refused.to_string().contains("merge its original runs"), "{refused}");
    let three = [input("a"), input("b"), input("c")];
    assert!(matches!(
        Merge::open(&three, Relation::Offset(5, 1)),
        Err(MergeError::Clock(_))
    ));
}

#[test]
fn three_runs_in_a_row() {
    let mut third = Plan::guest(5_000);
    third.points = ["in", "out"];
    third.first_ns += HOP_NS + CROSSING_NS;
    let guest = Plan::guest(5_000).lose(|frame| frame == 10);
    let result = merge(&[&Plan::host(5_000), &guest, &third], Relation::SameHost);
    // The third run saw the frame, so it also passed the second run, which lacks it.
    assert_eq!(result.crossing().0, [5_000, 4_999, 0, 0]);
    assert_eq!(result.of("hop/guest.app-to-third.in/MU01").0, [4_999, 4_999, 0, 0]);
    let whole = 3 * HOP_NS + 2 * CROSSING_NS;
    assert_eq!(
        result.of("hop/host.nic-to-third.out/MU01"),
        ([5_000, 5_000, 0, 0], Some((whole, whole)))
    );
}

#[test]
fn what_is_not_known_of_three_runs_is_said_of_the_whole_way_too() {
    let mut third = Plan::guest(5_000);
    third.points = ["in", "out"];
    third.first_ns += HOP_NS + CROSSING_NS;
    // The first run started too late for some frames, although it states otherwise.
    let host = Plan::host(5_000).lose(|frame| frame == 2_000);
    let result = merge(&[&host, &Plan::guest(5_000), &third], Relation::SameHost);
    for series in ["hop/host.tap-to-guest.nic/MU01", "hop/host.nic-to-third.out/MU01"] {
        let said = result.events_of(series, EventKind::Incomplete);
        assert!(
            said.iter().any(|text| text.contains("1 frames in")),
            "{series}: {said:?}"
        );
    }
}

#[test]
fn stamps_and_offsets_that_cannot_be_are_no_crash() {
    let directory = TempDir::new().unwrap();
    let plans = [&Plan::host(10), &Plan::guest(10)];
    let refused = open(
        directory.path(),
        &plans,
        Relation::Offset(-9_000_000_000_000_000_000, 1_000),
    )
    .unwrap_err();
    assert!(refused.to_string().contains("more than ten years"), "{refused}");
    for first_ns in [i64::MIN + 1, i64::MAX - 1_000_000_000] {
        for relation in [Relation::Unstated, Relation::SameHost] {
            let mut guest = Plan::guest(10);
            guest.first_ns = first_ns;
            guest.from_ns = first_ns;
            guest.to_ns = first_ns + 1_000_000;
            let directory = TempDir::new().unwrap();
            let opened = open(directory.path(), &[&Plan::host(10), &guest], relation).unwrap();
            // A run of 200 years does not fit in a file.
            match try_finish(&opened, directory) {
                Ok(result) => assert_eq!(result.merged.whole, 0),
                Err(refused) => assert!(refused.to_string().contains("above 2^63"), "{refused}"),
            }
        }
    }
}
