//! Real files of cyclictest 2.4 (`tests/data`, see its README) as runs, and back.

use super::{DOCUMENT, Import, ImportError, Source};
use crate::cyclictest::{Bucket, Dialect, Mean, Measurement, Thread, read, write_text};
use model::{EventKind, RunInfo, RunState, Window};
use proptest::prelude::*;
use run::Thresholds;
use std::collections::BTreeMap;
use store::{RunFile, RunWriter};
use units::Realtime;

macro_rules! source {
    ($name:literal) => {
        Source {
            file: $name.to_owned(),
            measurement: read(include_bytes!(concat!("../../tests/data/", $name)), None).expect("a file of cyclictest"),
        }
    };
}

fn import(source: Source, interval_ns: Option<u64>) -> Import {
    Import::of(&[source], interval_ns, &Thresholds::default()).expect("a run")
}

fn window(import: &Import, index: usize) -> &Window {
    &import.batch.windows[index]
}

/// The run as a file, with or without the copy of the imported files.
fn stored(import: &Import, with_copy: bool) -> (tempfile::TempDir, RunFile) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("run.triptime");
    let info = RunInfo {
        id: "test".into(),
        command: "import".into(),
        arguments: vec!["import".into()],
        tool_version: "0.1.0".into(),
        started: Realtime::from_ns(0),
        window_ns: import.window_ns,
    };
    let mut writer = RunWriter::create(&path, &info, None).expect("created");
    for spec in &import.series {
        writer.add_series(spec).expect("added");
    }
    writer.add_facts(&import.facts).expect("facts");
    if with_copy {
        writer.put_document(DOCUMENT, &import.document).expect("kept");
    }
    writer.write(&import.batch).expect("written");
    writer.finish(RunState::Complete, import.duration_ns).expect("finished");
    let run = RunFile::open(&path).expect("opened");
    (directory, run)
}

/// A thread blocked CPU 1 for 12, 35, 7 and 3 ms while this was measured for 3 s every 1 ms: 3000 activations were due.
#[test]
fn missed_rebuilt_is_planned_less_counted() {
    let run = import(source!("stall24.json"), None);
    let counters = window(&run, 0).counters;
    assert_eq!(
        (counters.received, counters.missed, counters.expected),
        (2914, 86, 3000)
    );
    assert_eq!((counters.clipped, run.duration_ns), (0, 3_000_000_000));
    assert_eq!(run.series[0].name, "wakeup/cpu1");
    assert_eq!(run.series[0].interval_ns, Some(1e6));
    let note = &run.batch.events[0].text;
    assert!(
        note.contains("stall24.json") && note.contains("rebuilt from histogram and interval"),
        "{note}"
    );
    assert!(
        run.series[0]
            .settings
            .contains(&("missed".into(), "rebuilt from histogram and interval".into()))
    );
}

#[test]
fn every_figure_is_the_worst_that_the_file_allows() {
    let run = import(source!("plain24.json"), None);
    let window = window(&run, 0);
    assert_eq!((window.max_ns, window.min_ns), (Some(39_999), Some(7_999)));
    assert_eq!(window.histogram.count(), 3000);
    let mean_ns = window.sum_ns as f64 / 3000.0;
    let written = 1000.0
        * source!("plain24.json").measurement.threads[0]
            .mean
            .expect("a mean")
            .value;
    assert!(
        mean_ns >= written && mean_ns <= written + 1_010.0,
        "{mean_ns} of {written}"
    );
    let text = import(source!("plain24.txt"), Some(1_000_000));
    assert_eq!(text.series[0].name, "wakeup/thread0");
    assert_eq!((text.batch.windows[0].sum_ns, text.started), (window.sum_ns, None));
    assert!(run.started.is_some());
}

