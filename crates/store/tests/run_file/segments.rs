//! Segments are returned unchanged, and a damaged one does not affect the others.

use super::support::{create, info};
use model::RunState;
use rusqlite::Connection;
use store::{RunFile, RunWriter, SealedSegment, SegmentTotals};

fn segment(number: i64, bytes: usize) -> SealedSegment {
    SealedSegment {
        first_ns: number * 1_000,
        last_ns: number * 1_000 + 999,
        samples: 10,
        octets: (0..bytes).map(|at| (at as i64 * 7 + number) as u8).collect(),
    }
}

#[test]
fn segments_come_back_in_their_order_also_from_a_run_that_was_not_closed() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("run.triptime");
    let mut writer = RunWriter::create(&path, &info(), None).expect("a run");
    for number in 0..20 {
        writer.add_segment(&segment(number, 10_000)).expect("room");
    }
    std::mem::forget(writer);
    let run = RunFile::open(&path).expect("a run");
    let totals = run.segment_totals().expect("totals");
    let expected = SegmentTotals {
        segments: 20,
        samples: 200,
        octets: 200_000,
        first_ns: 0,
        last_ns: 19_999,
    };
    assert_eq!(totals, Some(expected));
    let mut number = 0;
    run.each_segment(|octets| {
        assert_eq!(octets.expect("readable"), segment(number, 10_000).octets);
        number += 1;
    })
    .expect("a list");
    assert_eq!(number, 20);
}

#[test]
fn a_run_of_a_version_without_segments_has_none() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("run.triptime");
    create(&path, 1, None).finish(RunState::Complete, 1).expect("closed");
    let db = Connection::open(&path).expect("a database");
    db.execute_batch("DROP TABLE segment").expect("dropped");
    drop(db);
    let run = RunFile::open(&path).expect("a run");
    assert_eq!(run.segment_totals().expect("none"), None);
    run.each_segment(|_| panic!("there is none")).expect("none");
}
