//! Events of one stream in a run, and their effect on that stream's frames between two runs.

use super::bed::{Plan, merge, said};
use crate::Relation;
use model::{Event, EventKind, SeriesId};

const CROSSING: &str = "hop/host.tap-to-guest.nic/MU01";

#[test]
fn what_is_not_known_of_a_stream_in_one_run_is_not_known_between_the_runs() {
    let mut guest = Plan::guest(2_000);
    // The event belongs to the hop of this stream, which the merged run takes over.
    guest.events.push(Event {
        series: Some(SeriesId(0)),
        ..said(5, EventKind::Incomplete, "frames that could not be placed")
    });
    guest.events.push(Event {
        series: Some(SeriesId(0)),
        ..said(5, EventKind::Stream, "smpSynch changed")
    });
    let result = merge(&[&Plan::host(2_000), &guest], Relation::SameHost);
    let doubts = result.events_of(CROSSING, EventKind::Incomplete);
    assert_eq!(doubts, ["guest: frames that could not be placed"]);
    let clean = merge(&[&Plan::host(2_000), &Plan::guest(2_000)], Relation::SameHost);
    assert!(clean.events_of(CROSSING, EventKind::Incomplete).is_empty());
}

#[test]
fn a_publishers_word_about_its_clock_is_a_doubt_between_the_runs_while_it_says_so() {
    let word = |at_ns: u64, kind: EventKind, text: &str| Event {
        series: Some(SeriesId(0)),
        ..said(at_ns, kind, text)
    };
    let mut guest = Plan::guest(5_000);
    guest.events = vec![
        word(100_000_000, EventKind::ClockDoubt, "MU01: smpSynch is 0"),
        word(300_000_000, EventKind::ClockGood, "MU01: smpSynch is 2"),
        word(900_000_000, EventKind::ClockDoubt, "MU01: smpSynch is 1"),
    ];
    // The word of the other run does not end it.
    let mut host = Plan::host(5_000);
    host.events = vec![word(150_000_000, EventKind::ClockGood, "MU01: smpSynch is 2")];
    let result = merge(&[&host, &guest], Relation::SameHost);
    for way in [CROSSING, "hop/host.nic-to-guest.app/MU01"] {
        let series = result.file.series().unwrap();
        let (id, _) = series.iter().find(|(_, spec)| spec.name == way).unwrap();
        let events = result.file.events().unwrap();
        let of_way = events.iter().filter(|event| event.series == Some(*id));
        let doubts: Vec<_> = of_way
            .filter(|event| event.kind == EventKind::ClockDoubt)
            .map(|event| (event.since_ns, event.at_ns, event.text.as_str()))
            .collect();
        let end_ns = guest.to_ns - guest.from_ns;
        assert_eq!(
            doubts,
            [
                (Some(100_000_000), 300_000_000, "guest: MU01: smpSynch is 0"),
                (Some(900_000_000), end_ns as u64, "guest: MU01: smpSynch is 1"),
            ],
            "{way}"
        );
    }
}

#[test]
fn what_is_between_the_runs_alone_has_the_same_counts_and_nothing_of_the_runs() {
    let known = Relation::Known(1_000, "the guest was asked for its time");
    let mut guest = Plan::guest(2_000).lose(|frame| frame == 700);
    guest.lost_inside = vec![800];
    guest.events = vec![said(5, EventKind::Note, "a note of the guest")];
    let host = Plan::host(2_000);
    let directory = tempfile::TempDir::new().unwrap();
    let merging = super::bed::open(directory.path(), &[&host, &guest], known).unwrap();
    let result = super::bed::finish(&merging.between_only(), directory);
    let names: Vec<String> = result
        .file
        .series()
        .unwrap()
        .into_iter()
        .map(|(_, spec)| spec.name)
        .collect();
    assert_eq!(names, [CROSSING, "hop/host.nic-to-guest.app/MU01"]);
    // The frame that the guest lost between its own points was due, and is no loss of the crossing.
    let whole = merge(&[&host, &guest], known);
    assert_eq!(result.crossing(), whole.crossing());
    assert_eq!(result.crossing().0, [2_000, 1_998, 1, 0]);
    let facts = result.file.facts().unwrap();
    assert!(facts.iter().all(|fact| fact.group == "merge"), "{facts:?}");
    let notes = result.events(EventKind::Note);
    assert!(
        notes.iter().all(|text| !text.contains("a note of the guest")),
        "{notes:?}"
    );
    assert!(
        notes
            .iter()
            .any(|text| text.contains("asked for its time: they agree within 1.00 µs")),
        "{notes:?}"
    );
}
