//! Reads the written files with the parquet crate and with DuckDB.

use crate::origin::Origin;
use crate::table::{Column, ParquetTable, Value};
use crate::{SPIKES_SCHEMA, WINDOWS_SCHEMA, spikes, windows};
use model::{
    Cause, Counters, Explanation, Extent, Fact, RunInfo, RunState, SeriesClock, SeriesId, SeriesSpec, Spike, Window,
};
use parquet::basic::Encoding;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use stats::Histogram;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use store::{Batch, RunFile, RunWriter};
use units::Realtime;

const SECOND_NS: u64 = 1_000_000_000;
const STARTED_NS: i64 = 1_795_226_400_000_000_007;

/// A run of two series with three windows of a second each, of which the middle one is empty, and with two spikes, only
/// one with a cause.
fn a_run(directory: &Path) -> RunFile {
    let path = directory.join("run.triptime");
    let info = RunInfo {
        id: "a-run".into(),
        command: "wakeup".into(),
        arguments: Vec::new(),
        tool_version: "0.1.0".into(),
        started: Realtime::from_ns(STARTED_NS),
        window_ns: SECOND_NS,
    };
    let mut writer = RunWriter::create(&path, &info, None).expect("created");
    writer.add_facts(&[host()]).expect("facts");
    for name in ["wakeup/cpu1", "delivery/Ölfeld"] {
        let id = writer.add_series(&spec(name)).expect("added");
        let values = [1_500i64, 0, -90_000].into_iter().zip(0..);
        writer
            .write(&Batch {
                windows: values.map(|(ns, second)| window(id, ns, second)).collect(),
                spikes: vec![spike(id, 7, None), spike(id, 2_500_000_011, Some(explanation()))],
                ..Batch::default()
            })
            .expect("written");
    }
    writer.finish(RunState::Interrupted, 3 * SECOND_NS).expect("finished");
    RunFile::open(&path).expect("opened")
}

fn host() -> Fact {
    Fact {
        group: "kernel".into(),
        name: "host name".into(),
        value: Ok("bay-7".into()),
        source: "/proc/sys/kernel/hostname".into(),
    }
}

fn spec(name: &str) -> SeriesSpec {
    SeriesSpec {
        what: "test".into(),
        clock: SeriesClock::Monotonic,
        interval_ns: None,
        threshold_ns: None,
        settings: Vec::new(),
        ..SeriesSpec::named(name)
    }
}

/// A window with forty samples of `ns`, or without samples if `ns` is 0.
fn window(series: SeriesId, ns: i64, second: u64) -> Window {
    let n = if ns == 0 { 0 } else { 40 };
    let mut histogram = Histogram::new();
    histogram.record_n(u64::try_from(ns).unwrap_or(0), n);
    Window {
        series,
        start_ns: second * SECOND_NS,
        end_ns: (second + 1) * SECOND_NS,
        counters: Counters {
            expected: n + 2,
            received: n,
            missed: 2,
            ..Counters::default()
        },
        sum_ns: i128::from(ns) * i128::from(n),
        min_ns: (n > 0).then_some(ns),
        max_ns: (n > 0).then_some(ns),
        histogram,
    }
}

fn spike(series: SeriesId, value_ns: i64, explanation: Option<Explanation>) -> Spike {
    Spike {
        series,
        at_ns: SECOND_NS,
        value_ns,
        cpu: explanation.is_some().then_some(3),
        sequence: explanation.is_some().then_some(9_007_199_254_740_993),
        explanation,
    }
}

fn explanation() -> Explanation {
    Explanation {
        cause: Cause::Interrupt,
        text: "interrupt virtio0 ran for 2.1 ms".into(),
        extent: Extent::OneCpu,
        stages: Vec::new(),
        occupants: Vec::new(),
        unexplained_ns: 11,
        around: Vec::new(),
    }
}

/// Writes both files of the run into a directory.
fn written(directory: &Path) -> (PathBuf, PathBuf) {
    let run = a_run(directory);
    let paths = (directory.join("windows.parquet"), directory.join("spikes.parquet"));
    windows(&run, File::create(&paths.0).expect("created")).expect("written");
    spikes(&run, File::create(&paths.1).expect("created")).expect("written");
    paths
}

