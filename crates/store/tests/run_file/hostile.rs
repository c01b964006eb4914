//! A malicious file: each of our tables must be a plain table, and all reading is limited.

use crate::support::{batch, create};
use model::{RunState, SeriesId};
use std::path::Path;
use std::time::{Duration, Instant};
use store::{RunFile, RunWriter, StoreError};

/// An endless query with the columns of a table.
const ENDLESS: &str = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)";

/// A finished run whose database was then changed by `sql`.
fn changed_run(path: &Path, sql: &str) {
    let mut writer = create(path, 1, None);
    writer.write(&batch(1, 0)).expect("written");
    writer.finish(RunState::Complete, 1).expect("finished");
    let db = rusqlite::Connection::open(path).expect("a database");
    db.execute_batch(&format!(
        "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON; {sql}"
    ))
    .expect("changed");
}

/// Opens and reads everything; returns the error.
fn refusal(path: &Path, change: &str) -> String {
    let read = RunFile::open(path).and_then(|run| {
        run.view()?;
        run.flights(SeriesId(0))?;
        run.document("plan")
    });
    let error = read.expect_err(change);
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
    error.to_string()
}

#[test]
fn what_is_called_as_a_table_and_runs_something_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let endless = |table: &str, columns: &str| format!("CREATE VIEW {table} AS {ENDLESS} SELECT {columns} FROM n");
    let cases = [
        (
            "event",
            endless(
                "event",
                "x AS id, x AS at_ns, 'note' AS kind, NULL AS series, '' AS text",
            ),
        ),
        ("argument", endless("argument", "x AS position, '' AS text")),
        (
            "Fact",
            endless(
                "Fact",
                "x AS position, '' AS topic, '' AS name, '' AS value, NULL AS unknown, '' AS source",
            ),
        ),
        (
            "event",
            "CREATE TABLE event (id); PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 0,
             sql = 'CREATE VIRTUAL TABLE event USING any(id, at_ns, kind, series, text)' WHERE name = 'event'"
                .to_owned(),
        ),
        (
            "event",
            "CREATE TABLE event (id INTEGER PRIMARY KEY, at_ns INTEGER, kind TEXT, series INTEGER,
             text TEXT AS (hex(zeroblob(100000000))))"
                .to_owned(),
        ),
    ];
    for (number, (table, made)) in cases.into_iter().enumerate() {
        let path = directory.path().join(format!("{number}.triptime"));
        changed_run(&path, &format!("DROP VIEW timeline; DROP TABLE {table}; {made}"));
        let begun = Instant::now();
        let text = refusal(&path, table);
        assert!(
            text.contains(&format!("its \"{table}\" is not a plain table")),
            "{text}"
        );
        assert!(begun.elapsed() < Duration::from_secs(60), "it is looked at, not run");
    }
}

#[test]
fn texts_that_no_run_has_are_refused_before_they_are_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let long = "printf('%.*c', 1100000, 'x')";
    for (number, (change, words)) in [
        (format!("UPDATE event SET text = {long}"), "text: 1100000 bytes"),
        (format!("UPDATE series SET name = {long}"), "name: 1100000 bytes"),
        (format!("UPDATE run SET command = {long}"), "command: 1100000 bytes"),
        (format!("UPDATE setting SET value = {long}"), "value: 1100000 bytes"),
        (
            "INSERT INTO document VALUES ('plan', printf('%.*c', 17000000, 'x')); UPDATE run SET documents = 1"
                .to_owned(),
            "plan: 17000000 bytes",
        ),
        (
            "UPDATE event SET text = CAST(zeroblob(140000000) AS TEXT)".to_owned(),
            "string or blob too big",
        ),
        (
            "INSERT INTO event (at_ns, kind, text)
             SELECT 1, 'note', printf('%.*c', 1000000, 'x') FROM generate_series(1, 150)"
                .replace(
                    "generate_series(1, 150)",
                    "(WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 150) SELECT x FROM n)",
                ),
            "all rows together",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let path = directory.path().join(format!("{number}.triptime"));
        changed_run(&path, &change);
        let text = refusal(&path, &change);
        assert!(text.contains(words), "{change}: {text}");
        std::fs::remove_file(&path).expect("removed");
    }
}

/// Each histogram of this file covers every window: a plain reader would read their product.
#[test]
fn a_file_that_takes_more_steps_than_its_size_explains_is_given_up() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("steps.triptime");
    changed_run(
        &path,
        "UPDATE histogram SET end_ns = 4000000000000000000;
         WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 20000)
         INSERT INTO window SELECT series, start_ns + x, end_ns, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL,
                NULL, NULL, NULL FROM window, n WHERE series = 0;
         WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 20000)
         INSERT INTO histogram (series, start_ns, end_ns, windows, samples, hdr)
         SELECT series, start_ns + x, end_ns, windows, samples, hdr FROM histogram, n WHERE series = 0;",
    );
    let text = refusal(&path, "a product");
    assert!(
        text.contains("it takes more steps than a good file of its size"),
        "{text}"
    );
}

#[test]
fn a_document_that_could_not_be_read_is_not_written() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("run.triptime");
    let mut writer: RunWriter = create(&path, 1, None);
    let error = writer
        .put_document("plan", &"x".repeat((16 << 20) + 1))
        .expect_err("too long");
    assert!(matches!(error, StoreError::Refused { .. }), "{error:?}");
    writer.put_document("plan", &"x".repeat(16 << 20)).expect("kept");
    writer.finish(RunState::Complete, 1).expect("closed");
    let read = RunFile::open(&path).expect("opened").document("plan").expect("read");
    assert_eq!(read.map(|text| text.len()), Some(16 << 20));
}
