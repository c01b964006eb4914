//! Written data is read back unchanged.

use crate::support::{WINDOW_NS, assert_holds, batch, create, explanation, info, integrity, samples, spec, window};
use model::{Counters, Event, EventKind, Fact, RunInfo, RunState, SeriesClock, SeriesId, SeriesSpec, Spike, Window};
use proptest::prelude::{any, prop, prop_assert_eq, proptest};
use stats::Histogram;
use std::path::Path;
use store::{Batch, RunFile, RunWriter};

fn files_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_finished_run_is_one_file_with_everything_in_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("runs/of today/a?b#c%20.triptime");
    let mut writer = create(&path, 3, None);
    assert_eq!(writer.path(), path);
    for number in 0..50 {
        writer.write(&batch(3, number)).expect("written");
    }
    writer.finish(RunState::Complete, 50 * WINDOW_NS).expect("finished");
    assert_eq!(files_in(path.parent().expect("a directory")), ["a?b#c%20.triptime"]);
    let run = RunFile::open(&path).expect("a run");
    assert_eq!(
        (run.info(), run.state(), run.duration_ns()),
        (&info(), RunState::Complete, 50 * WINDOW_NS)
    );
    assert_eq!(run.path(), path);
    assert_holds(&run, 3, 50);
    drop(run);
    assert_eq!(files_in(path.parent().expect("a directory")), ["a?b#c%20.triptime"]);
    assert_eq!(integrity(&path), "ok");
}

#[test]
fn a_run_without_a_sample_is_a_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("empty.triptime");
    RunWriter::create(&path, &info(), None)
        .expect("created")
        .finish(RunState::Interrupted, 0)
        .expect("finished");
    let run = RunFile::open(&path).expect("a run");
    assert_eq!((run.state(), run.duration_ns()), (RunState::Interrupted, 0));
    assert_eq!(run.series().expect("series"), []);
    assert_eq!(run.events().expect("events"), []);
    assert_eq!(run.facts().expect("facts"), []);
    assert_eq!(run.document("plan").expect("documents"), None);
}

#[test]
fn a_window_without_a_sample_has_counters_and_no_figures() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("silence.triptime");
    let mut writer = create(&path, 1, None);
    let counters = Counters {
        expected: 80_000,
        lost: 80_000,
        ..Counters::default()
    };
    let silent = Window {
        counters,
        sum_ns: 0,
        min_ns: None,
        max_ns: None,
        histogram: Histogram::new(),
        ..window(0, 0)
    };
    writer
        .write(&Batch {
            windows: vec![silent],
            ..Batch::default()
        })
        .expect("written");
    writer.finish(RunState::Complete, WINDOW_NS).expect("finished");
    let run = RunFile::open(&path).expect("a run");
    let rows = run.windows(SeriesId(0)).expect("windows");
    assert_eq!((rows.len(), rows[0].counters), (1, counters));
    assert_eq!(
        (rows[0].mean_ns, rows[0].min_ns, rows[0].max_ns, rows[0].p50_ns),
        (None, None, None, None)
    );
    let totals = run.totals(SeriesId(0)).expect("totals");
    assert_eq!(
        (totals.min_ns, totals.max_ns, totals.mean_ns(), totals.samples),
        (None, None, None, 0)
    );
    assert!(run.histogram(SeriesId(0)).expect("histogram").is_empty());
}

#[test]
fn a_window_keeps_the_quantiles_its_samples_support() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("quantiles.triptime");
    let mut writer = create(&path, 1, None);
    writer.write(&batch(1, 0)).expect("written");
    drop(writer);
    let run = RunFile::open(&path).expect("a run");
    let row = run.windows(SeriesId(0)).expect("windows").remove(0);
    let samples = samples(0, 0);
    let mean = samples.iter().sum::<u64>() as f64 / samples.len() as f64;
    assert_eq!(row.mean_ns, Some(mean));
    assert_eq!(row.p50_ns, window(0, 0).histogram.quantile(0.5));
    assert_eq!(
        (row.p99_ns, row.p999_ns),
        (None, None),
        "201 samples support no 99 % quantile"
    );
}