/// Names and texts.
type Pairs = Vec<(String, String)>;

/// The rows as text, with `null` for NULL, and the metadata under `triptime.`.
fn read(path: &Path) -> (Vec<Pairs>, Pairs) {
    let reader = SerializedFileReader::new(File::open(path).expect("there")).expect("Parquet");
    let shown = |field: &Field| match field {
        Field::Str(text) => text.clone(),
        other => other.to_string(),
    };
    let rows = reader.get_row_iter(None).expect("rows").map(|row| {
        let row = row.expect("a row");
        row.get_column_iter()
            .map(|(name, field)| (name.clone(), shown(field)))
            .collect()
    });
    let metadata = reader
        .metadata()
        .file_metadata()
        .key_value_metadata()
        .expect("metadata");
    let metadata = metadata
        .iter()
        .map(|pair| (pair.key.clone(), pair.value.clone().expect("a value")));
    (rows.collect(), metadata.collect())
}

fn cell<'a>(row: &'a [(String, String)], name: &str) -> &'a str {
    let found = row.iter().find(|(column, _)| column == name);
    &found.unwrap_or_else(|| panic!("no column {name}")).1
}

#[test]
fn windows_read_back() {
    let directory = tempfile::tempdir().expect("a directory");
    let (rows, metadata) = read(&written(directory.path()).0);
    assert_eq!(rows.len(), 6);
    let of = |row: usize, names: &[&str]| -> Vec<String> {
        names.iter().map(|name| cell(&rows[row], name).to_owned()).collect()
    };
    let figures = ["mean_ns", "min_ns", "max_ns", "p50_ns", "p99_ns", "p999_ns"];
    assert_eq!(of(0, &figures), ["1500.0", "1500", "1500", "1500", "null", "null"]);
    assert_eq!(of(1, &figures), ["null"; 6]);
    assert_eq!(of(5, &figures[..3]), ["-9E4", "-90000", "-90000"]);
    let place = ["run", "host", "command", "started_ns", "series", "start_ns", "end_ns"];
    let started = STARTED_NS.to_string();
    assert_eq!(
        of(5, &place),
        [
            "a-run",
            "bay-7",
            "wakeup",
            started.as_str(),
            "delivery/Ölfeld",
            "2000000000",
            "3000000000"
        ]
    );
    let counters = [
        "expected",
        "received",
        "lost",
        "late",
        "duplicate",
        "reordered",
        "clipped",
        "missed",
        "overflow",
        "overrun",
    ];
    assert_eq!(
        of(0, &counters),
        ["42", "40", "null", "null", "null", "null", "0", "2", "null", "0"]
    );
    assert!(metadata.contains(&("triptime.schema".into(), WINDOWS_SCHEMA.into())));
    assert!(metadata.contains(&("triptime.state".into(), "interrupted".into())));
    assert!(metadata.contains(&("triptime.duration_ns".into(), "3000000000".into())));
}

#[test]
fn spikes_read_back_worst_first() {
    let directory = tempfile::tempdir().expect("a directory");
    let (rows, metadata) = read(&written(directory.path()).1);
    assert_eq!(rows.len(), 4);
    let names = [
        "value_ns",
        "at_ns",
        "cpu",
        "sequence",
        "cause",
        "cause_text",
        "unexplained_ns",
    ];
    let of = |row: usize| names.map(|name| cell(&rows[row], name).to_owned());
    let text = "interrupt virtio0 ran for 2.1 ms";
    assert_eq!(
        of(0),
        [
            "2500000011",
            "1000000000",
            "3",
            "9007199254740993",
            "interrupt",
            text,
            "11"
        ]
    );
    assert_eq!(of(1), ["7", "1000000000", "null", "null", "null", "null", "null"]);
    assert_eq!(cell(&rows[3], "series"), "delivery/Ölfeld");
    assert!(metadata.contains(&("triptime.schema".into(), SPIKES_SCHEMA.into())));
}