#[test]
fn samples_beyond_the_histogram_are_clipped_and_their_skipped_periods_bounded() {
    let run = import(source!("over24.json"), None);
    let window = window(&run, 0);
    // 10 000 were due in 2 s: 583 were skipped. Certain are 29 of known latency, 175 of the largest, two for each of the rest.
    assert_eq!(window.counters.clipped, 62);
    assert_eq!(window.counters.missed, 29 + 175 + 2 * 62);
    assert_eq!(window.counters.expected, 9417 + window.counters.missed);
    assert_eq!(window.histogram.count_above(400_000), 63);
    assert_eq!(window.max_ns, Some(35_046_999));
    let notes: Vec<&str> = run.batch.events.iter().map(|event| event.text.as_str()).collect();
    assert!(
        notes[1].contains("62 samples beyond the histogram, between 400 µs and 35.0 ms")
            && notes[1].contains("328 are certain, 11054 possible"),
        "{notes:?}"
    );
}

/// `over24.json` ends its buckets at 400 us and has 63 samples beyond, the largest of 35,046 us.
#[test]
fn samples_over_a_threshold_are_counted_where_the_file_tells_them() {
    let judged = |threshold_ns| {
        let thresholds = Thresholds::new(move |name| (name == "wakeup/cpu1").then_some(threshold_ns));
        Import::of(&[source!("over24.json")], None, &thresholds).expect("a run")
    };
    let run = judged(390_000);
    assert_eq!(run.series[0].threshold_ns, Some(390_000));
    assert_eq!(
        window(&run, 0).counters.overflow,
        window(&run, 0).histogram.count_above(390_000)
    );
    let run = judged(1_000_000);
    assert_eq!(
        (run.series[0].threshold_ns, window(&run, 0).counters.overflow),
        (None, 0)
    );
    let told = |event: &model::Event| {
        event
            .text
            .starts_with("the number of samples over 1.00 ms is not known")
    };
    assert!(run.batch.events.iter().any(told), "{:?}", run.batch.events);
}

/// One file of a series without this information is enough.
#[test]
fn a_series_has_a_threshold_only_where_all_its_files_tell() {
    let (mut clear, mut cut) = (source!("plain24.json"), source!("plain24.json"));
    let thread = |source: &mut Source, k| {
        let thread = &mut source.measurement.threads[0];
        (thread.cycles, thread.min, thread.max, thread.buckets) = (5, Some(k), Some(k), vec![(k, 5)]);
    };
    thread(&mut clear, 300);
    thread(&mut cut, 120);
    let overflows = |sources: &[Source]| -> (Option<u64>, Vec<u64>) {
        let run = Import::of(sources, Some(1_000_000), &Thresholds::new(|_| Some(120_000))).expect("a run");
        let windows = run.batch.windows.iter();
        (
            run.series[0].threshold_ns,
            windows.map(|window| window.counters.overflow).collect(),
        )
    };
    assert_eq!(overflows(&[clear.clone(), clear.clone()]), (Some(120_000), vec![5, 5]));
    assert_eq!(overflows(&[clear, cut]), (None, vec![0, 0]));
}

#[test]
fn one_sample_beyond_the_histogram_is_the_largest() {
    let mut source = source!("plain24.json");
    let thread = &mut source.measurement.threads[0];
    (thread.cycles, thread.max) = (3001, Some(2_500));
    let run = import(source, None);
    let counters = window(&run, 0).counters;
    assert_eq!((counters.clipped, counters.missed, counters.received), (0, 2, 3001));
    assert_eq!(run.batch.events.len(), 1, "nothing is unknown: {:?}", run.batch.events);
}

#[test]
fn without_a_histogram_only_the_extremes_are_known() {
    let run = import(source!("status24.txt"), None);
    let second = window(&run, 1);
    assert_eq!((second.counters.received, second.counters.clipped), (667, 666));
    assert_eq!((second.min_ns, second.max_ns), (Some(9_999), Some(54_999)));
    assert_eq!(second.histogram.quantile(0.0), second.histogram.quantile(1.0));
    assert!(
        run.batch
            .events
            .iter()
            .any(|event| event.text.contains("the file has no histogram"))
    );
    assert_eq!(run.series[1].interval_ns, Some(1.5e6));
    // Mean times cycles bounds the sum from above, much closer than the largest does.
    assert_eq!(second.sum_ns, (13.0 + 2.0) as i128 * 1_000 * 667);
}

