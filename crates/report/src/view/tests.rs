use super::RunView;
use crate::synthetic::series;
use stats::Histogram;
use store::model::{Counters, Event, EventKind, Fact, RunInfo, RunState, SeriesClock, SeriesSpec, Spike, Window};
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
        name: "wakeup/cpu1".into(),
        what: "test".into(),
        clock: SeriesClock::Monotonic,
        interval_ns: Some(250_000.0),
        threshold_ns: Some(50_000),
        settings: vec![("policy".into(), "SCHED_FIFO 80".into())],
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

    let view = RunView::read(&RunFile::open(&path).expect("opened")).expect("read");
    assert_eq!(
        (&view.info, view.state, view.duration_ns),
        (&info, RunState::Interrupted, 1_000_000_000)
    );
    assert_eq!(
        (&view.file, &view.events, &view.facts),
        (&path, &vec![event], &vec![fact])
    );
    let one = view.series_named("wakeup/cpu1").expect("the series");
    assert_eq!((&one.spec, one.counters, &one.spikes), (&spec, counters, &vec![spike]));
    assert_eq!(
        (one.min_ns, one.max_ns, one.sum_ns),
        (Some(1_000), Some(61_234), 65_234)
    );
    assert_eq!(
        (one.histogram.count(), one.windows.len(), one.exposure_ns()),
        // Of the window's second, the samples were due in a millisecond.
        (3, 1, 1_000_000)
    );
    assert_eq!(one.mean_ns(), Some(65_234.0 / 3.0));
    assert_eq!(
        (one.family(), one.unaccounted(), one.interval_ns()),
        ("wakeup", 0, Some(250_000))
    );
}

#[test]
fn samples_in_no_counter_are_unaccounted_for() {
    let mut one = series("wakeup/cpu1", 100, 60_000, 1);
    one.counters.expected = 110;
    one.counters.lost = 3;
    one.counters.missed = 2;
    assert_eq!(one.unaccounted(), 5);
}

#[test]
fn without_a_period_what_was_missed_has_no_place() {
    let mut one = series("wakeup/cpu1", 100, 60_000, 1);
    assert!(one.scheduled().is_none(), "nothing was missed");
    one.counters.missed = 1;
    one.spec.interval_ns = Some(0.0);
    assert_eq!(one.scheduled().expect("a view").unplaced(), 1);
}

/// Twenty streams are sent at one waking: a frame is due every 10.4 us, and only a waking later than 208 us skips any.
#[test]
fn late_frames_of_many_streams_put_back_what_was_missed_and_no_more() {
    let mut one = series("publish/F4800S1", 1, 1_000, 1);
    one.spec.interval_ns = Some(208_333.333 / 20.0);
    one.spec.settings = vec![("streams".into(), "20".into())];
    one.histogram = Histogram::new();
    one.histogram.record_n(156_000, 1_000_000);
    one.histogram.record_n(1_000_000, 20);
    one.counters = Counters {
        expected: 1_000_100,
        received: 1_000_020,
        missed: 80,
        ..Counters::default()
    };
    let scheduled = one.scheduled().expect("a view");
    assert_eq!((scheduled.count(), scheduled.unplaced()), (one.counters.expected, 0));
    assert_eq!(
        scheduled.supported_quantile(0.5),
        one.histogram.scheduled(None, 0).supported_quantile(0.5)
    );
    assert_eq!(one.judged_view(), "scheduled");
}

#[test]
fn no_quantile_is_above_the_maximum_of_samples_before_their_time() {
    let mut one = series("age/MU01", 100, 60_000, 1);
    one.histogram = Histogram::new();
    one.histogram.record_n(0, 100_000);
    (one.min_ns, one.max_ns) = (Some(-9_000), Some(-1));
    assert_eq!((one.figures().p50, one.figures().max), (None, Some(-1)));
    one.max_ns = Some(0);
    assert_eq!(one.figures().p999, Some(0));
}