#[test]
fn only_text_has_a_dictionary_and_every_column_is_compressed() {
    let directory = tempfile::tempdir().expect("a directory");
    let reader = SerializedFileReader::new(File::open(written(directory.path()).0).expect("there")).expect("Parquet");
    for group in reader.metadata().row_groups() {
        for column in group.columns() {
            let text = ["run", "host", "command", "state", "series"].contains(&column.column_path().string().as_str());
            let dictionary = column.encodings().any(|encoding| encoding == Encoding::RLE_DICTIONARY);
            assert_eq!(dictionary, text, "{}", column.column_path());
            assert_eq!(column.compression(), parquet::basic::Compression::SNAPPY);
        }
    }
}

#[test]
fn a_run_without_series_is_a_table_without_rows() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("empty.triptime");
    let info = RunInfo {
        id: "empty".into(),
        command: "wakeup".into(),
        arguments: Vec::new(),
        tool_version: "0.1.0".into(),
        started: Realtime::from_ns(0),
        window_ns: SECOND_NS,
    };
    let writer = RunWriter::create(&path, &info, None).expect("created");
    writer.finish(RunState::Complete, 0).expect("finished");
    let file = directory.path().join("windows.parquet");
    let run = RunFile::open(&path).expect("opened");
    windows(&run, File::create(&file).expect("created")).expect("written");
    let (rows, metadata) = read(&file);
    assert_eq!((rows.len(), metadata.is_empty()), (0, false));
}

#[test]
fn rows_beyond_a_group_go_into_the_next() {
    let directory = tempfile::tempdir().expect("a directory");
    let origin = Origin::of(&a_run(directory.path())).expect("a run");
    let path = directory.path().join("numbers.parquet");
    let columns = vec![Column::new("number", Value::Count(|number: &u64| *number))];
    let mut table =
        ParquetTable::create(File::create(&path).expect("created"), columns, &origin, "test/1").expect("begun");
    table.write(&(0..65_537).collect::<Vec<u64>>()).expect("written");
    table.close().expect("closed");
    let reader = SerializedFileReader::new(File::open(&path).expect("there")).expect("Parquet");
    let rows: Vec<i64> = reader
        .metadata()
        .row_groups()
        .iter()
        .map(|group| group.num_rows())
        .collect();
    assert_eq!(rows, [65_536, 1]);
    assert_eq!(read(&path).0[65_536][0].1, "65536");
}

#[test]
fn a_full_disk_is_an_error() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = a_run(directory.path());
    let full = File::options().write(true).open("/dev/full").expect("Linux has it");
    let error = windows(&run, full).expect_err("no room").to_string();
    assert!(
        error.contains("cannot be written") && error.contains("No space left"),
        "{error}"
    );
}

/// A query as an analyst would write it.
const QUERY: &str = "
import duckdb, sys
windows, spikes = sys.argv[1:]
print(duckdb.sql(f\"select typeof(start_ns), typeof(mean_ns), typeof(series) from '{windows}' limit 1\").fetchall())
print(duckdb.sql(f\"select series, count(*), sum(received), max(max_ns), count(max_ns) from '{windows}' group by series order by series\").fetchall())
print(duckdb.sql(f\"select cause, sequence, started_ns + at_ns from '{spikes}' where cpu = 3 and series like 'wakeup/%'\").fetchall())
print(duckdb.sql(f\"select decode(value) from parquet_kv_metadata('{windows}') where decode(key) = 'triptime.schema'\").fetchall())
";

#[test]
fn duckdb_reads_both() {
    let Some(python) = testing::python("parquet") else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let (windows, spikes) = written(directory.path());
    let output = Command::new(python)
        .args(["-c", QUERY])
        .args([windows, spikes])
        .output()
        .expect("Python starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(
        text.lines().collect::<Vec<_>>(),
        [
            "[('BIGINT', 'DOUBLE', 'VARCHAR')]",
            "[('delivery/Ölfeld', 3, 80, 1500, 2), ('wakeup/cpu1', 3, 80, 1500, 2)]",
            "[('interrupt', 9007199254740993, 1795226401000000007)]",
            "[('triptime.windows/1',)]",
        ]
    );
}
