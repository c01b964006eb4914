//! Refused files and data, and the error messages.

use crate::support::{batch, create, info, spec, window};
use model::{Event, EventKind, RunState, SeriesId, Spike, Window};
use std::path::Path;
use store::{Batch, RunFile, RunWriter, StoreError};

/// A finished run at `path` whose database was then changed by `sql`.
fn changed_run(path: &Path, sql: &str) {
    let mut writer = create(path, 1, None);
    writer.write(&batch(1, 0)).expect("written");
    writer.finish(RunState::Complete, 1).expect("finished");
    let db = rusqlite::Connection::open(path).expect("a database");
    db.execute_batch(sql).expect("changed");
}

#[test]
fn what_is_not_a_run_is_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    assert!(matches!(RunFile::open(&at("missing")), Err(StoreError::NotFound { path }) if path == at("missing")));
    std::fs::write(at("nothing"), "").expect("written");
    std::fs::write(at("text"), "samples: 1, 2, 3\n".repeat(20)).expect("written");
    std::fs::write(at("head"), "SQLite format 3\0").expect("written");
    let db = rusqlite::Connection::open(at("other")).expect("a database");
    db.execute_batch("CREATE TABLE window (a)").expect("a table");
    drop(db);
    for (name, why) in [
        ("", "it is a directory"),
        ("nothing", "it is empty"),
        ("text", "it is not an SQLite database"),
        ("head", "it is not an SQLite database"),
        ("other", "it is an SQLite database of another program"),
    ] {
        let error = RunFile::open(&at(name)).expect_err("refused");
        assert!(matches!(error, StoreError::NotARunFile { .. }), "{error:?}");
        assert_eq!(
            error.to_string(),
            format!("{}: not a triptime run file: {why}", at(name).display())
        );
    }
}

#[test]
fn a_newer_schema_is_told_from_damage() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("newer.triptime");
    changed_run(&path, "PRAGMA user_version = 2; DROP TABLE run");
    let error = RunFile::open(&path).expect_err("refused");
    assert!(
        matches!(error, StoreError::NewerSchema { found: 2, known: 1, .. }),
        "{error:?}"
    );
    let message = "was written by a newer triptime (schema 2, this one knows 1): use that version or newer to read it";
    assert_eq!(error.to_string(), format!("{}: {message}", path.display()));
}

#[test]
fn a_run_that_contradicts_itself_is_damaged() {
    let directory = tempfile::tempdir().expect("a directory");
    let changes = [
        "DROP VIEW worst; DROP VIEW timeline; DROP TABLE run",
        "DELETE FROM run",
        "UPDATE run SET window_ns = -1",
        "UPDATE window SET lost = -1",
        "UPDATE window SET start_ns = -start_ns - 1",
        "UPDATE histogram SET samples = samples + 1",
        "UPDATE histogram SET hdr = x'00'",
        "UPDATE histogram SET hdr = zeroblob(1000)",
        "UPDATE spike SET at_ns = -1",
        "UPDATE spike SET cpu = -1",
        "UPDATE event SET series = 5000000000; ",
        "ALTER TABLE fact RENAME COLUMN topic TO section",
        "DROP TABLE document",
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let path = directory.path().join(format!("{index}.triptime"));
        changed_run(&path, &format!("PRAGMA foreign_keys = OFF; {change}"));
        let error = read_all(&path).expect_err(change);
        assert!(matches!(error, StoreError::Damaged { .. }), "{change}: {error:?}");
        assert!(error.to_string().contains("the run file is damaged"), "{error}");
    }
}

#[test]
fn counters_beyond_any_measurement_are_damage() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("huge.triptime");
    let copy = |start: u64| {
        format!(
            "INSERT INTO window SELECT series, {start}, end_ns, {max}, received, lost, late, duplicate, reordered, clipped,
             missed, overflow, overrun, watched_ns, conflicting, unwanted, wrong, samples, {max}, mean_ns, min_ns, max_ns, p50_ns, p99_ns, p999_ns, p9999_ns
             FROM window WHERE start_ns = 0;",
            max = i64::MAX
        )
    };
    changed_run(&path, &copy(1));
    let totals = RunFile::open(&path)
        .expect("a run")
        .totals(SeriesId(0))
        .expect("one fits");
    assert!(totals.counters.expected > i64::MAX as u64 && totals.sum_ns > i128::from(i64::MAX));
    let db = rusqlite::Connection::open(&path).expect("a database");
    db.execute_batch(&copy(2)).expect("changed");
    let error = RunFile::open(&path)
        .expect("a run")
        .totals(SeriesId(0))
        .expect_err("two do not fit");
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}