#[test]
fn a_thread_that_is_not_real_time_is_said_to_be_none() {
    let of = |priority: &str| {
        let text = format!("T: 0 (  700) P:{priority} I:1000 C:  60000 Min:      9 Act:   66 Avg:   70 Max:    4321\n");
        let source = Source {
            file: "status.txt".to_owned(),
            measurement: read(text.as_bytes(), None).expect("a status line"),
        };
        import(source, None)
    };
    let is_told = |run: &Import| {
        let mut notes = run.batch.events.iter().filter(|event| event.series.is_some());
        notes.any(|event| event.text.contains("priority 0 (P: 0)") && event.kind == EventKind::Note)
    };
    let setting = |run: &Import| {
        let settings = run.series[0].settings.iter();
        settings
            .filter(|(name, _)| name == "priority")
            .map(|(_, value)| value.clone())
            .collect::<Vec<_>>()
    };
    let (ordinary, real_time) = (of(" 0"), of("95"));
    assert!(is_told(&ordinary) && !is_told(&real_time));
    assert_eq!(setting(&ordinary), ["0: an ordinary thread, not a real-time one"]);
    assert_eq!(setting(&real_time), ["95"]);
    assert_eq!(setting(&import(source!("plain24.json"), None)), ["not in the file"]);
}

#[test]
fn a_measurement_stopped_by_its_own_limit_is_interrupted() {
    let run = import(source!("break24.json"), None);
    assert!(run.stopped_early);
    assert_eq!(run.batch.events[0].kind, EventKind::Interrupted);
    assert!(!import(source!("plain24.json"), None).stopped_early);
}

#[test]
fn files_follow_each_other_as_windows() {
    let two = [source!("plain24.json"), source!("stall24.json")];
    let run = Import::of(&two, None, &Thresholds::default()).expect("a run");
    assert_eq!((run.series.len(), run.batch.windows.len()), (1, 2));
    let (first, second) = (window(&run, 0), window(&run, 1));
    assert_eq!(
        (first.start_ns, first.end_ns, second.start_ns),
        (0, 3_000_000_000, 3_000_000_000)
    );
    assert_eq!((run.duration_ns, run.window_ns), (6_000_000_000, 3_000_000_000));
}

#[test]
fn an_interval_that_cannot_be_is_refused() {
    let text = Import::of(&[source!("plain24.txt")], None, &Thresholds::default()).expect_err("no interval");
    assert_eq!(
        text.to_string(),
        "plain24.txt: does not state the interval of thread 0: give it (--interval 200us)"
    );
    let other =
        Import::of(&[source!("plain24.json")], Some(200_000), &Thresholds::default()).expect_err("another interval");
    assert_eq!(
        other.to_string(),
        "plain24.json: thread 0 was measured every 1.00 ms, not every 200 µs: leave the interval out"
    );
    let mut source = source!("plain24.json");
    source.measurement.threads[0].interval_ns = None;
    let long =
        Import::of(&[source.clone()], Some(2_000_000), &Thresholds::default()).expect_err("6 s of activations in 3 s");
    assert!(matches!(long, ImportError::TooLong { .. }), "{long}");
    let short = import(source, Some(100_000));
    assert!(
        short.batch.events[1].text.contains("may be too short"),
        "{:?}",
        short.batch.events
    );
}

#[test]
fn machines_and_intervals_are_not_mixed() {
    let mut other = source!("stall24.json");
    other.measurement.system.as_mut().expect("sysinfo").nodename = "other".into();
    let error = Import::of(&[source!("plain24.json"), other], None, &Thresholds::default()).expect_err("two machines");
    assert!(matches!(error, ImportError::OtherMachine { .. }), "{error}");
    let error = Import::of(
        &[source!("plain24.json"), source!("over24.json")],
        None,
        &Thresholds::default(),
    )
    .expect_err("two intervals");
    assert!(matches!(error, ImportError::TwoIntervals { .. }), "{error}");
    assert_eq!(
        Import::of(&[], None, &Thresholds::default()).expect_err("nothing"),
        ImportError::Nothing
    );
}