#[test]
fn negative_samples_keep_their_exact_extremes_and_sum() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("deltas.triptime");
    let mut writer = create(&path, 1, None);
    let mut histogram = Histogram::new();
    histogram.record(0);
    histogram.record(70_000_000_000);
    let deltas = Window {
        counters: Counters {
            expected: 2,
            received: 2,
            clipped: 2,
            ..Counters::default()
        },
        sum_ns: 70_000_000_000 - 1_500,
        min_ns: Some(-1_500),
        max_ns: Some(70_000_000_000),
        histogram,
        ..window(0, 0)
    };
    writer
        .write(&Batch {
            windows: vec![deltas],
            ..Batch::default()
        })
        .expect("written");
    drop(writer);
    let run = RunFile::open(&path).expect("a run");
    let totals = run.totals(SeriesId(0)).expect("totals");
    assert_eq!(
        (totals.min_ns, totals.max_ns, totals.sum_ns),
        (Some(-1_500), Some(70_000_000_000), 69_999_998_500)
    );
    let histogram = run.histogram(SeriesId(0)).expect("histogram");
    assert_eq!(
        (histogram.min(), histogram.max()),
        (Some(1), Some(Histogram::HIGHEST_NS))
    );
}

#[test]
fn series_spikes_events_facts_and_documents_read_back() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("all.triptime");
    let mut writer = RunWriter::create(&path, &info(), None).expect("created");
    let plain = SeriesSpec {
        name: "age/MU\u{0}01 ü".into(),
        clock: SeriesClock::Realtime,
        interval_ns: None,
        threshold_ns: None,
        settings: Vec::new(),
        ..spec(0)
    };
    let specs = [spec(3), plain];
    for spec in &specs {
        writer.add_series(spec).expect("added");
    }
    let spikes = [
        Spike {
            series: SeriesId(0),
            at_ns: 1,
            value_ns: -5,
            cpu: None,
            sequence: None,
            explanation: None,
        },
        Spike {
            series: SeriesId(0),
            at_ns: 2,
            value_ns: 900_000,
            cpu: Some(3),
            sequence: Some(7),
            explanation: Some(explanation()),
        },
    ];
    let events: Vec<Event> = (0u64..)
        .zip(EventKind::ALL)
        .map(|(at_ns, kind)| Event {
            at_ns,
            since_ns: (at_ns % 3 == 0).then_some(at_ns / 2),
            kind,
            series: (at_ns % 2 == 0).then_some(SeriesId(1)),
            text: kind.word().into(),
        })
        .collect();
    writer
        .write(&Batch {
            spikes: spikes.to_vec(),
            events: events.clone(),
            ..Batch::default()
        })
        .expect("written");
    let facts = [
        Fact {
            group: "kernel".into(),
            name: "release".into(),
            value: Ok("6.1.0".into()),
            source: "/proc/version".into(),
        },
        Fact {
            group: "cpu".into(),
            name: "smi".into(),
            value: Err("no /dev/cpu/0/msr".into()),
            source: "msr 0x34".into(),
        },
    ];
    writer.add_facts(&facts[..1]).expect("added");
    writer.add_facts(&facts[1..]).expect("added");
    writer.put_document("plan", "first").expect("kept");
    writer.put_document("plan", "[plan]\nname = \"quick\"\n").expect("kept");
    writer.finish(RunState::Complete, 1).expect("finished");
    let run = RunFile::open(&path).expect("a run");
    let series = run.series().expect("series");
    assert_eq!(
        series,
        specs
            .into_iter()
            .enumerate()
            .map(|(id, spec)| (SeriesId(id as u32), spec))
            .collect::<Vec<_>>()
    );
    assert_eq!(
        run.spikes(SeriesId(0)).expect("spikes"),
        [spikes[1].clone(), spikes[0].clone()],
        "the worst first"
    );
    assert_eq!(run.spikes(SeriesId(1)).expect("spikes"), []);
    assert_eq!(run.events().expect("events"), events);
    assert_eq!(run.facts().expect("facts"), facts);
    assert_eq!(
        run.document("plan").expect("document").as_deref(),
        Some("[plan]\nname = \"quick\"\n")
    );
    assert_eq!(run.document("limits").expect("document"), None);
}

