//! Run files with a changed cell or table: every output format refuses them or gives other values, without a panic.

#![forbid(unsafe_code)]

use interop::cyclictest::{Dialect, write_json, write_text};
use interop::export::cyclictest;
use interop::export::{csv, frames, hlog, openmetrics, readings};
use report::Report;
use report::about::About;
use report::comparison::Comparison;
use report::limits::Profile;
use report::tables::{Layout, Tables};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use std::io::{Write, sink};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use store::{RunFile, StoreError};

/// Damaged files of one run of the test.
const ROUNDS: u64 = 30;

/// Rows for the tables that a minute of wake-ups leaves empty.
const MORE: &str = "
INSERT OR REPLACE INTO document VALUES ('limits', 'name = \"site\"
what = \"tests\"
[[limit]]
id = \"max\"
series = \"*\"
quantity = \"max\"
allowed = \"1ms\"
source = \"tests\"
');
INSERT INTO event (at_ns, kind, series, text) VALUES (5000000000, 'stream', 0, 'it began anew'), (6000000000, 'incomplete', NULL, 'some');
INSERT INTO cause VALUES (0, 'thread', 3, 30000, 20000), (0, 'hypervisor', 1, 9000, 9000);
";

/// SplitMix64 (Steele, Lea, Flood, 2014).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound.max(1)
    }

    fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize].clone()
    }

    /// A value in place of another: of any type, and often near it.
    fn value(&mut self, old: &Value) -> Value {
        let whole = [
            0,
            1,
            -1,
            i64::MIN,
            i64::MAX,
            1 << 62,
            -(1 << 62),
            1 << 53,
            60_000_000_001,
            999,
        ];
        let real = [0.0, -1.0, 1e308, f64::INFINITY, f64::NEG_INFINITY, 1e-308, 1e18];
        let text = [
            "",
            "\u{0}",
            "\u{1b}[31m",
            "import",
            "pcap",
            "reflect",
            "{}",
            "null",
            "trip/x",
            "*",
            "-1",
            "complete",
        ];
        match (self.below(8), old) {
            (0, _) => Value::Null,
            (1, _) => Value::Integer(self.one_of(&whole)),
            (2, _) => Value::Real(self.one_of(&real)),
            (3, _) => Value::Text(self.one_of(&text).to_owned()),
            (4, _) => Value::Blob(vec![self.below(256) as u8; self.below(40) as usize]),
            (_, Value::Integer(old)) => {
                let near = [
                    old.saturating_add(1),
                    old.saturating_sub(1),
                    old.saturating_neg(),
                    old / 2,
                ];
                let far = [old.saturating_mul(1_000), old.saturating_add(1_000_000_000)];
                Value::Integer(self.one_of(&[&near[..], &far].concat()))
            }
            (_, Value::Real(old)) => Value::Real(self.one_of(&[-old, old * 10.0, old * 1e12, old / 1e12])),
            (_, Value::Blob(old)) if !old.is_empty() => {
                let mut octets = old.clone();
                let at = self.below(octets.len() as u64) as usize;
                octets[at] ^= 1 + self.below(255) as u8;
                Value::Blob(octets)
            }
            (_, Value::Text(old)) => Value::Text(old.repeat(2)),
            _ => Value::Integer(self.one_of(&whole)),
        }
    }
}

/// A good run with something in most tables, whose columns take values of any type.
fn whole(folder: &Path) -> PathBuf {
    let path = folder.join("whole.triptime");
    let minute = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/minute.triptime");
    std::fs::copy(minute, &path).expect("a copy");
    let db = Connection::open(&path).expect("a database");
    db.execute_batch(MORE).expect("more rows");
    let loose = "PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(replace(replace(sql, 'STRICT, WITHOUT', 'WITHOUT'), ') STRICT', ')'), 'NOT NULL', '');";
    db.execute_batch(loose).expect("without types");
    path
}

/// Changes a cell, a column, a row or a table, or two; in words.
fn damage(path: &Path, dice: &mut Dice) -> String {
    let db = Connection::open(path).expect("a database");
    let off = "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA journal_mode = DELETE";
    db.execute_batch(off).expect("without checks");
    let mut words = String::new();
    for _ in 0..=dice.below(2) {
        words += &damage_once(&db, dice).unwrap_or_default();
        words += "; ";
    }
    words
}