#[test]
fn counts_that_no_run_can_hold_are_refused() {
    let mut source = source!("plain24.txt");
    source.measurement.threads[0].cycles = u64::MAX;
    source.measurement.threads[0].max = Some(1_000_000_000);
    let error = Import::of(&[source], Some(1_000), &Thresholds::default()).expect_err("beyond 64 bits");
    assert!(matches!(error, ImportError::TooMuch { .. }), "{error}");
}

#[test]
fn a_run_is_exported_as_it_was_imported() {
    for source in [
        source!("plain24.json"),
        source!("stall24.json"),
        source!("over24.json"),
        source!("ns24.json"),
        source!("sum24.json"),
        source!("sum24.txt"),
        source!("status24.json"),
    ] {
        let expected = source.measurement.clone();
        let run = import(
            source,
            expected.threads[0]
                .interval_ns
                .xor(Some(1_000_000))
                .and(Some(1_000_000)),
        );
        let (_directory, run) = stored(&run, true);
        assert_eq!(
            crate::export::cyclictest::measurement(&run).expect("exported"),
            expected
        );
    }
}

/// Without the copy, from the run's own histogram: exact where its buckets are no wider than a microsecond.
#[test]
fn the_runs_own_histogram_gives_the_same_buckets_below_a_millisecond() {
    let mut source = source!("plain24.json");
    let thread = &mut source.measurement.threads[0];
    thread.buckets = (1..1_048).map(|k| (k, k)).collect();
    (thread.cycles, thread.min, thread.max) = (thread.in_buckets(), Some(1), Some(1_047));
    thread.mean = None;
    (source.measurement.range, source.measurement.ended_ns) = (None, None);
    let expected = source.measurement.threads[0].clone();
    let mut imported = import(source, None);
    let (_directory, run) = stored(&imported, false);
    let thread = &crate::export::cyclictest::measurement(&run).expect("exported").threads[0];
    assert_eq!(thread.buckets, expected.buckets);
    assert_eq!(
        (thread.cycles, thread.min, thread.max, thread.cpu),
        (expected.cycles, Some(1), Some(1_047), Some(1))
    );

    imported = import(source!("stall24.json"), None);
    let (_directory, run) = stored(&imported, false);
    let exported = &crate::export::cyclictest::measurement(&run).expect("exported").threads[0];
    let original = &source!("stall24.json").measurement.threads[0];
    assert_eq!(exported.in_buckets(), original.in_buckets());
    let pairs = flat(exported).into_iter().zip(flat(original));
    for (ours, theirs) in pairs {
        assert!(
            ours <= theirs && (theirs - ours) * 1_000 <= theirs,
            "{ours} for {theirs}"
        );
    }
    assert_eq!(exported.max, original.max);
    assert_eq!(exported.buckets.last(), Some(&(34_958, 1)));
}

/// Every sample of a thread.
fn flat(thread: &Thread) -> Vec<u64> {
    let buckets = thread.buckets.iter();
    buckets
        .flat_map(|(k, n)| std::iter::repeat_n(*k, *n as usize))
        .collect()
}

#[test]
fn several_files_are_exported_as_one() {
    let run = Import::of(
        &[source!("plain24.json"), source!("plain24.json")],
        None,
        &Thresholds::default(),
    )
    .expect("a run");
    let (_directory, run) = stored(&run, true);
    assert_eq!(
        crate::export::cyclictest::measurement(&run).expect("exported").threads[0].cycles,
        6000
    );
    let run = Import::of(
        &[source!("plain24.json"), source!("stall24.json")],
        None,
        &Thresholds::default(),
    )
    .expect("a run");
    let (_directory, run) = stored(&run, true);
    let error = crate::export::cyclictest::measurement(&run).expect_err("different numbers of buckets");
    assert!(
        matches!(error, crate::export::cyclictest::RunError::Several(_)),
        "{error}"
    );
}

