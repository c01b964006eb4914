//! Causes of samples, and the kernel events around them.

use crate::support::{create, explanation};
use model::{Cause, CauseTotal, Event, EventKind, Flight, RunState, SeriesId, Spike};
use store::{Batch, MOST_FLIGHTS, RunFile};

const SERIES: SeriesId = SeriesId(0);

fn total(cause: Cause, count: u64, total_ns: u64, max_ns: u64) -> (SeriesId, CauseTotal) {
    let total = CauseTotal {
        cause,
        count,
        total_ns,
        max_ns,
    };
    (SERIES, total)
}

#[test]
fn causes_add_up_over_batches_and_the_costliest_comes_first() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("causes.triptime");
    let mut writer = create(&path, 1, None);
    for causes in [
        vec![total(Cause::Thread, 2, 500, 300), total(Cause::Softirq, 1, 900, 900)],
        vec![total(Cause::Thread, 3, 600, 250)],
    ] {
        let batch = Batch {
            causes,
            ..Batch::default()
        };
        writer.write(&batch).expect("written");
    }
    writer.finish(RunState::Complete, 1).expect("finished");
    let run = RunFile::open(&path).expect("a run");
    let expected: Vec<CauseTotal> = [total(Cause::Thread, 5, 1_100, 300), total(Cause::Softirq, 1, 900, 900)]
        .into_iter()
        .map(|(_, total)| total)
        .collect();
    assert_eq!(run.causes(SERIES).expect("causes"), expected);
}

#[test]
fn flights_stay_with_the_worst_spikes_only() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("flights.triptime");
    let mut writer = create(&path, 1, None);
    let count = 4 * MOST_FLIGHTS;
    for at_ns in 0..count {
        let spike = Spike {
            series: SERIES,
            at_ns,
            value_ns: at_ns as i64,
            cpu: Some(0),
            sequence: None,
            explanation: Some(explanation()),
        };
        let flight = Flight {
            series: SERIES,
            at_ns,
            bytes: at_ns.to_le_bytes().to_vec(),
        };
        let stray = Flight {
            at_ns: at_ns + 1_000_000,
            ..flight.clone()
        };
        let batch = Batch {
            spikes: vec![spike],
            flights: vec![flight, stray],
            ..Batch::default()
        };
        writer.write(&batch).expect("written");
    }
    writer.finish(RunState::Complete, 1).expect("finished");
    let flights = RunFile::open(&path).expect("a run").flights(SERIES).expect("flights");
    let kept: Vec<u64> = flights.iter().map(|flight| flight.at_ns).collect();
    assert_eq!(kept, (count - MOST_FLIGHTS..count).collect::<Vec<_>>());
    assert!(flights.iter().all(|flight| flight.bytes == flight.at_ns.to_le_bytes()));
}

#[test]
fn a_run_from_before_the_flight_recorder_is_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("old.triptime");
    let mut writer = create(&path, 1, None);
    let spike = Spike {
        series: SERIES,
        at_ns: 1,
        value_ns: 2,
        cpu: None,
        sequence: None,
        explanation: None,
    };
    let event = Event {
        at_ns: 9,
        since_ns: Some(5),
        kind: EventKind::RtThrottled,
        series: None,
        text: "held back".into(),
    };
    let batch = Batch {
        spikes: vec![spike.clone()],
        events: vec![event.clone()],
        ..Batch::default()
    };
    writer.write(&batch).expect("written");
    writer.finish(RunState::Complete, 1).expect("finished");
    let db = rusqlite::Connection::open(&path).expect("a database");
    db.execute_batch(
        "ALTER TABLE spike DROP COLUMN explanation; DROP TABLE cause; DROP TABLE flight;
                      ALTER TABLE window DROP COLUMN watched_ns; ALTER TABLE event DROP COLUMN since_ns;",
    )
    .expect("made old");
    drop(db);
    let run = RunFile::open(&path).expect("a run");
    assert_eq!(run.spikes(SERIES).expect("spikes"), [spike]);
    // This older file does not hold the earliest possible beginning of an event.
    let since_unknown = Event {
        since_ns: None,
        ..event
    };
    assert_eq!(run.events().expect("events"), [since_unknown]);
    assert_eq!(run.causes(SERIES).expect("causes"), []);
    assert_eq!(run.flights(SERIES).expect("flights"), []);
    assert_eq!(run.windows(SERIES).expect("windows"), []);
    assert_eq!(run.totals(SERIES).expect("totals").counters.watched_ns, 0);
}
