//! Reads a whole run at once.

use model::{Counters, Event, EventKind, Fact, RunInfo, RunState, SeriesClock, SeriesSpec, Spike, Window};
use stats::Histogram;
use store::{Batch, RunFile, RunWriter};
use units::Realtime;

#[test]
fn all_of_a_run_file_is_in_its_view() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("run.triptime");
    let info = RunInfo {
        id: "test".into(),
        command: "wakeup".into(),
        arguments: vec!["triptime".into(), "wakeup".into()],
        tool_version: "0.1.0".into(),
        started: Realtime::from_ns(1_795_226_400_500_000_000),
        window_ns: 1_000_000_000,
    };
    let mut writer = RunWriter::create(&path, &info, None).expect("created");
    let spec = SeriesSpec {
        what: "test".into(),
        clock: SeriesClock::Monotonic,
        interval_ns: Some(250_000.0),
        threshold_ns: Some(50_000),
        settings: vec![("policy".into(), "SCHED_FIFO 80".into())],
        ..SeriesSpec::named("wakeup/cpu1")
    };
    let id = writer.add_series(&spec).expect("added");
    let fact = Fact {
        group: "kernel".into(),
        name: "release".into(),
        value: Err("not read".into()),
        source: "/proc".into(),
    };
    writer.add_facts(std::slice::from_ref(&fact)).expect("added");
    let mut histogram = Histogram::new();
    for ns in [1_000, 3_000, 61_234] {
        histogram.record(ns);
    }
    let counters = Counters {
        expected: 4,
        received: 3,
        lost: 1,
        overflow: 1,
        ..Counters::default()
    };
    let window = Window {
        series: id,
        start_ns: 0,
        end_ns: 1_000_000_000,
        counters,
        sum_ns: 65_234,
        min_ns: Some(1_000),
        max_ns: Some(61_234),
        histogram,
    };
    let spike = Spike {
        series: id,
        at_ns: 7,
        value_ns: 61_234,
        cpu: Some(1),
        sequence: Some(2),
        explanation: None,
    };
    let event = Event {
        at_ns: 9,
        since_ns: None,
        kind: EventKind::Steal,
        series: Some(id),
        text: "10 ms".into(),
    };
    let batch = Batch {
        windows: vec![window],
        spikes: vec![spike.clone()],
        events: vec![event.clone()],
        ..Batch::default()
    };
    writer.write(&batch).expect("written");
    writer.finish(RunState::Interrupted, 1_000_000_000).expect("finished");

    let view = RunFile::open(&path).expect("opened").view().expect("read");
    assert_eq!(
        (&view.info, view.state, view.duration_ns),
        (&info, RunState::Interrupted, 1_000_000_000)
    );
    assert_eq!(
        (&view.file, &view.events, &view.facts),
        (&path, &vec![event].into(), &vec![fact])
    );
    let one = view.series_named("wakeup/cpu1").expect("the series");
    assert_eq!(
        (&one.spec, one.counters, &one.spikes),
        (&spec, counters, &vec![spike].into())
    );
    assert_eq!(
        (one.min_ns, one.max_ns, one.sum_ns),
        (Some(1_000), Some(61_234), 65_234)
    );
    assert_eq!(
        (one.histogram.count(), one.windows.len(), one.exposure_ns()),
        // Within the window's second, the samples were due for a millisecond.
        (3, 1, 1_000_000)
    );
    assert_eq!(one.mean_ns(), Some(65_234.0 / 3.0));
    assert_eq!(
        (one.family(), one.unaccounted(), one.interval_ns()),
        ("wakeup", 0, Some(250_000))
    );
}