#[test]
fn a_run_without_wake_ups_is_refused() {
    let mut run = import(source!("plain24.json"), None);
    run.series[0].kind = Some(&model::kind::RTT);
    let (_directory, run) = stored(&run, false);
    assert!(matches!(
        crate::export::cyclictest::measurement(&run),
        Err(crate::export::cyclictest::RunError::NoWakeup)
    ));
}

/// Values that scripts read: SEAPATH's and bench-cyclictest's read the last number of the line, OpenShift's the line itself.
#[test]
fn the_last_number_of_the_maxima_is_the_largest() {
    let run = import(source!("sum24.json"), None);
    let (_directory, run) = stored(&run, false);
    let measurement: Measurement = crate::export::cyclictest::measurement(&run).expect("exported");
    assert_eq!(measurement.bucket, Bucket::Microsecond);
    for dialect in [Dialect::AllRows, Dialect::SparseRows] {
        let mut out = Vec::new();
        write_text(&measurement, dialect, &mut out).expect("written");
        let text = String::from_utf8(out).expect("text");
        let line = text
            .lines()
            .find(|line| line.starts_with("# Max Latencies:"))
            .expect("a line");
        assert_eq!(line, "# Max Latencies: 00217 00319 00319");
        assert_eq!(text.lines().filter(|line| line.starts_with("# Thread ")).count(), 2);
    }
}

/// Makes the file that cyclictest with `range` buckets of a microsecond would have written about these latencies.
fn measured(latencies_ns: &[u64], range: u64) -> Source {
    let us: Vec<u64> = latencies_ns.iter().map(|ns| ns / 1_000).collect();
    let mut buckets = BTreeMap::new();
    for k in us.iter().filter(|k| **k < range) {
        *buckets.entry(*k).or_insert(0) += 1;
    }
    let thread = Thread {
        number: 0,
        cpu: None,
        cycles: us.len() as u64,
        min: us.iter().min().copied(),
        max: us.iter().max().copied(),
        mean: Some(Mean {
            value: (us.iter().sum::<u64>() / us.len() as u64) as f64,
            resolution: 1.0,
        }),
        buckets: buckets.into_iter().collect(),
        interval_ns: None,
        priority: None,
    };
    let mut source = source!("plain24.txt");
    source.measurement.threads = vec![thread];
    source.measurement.range = Some(range);
    source
}

proptest! {
    /// For any true latencies, no figure that is compared with a limit is better than the true one.
    #[test]
    fn no_judgement_is_too_favourable(
        latencies in prop::collection::vec(prop_oneof![4 => 1_000u64..200_000, 1 => 1_000u64..30_000_000], 1..200),
        range in 1u64..2_000,
        limit in 1_000u64..3_000_000,
        q in 0.0f64..=1.0,
    ) {
        let interval = 200_000;
        let run = import(measured(&latencies, range), Some(interval));
        let window = window(&run, 0);
        let mut sorted = latencies.clone();
        sorted.sort_unstable();
        let (largest, n) = (sorted[sorted.len() - 1], sorted.len());
        prop_assert!(window.max_ns >= i64::try_from(largest).ok());
        prop_assert!(window.max_ns < i64::try_from(largest + 1_000).ok());
        prop_assert!(window.sum_ns >= i128::from(latencies.iter().sum::<u64>()));
        let rank = ((q * n as f64).ceil() as usize).clamp(1, n);
        prop_assert!(window.histogram.quantile(q) >= Some(sorted[rank - 1]));
        // A sample in the limit's own bucket may be above it; the exact maximum decides there.
        let above = latencies.iter().filter(|ns| **ns > limit + limit / 1_000 + 1_000).count() as u64;
        prop_assert!(window.histogram.count_above(limit) >= above);
        let skipped: u64 = latencies.iter().map(|ns| ns / interval).sum();
        prop_assert!(window.counters.missed <= skipped);
        prop_assert!(window.counters.clipped > 0 || window.counters.missed == skipped);
        prop_assert_eq!(window.counters.expected, n as u64 + window.counters.missed);
    }
}
