//! The relation of the clocks: stated, checked, contradicted, and lost.

use super::bed::{CROSSING_NS, PERIOD_NS, Plan, START_NS, merge, open, said};
use crate::Relation;
use model::{Event, EventKind};
use tempfile::TempDir;

#[test]
fn without_a_relation_there_are_pairs_and_losses_but_no_times() {
    // The guest ended 0.25 s before the host, but its clock does not show this; one frame was lost.
    let mut guest = Plan::guest(5_000).lose(|frame| frame == 1_500 || frame >= 4_000);
    guest.to_ns = START_NS + 4_000 * PERIOD_NS;
    let guest = guest.ahead(123_000_000);
    let result = merge(&[&Plan::host(5_000), &guest], Relation::Unstated);
    assert_eq!(result.crossing(), ([4_000, 0, 1, 0], None));
    assert_eq!(result.merged.crossings[0].paired, 3_999);
    let notes = result.events(EventKind::Note);
    assert!(notes.iter().any(|text| text.contains("was not stated")), "{notes:?}");
}

#[test]
fn an_offset_is_taken_off_and_a_wrong_one_is_contradicted() {
    let guest = Plan::guest(5_000).ahead(-40_000_000);
    let result = merge(&[&Plan::host(5_000), &guest], Relation::Offset(-40_000_000, 1_000));
    assert_eq!(
        result.crossing(),
        ([5_000, 5_000, 0, 0], Some((CROSSING_NS, CROSSING_NS)))
    );
    assert_eq!(result.merged.contradicted, 0);
    let result = merge(&[&Plan::host(5_000), &guest], Relation::Offset(-39_900_000, 1_000));
    assert_eq!(result.merged.contradicted, 5_000);
    let doubts = result.events(EventKind::ClockDoubt);
    assert!(
        doubts[0].contains("clocks: 5000 frames") && doubts[0].contains("80.0 µs"),
        "{doubts:?}"
    );
}

#[test]
fn the_same_host_is_checked() {
    let directory = TempDir::new().unwrap();
    let mut guest = Plan::guest(10);
    guest.boot = "b";
    let refused = open(directory.path(), &[&Plan::host(10), &guest], Relation::SameHost)
        .unwrap_err()
        .to_string();
    assert!(refused.contains("their boot id is a and b"), "{refused}");
}

#[test]
fn doubts_of_either_runs_clock_are_those_of_the_merged_run() {
    let (mut host, mut guest) = (Plan::host(5_000), Plan::guest(5_000));
    host.events = vec![said(5, EventKind::ClockGood, "ok")];
    let lost = said(900, EventKind::ClockDoubt, "port 1 is LISTENING");
    guest.events = vec![
        said(5, EventKind::ClockGood, "ok"),
        lost,
        said(2_000, EventKind::ClockGood, "ok"),
    ];
    let result = merge(&[&host, &guest], Relation::Ptp(2_000));
    let words = words(&result.file.events().unwrap());
    assert_eq!(
        words,
        [
            (0, EventKind::ClockGood),
            (900, EventKind::ClockDoubt),
            (2_000, EventKind::ClockGood)
        ]
    );
    assert_eq!(result.merged.apart_ns, Some(2_200));
}

fn words(events: &[Event]) -> Vec<(u64, EventKind)> {
    let is_word = |event: &&Event| matches!(event.kind, EventKind::ClockDoubt | EventKind::ClockGood);
    let words = events.iter().filter(is_word);
    words.map(|event| (event.at_ns, event.kind)).collect()
}

#[test]
fn after_a_step_of_either_clock_a_stated_offset_is_of_before() {
    let (host, mut guest) = (Plan::host(5_000), Plan::guest(5_000));
    guest.events = vec![
        said(1_500_000_000, EventKind::ClockStep, "the wall clock stepped by 50 µs"),
        said(1_900_000_000, EventKind::ClockStep, "the wall clock stepped by -50 µs"),
    ];
    let result = merge(&[&host, &guest], Relation::Offset(0, 1_000));
    let words = words(&result.file.events().unwrap());
    assert_eq!(
        words,
        [(0, EventKind::ClockGood), (1_300_000_000, EventKind::ClockDoubt)]
    );
    // In this case no frame may be found by its time.
    let missing = result.events_of("hop/host.tap-to-guest.nic/MU01", EventKind::Incomplete);
    assert!(missing.iter().any(|text| text.contains("and 1 more")), "{missing:?}");
}

#[test]
fn the_distance_of_a_clock_that_was_asked_is_taken_off_each_run() {
    let directory = TempDir::new().unwrap();
    // A second apart, no frame would be found.
    let runs = [
        Plan::host(2_000).ahead(1_000_000_000),
        Plan::guest(2_000).ahead(-400_000_000),
    ];
    let inputs: Vec<crate::Input> = [("host", &runs[0], 1_000_000_000), ("guest", &runs[1], -400_000_000)]
        .into_iter()
        .map(|(label, plan, ahead_ns)| crate::Input {
            path: plan.write(directory.path(), label),
            label: Some(label.to_owned()),
            ahead_ns,
        })
        .collect();
    let known = Relation::Known(1_000_000_000, "both were asked");
    let merging = crate::Merge::open(&inputs, known).unwrap();
    let result = super::bed::finish(&merging, directory);
    assert_eq!(
        result.crossing(),
        ([2_000, 2_000, 0, 0], Some((CROSSING_NS, CROSSING_NS)))
    );
}