/// Reads everything in the run.
fn read_all(path: &Path) -> Result<(), StoreError> {
    let run = RunFile::open(path)?;
    run.series()?;
    run.windows(SeriesId(0))?;
    run.totals(SeriesId(0))?;
    run.histogram(SeriesId(0))?;
    run.histograms(SeriesId(0))?;
    run.spikes(SeriesId(0))?;
    run.events()?;
    run.facts()?;
    run.document("plan")?;
    Ok(())
}

#[test]
fn an_unknown_series_has_no_totals() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("run.triptime");
    changed_run(&path, "");
    let error = RunFile::open(&path)
        .expect("a run")
        .totals(SeriesId(1))
        .expect_err("there is none");
    assert!(error.to_string().contains("there is no series 1"), "{error}");
}

#[test]
fn a_run_is_never_written_over() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("run.triptime");
    std::fs::write(&path, "precious").expect("written");
    let error = RunWriter::create(&path, &info(), None).expect_err("refused");
    assert!(matches!(error, StoreError::Exists { .. }), "{error:?}");
    let message = "exists already: name another file with --out, or remove it first";
    assert_eq!(error.to_string(), format!("{}: {message}", path.display()));
    assert_eq!(std::fs::read(&path).expect("still there"), b"precious");
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("file"), "").expect("written");
    let path = directory.path().join("file/run.triptime");
    let error = RunWriter::create(&path, &info(), None).expect_err("refused");
    assert!(matches!(error, StoreError::Io { .. }), "{error:?}");
    assert!(error.to_string().contains("file: cannot make the directory"), "{error}");
}

#[test]
fn what_the_caller_got_wrong_leaves_the_run_as_it_was() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("run.triptime");
    let mut writer = create(&path, 2, None);
    writer.write(&batch(2, 0)).expect("written");
    let with_window = |window: Window| Batch {
        windows: vec![crate::support::window(0, 1), window],
        ..Batch::default()
    };
    let spike = Spike {
        series: SeriesId(2),
        at_ns: 0,
        value_ns: 1,
        cpu: None,
        sequence: None,
        explanation: None,
    };
    let event = Event {
        at_ns: 0,
        since_ns: None,
        kind: EventKind::Note,
        series: Some(SeriesId(9)),
        text: String::new(),
    };
    let wrong = [
        (
            with_window(window(2, 1)),
            "a window of series 2: no such series was added",
        ),
        (with_window(window(1, 0)), "a second window of series 1 from 0 ns"),
        (
            with_window(Window {
                end_ns: 0,
                ..window(1, 1)
            }),
            "it ends before it starts",
        ),
        (
            with_window(Window {
                sum_ns: i128::MAX,
                ..window(1, 1)
            }),
            "the sum of a window's samples of 1701411",
        ),
        (
            with_window(Window {
                start_ns: u64::MAX,
                ..window(1, 1)
            }),
            "the start of a window of 18446744073709551615",
        ),
        (
            Batch {
                spikes: vec![spike],
                ..batch(2, 1)
            },
            "a spike of series 2",
        ),
        (
            Batch {
                events: vec![event],
                ..batch(2, 1)
            },
            "an event of series 9",
        ),
    ];
    for (batch, words) in wrong {
        let error = writer.write(&batch).expect_err(words);
        assert!(matches!(error, StoreError::Refused { .. }), "{error:?}");
        assert!(error.to_string().contains(words), "{error}");
    }
    assert_eq!(
        writer.add_series(&spec(2)).expect("a refusal uses up no number"),
        SeriesId(2)
    );
    writer.write(&batch(2, 1)).expect("the run goes on");
    writer.finish(RunState::Complete, 2).expect("finished");
    let run = RunFile::open(&path).expect("a run");
    assert_eq!(run.windows(SeriesId(0)).expect("windows").len(), 2);
    assert_eq!(run.histograms(SeriesId(1)).expect("histograms").len(), 2);
    assert_eq!(run.spikes(SeriesId(1)).expect("spikes").len(), 2);
}
