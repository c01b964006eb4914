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