#[test]
fn the_views_show_totals_and_times() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("views.triptime");
    let mut writer = create(&path, 2, None);
    for number in 0..3 {
        writer.write(&batch(2, number)).expect("written");
    }
    writer.finish(RunState::Complete, 3 * WINDOW_NS).expect("finished");
    let totals = RunFile::open(&path)
        .expect("a run")
        .totals(SeriesId(1))
        .expect("totals");
    let db = rusqlite::Connection::open(&path).expect("a database");
    let summary: (i64, i64, f64, i64) = db
        .query_row(
            "SELECT windows, received, mean_ns, max_ns FROM summary WHERE series = 'wakeup/cpu1'",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )
        .expect("a row");
    let expected = (
        3,
        totals.counters.received as i64,
        totals.mean_ns().expect("samples"),
        totals.max_ns.expect("samples"),
    );
    assert_eq!(summary, expected);
    let text = |sql: &str| db.query_row(sql, [], |row| row.get::<_, String>(0)).expect("a row");
    assert_eq!(
        text("SELECT at FROM timeline LIMIT 1 OFFSET 1"),
        "2026-11-21T02:00:20.000Z"
    );
    assert_eq!(
        text("SELECT at FROM worst WHERE sequence = 0 LIMIT 1"),
        "2026-11-21T02:00:00.000Z"
    );
    let pragma = |name: &str| {
        db.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0))
            .expect("a number")
    };
    assert_eq!(
        ["application_id", "user_version", "page_size", "auto_vacuum"].map(pragma),
        [0x5452_4950, 1, 4096, 2]
    );
}

#[test]
fn an_event_kind_of_a_later_version_is_shown_as_a_note() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("later.triptime");
    create(&path, 1, None).finish(RunState::Complete, 1).expect("finished");
    let db = rusqlite::Connection::open(&path).expect("a database");
    db.execute(
        "INSERT INTO event (at_ns, kind, text) VALUES (5, 'eclipse', 'seen for 2 s')",
        [],
    )
    .expect("inserted");
    drop(db);
    let events = RunFile::open(&path).expect("a run").events().expect("events");
    assert_eq!(
        (events[0].kind, events[0].text.as_str()),
        (EventKind::Note, "eclipse: seen for 2 s")
    );
}

proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(24))]

    #[test]
    fn any_text_and_time_reads_back(
        texts in prop::collection::vec(any::<String>(), 4),
        arguments in prop::collection::vec(any::<String>(), 0..4),
        started in any::<i64>(),
        window_ns in 0..i64::MAX as u64,
        interval_ns in any::<Option<u32>>(),
    ) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("any.triptime");
        let info = RunInfo {
            id: texts[0].clone(),
            command: texts[1].clone(),
            arguments,
            tool_version: texts[2].clone(),
            started: units::Realtime::from_ns(started),
            window_ns,
        };
        let spec = SeriesSpec {
            name: texts[3].clone(),
            interval_ns: interval_ns.map(|ns| f64::from(ns) / 3.0),
            settings: vec![(texts[0].clone(), texts[1].clone()); 2],
            ..spec(0)
        };
        let mut writer = RunWriter::create(&path, &info, None).expect("created");
        writer.add_series(&spec).expect("added");
        writer.put_document(&texts[0], &texts[1]).expect("kept");
        writer.finish(RunState::Complete, window_ns).expect("finished");
        let run = RunFile::open(&path).expect("a run");
        prop_assert_eq!((run.info(), run.duration_ns()), (&info, window_ns));
        prop_assert_eq!(run.series().expect("series"), vec![(SeriesId(0), spec)]);
        prop_assert_eq!(run.document(&texts[0]).expect("document"), Some(texts[1].clone()));
    }
}