/// `None` where nothing was there to change, or the change is not possible.
fn damage_once(db: &Connection, dice: &mut Dice) -> Option<String> {
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
    let table = dice.one_of(&texts(db, tables)?);
    let columns = texts(db, &format!("SELECT name FROM pragma_table_info('{table}')"))?;
    let column = dice.one_of(&columns);
    let rows: i64 = db
        .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))
        .ok()?;
    let keys = texts(
        db,
        &format!("SELECT name FROM pragma_table_info('{table}') WHERE pk > 0"),
    )?;
    let at = dice.below(u64::try_from(rows).ok().filter(|rows| *rows > 0)?);
    let cell = format!("SELECT {column}, {} FROM {table} LIMIT 1 OFFSET {at}", keys.join(", "));
    let found = db.query_row(&cell, [], |row| {
        (0..=keys.len())
            .map(|at| row.get(at))
            .collect::<Result<Vec<Value>, _>>()
    });
    let mut values = found.ok()?;
    let value = dice.value(&values[0]);
    let is_it = keys
        .iter()
        .map(|key| format!("{key} IS ?"))
        .collect::<Vec<_>>()
        .join(" AND ");
    let other = dice.one_of(&columns);
    let (sql, values) = match dice.below(10) {
        0 => (format!("DELETE FROM {table}"), Vec::new()),
        1 => (format!("UPDATE {table} SET {column} = ?"), vec![value]),
        2 => (format!("UPDATE {table} SET {column} = {other}"), Vec::new()),
        3 => (format!("DELETE FROM {table} WHERE {is_it}"), values.split_off(1)),
        _ => {
            values[0] = value;
            (format!("UPDATE {table} SET {column} = ? WHERE {is_it}"), values)
        }
    };
    let words = format!("{sql} {values:.200?}");
    db.execute(&sql, params_from_iter(values)).ok()?;
    Some(words)
}

fn texts(db: &Connection, sql: &str) -> Option<Vec<String>> {
    let mut statement = db.prepare(sql).ok()?;
    let found = statement.query_map([], |row| row.get(0)).ok()?;
    found.collect::<Result<_, _>>().ok()
}

/// Shows the run in every form; what is refused is refused by the store, with the file.
fn show(path: &Path, good: &Path) -> Result<(), StoreError> {
    let file = RunFile::open(path)?;
    let view = file.view()?;
    let limits = file
        .document("limits")?
        .and_then(|text| Profile::parse(&text, "the run").ok());
    let all = [limits, Profile::find("substation").ok()]
        .into_iter()
        .flatten()
        .collect();
    let report = Report::new(view.clone(), all).with_recording(run::survey(&file)?);
    let _ = (
        report.write_json(&mut sink()),
        report.text(false, None),
        report.screen(report::screen::Size::LARGEST, true, None),
        report.summary(),
    );
    let _ = report.html(&About::default(), None);
    let _ = openmetrics(&report, &mut sink());
    for layout in [
        Layout::Vm,
        Layout::Jitter,
        Layout::Avb,
        Layout::Networks,
        Layout::Vpc,
        Layout::Bench,
    ] {
        let _ = Tables::of(layout, vec![(None, view.clone())]).text();
    }
    let pair = vec![
        ("this".to_owned(), view),
        ("good".to_owned(), RunFile::open(good)?.view()?),
    ];
    let comparison = Comparison::of(pair).judged(&[None, None]);
    let _ = (comparison.json(), comparison.text(), comparison.html());
    let _ = (
        csv(&file, &mut sink()),
        hlog(&file, &mut sink()),
        readings(&file, &mut sink()),
    );
    let _ = frames(&file, &mut sink());
    let _ = (columnar::windows(&file, sink()), columnar::spikes(&file, sink()));
    if let Ok(measurement) = cyclictest::measurement(&file) {
        let _ = write_json(&measurement, &mut sink());
        let _ = write_text(&measurement, Dialect::AllRows, &mut sink());
    }
    Ok(())
}

#[test]
fn a_run_file_that_was_damaged_is_refused_or_shown_and_nothing_panics() {
    let folder = tempfile::tempdir().expect("a directory");
    let whole = whole(folder.path());
    show(&whole, &whole).expect("the whole run is shown");
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    let seed = since.as_nanos() as u64;
    let _ = writeln!(std::io::stderr(), "seed {seed}");
    let path = folder.path().join("damaged.triptime");
    let mut refused = 0;
    for round in 0..ROUNDS {
        let mut dice = Dice(seed.wrapping_add(round << 32));
        std::fs::copy(&whole, &path).expect("a copy");
        let words = damage(&path, &mut dice);
        match catch_unwind(AssertUnwindSafe(|| show(&path, &whole))) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
                refused += 1;
            }
            Err(_) => panic!("seed {seed}, round {round}: {words}"),
        }
    }
    assert!(
        refused > 0 && refused < ROUNDS,
        "some damage is seen in the file, some is not: {refused}"
    );
}
