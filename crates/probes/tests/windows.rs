//! Windows are as long as the measured time in them, and a capture learns of every spike in time.

mod common;

use common::{Recorded, Run};
use model::{Counter, Counters, EventKind, SeriesClock, SeriesSpec};
use run::{CountedSpan, CountedSpike, Describe, Feed, Notice};
use units::Monotonic;

const MS: i64 = 1_000_000;

/// A series with an interval in ns, or without one.
struct Series(Option<f64>);

impl Describe for Series {
    fn series(&self, _: u16, label: &str) -> SeriesSpec {
        SeriesSpec {
            what: String::new(),
            clock: SeriesClock::Monotonic,
            interval_ns: self.0,
            threshold_ns: Some(50 * MS as u64),
            settings: Vec::new(),
            ..SeriesSpec::named(label)
        }
    }

    fn notice(&self, _: u16, _: &str, _: u64, _: u64) -> Option<(EventKind, String)> {
        Some((EventKind::Note, String::new()))
    }
}

/// The only notice of the series.
#[derive(Clone, Copy)]
struct Begun;

impl Notice for Begun {
    fn code(self) -> u16 {
        1
    }
}

fn feed(run: &mut Run, interval_ns: Option<f64>) -> Feed {
    let mut feed = run.recorder.feed(1_024, 1, Box::new(Series(interval_ns)));
    feed.announce(0, "series/one");
    feed
}

/// Samples of 10 ms, at these times of the run in ms.
fn measure(run: &mut Run, interval_ns: Option<f64>, at_ms: &[i64]) {
    let mut feed = feed(run, interval_ns);
    let start = run.start;
    // Announced before the measurement, as by most probes.
    feed.notice(0, Begun, start, 0, 0);
    for at_ms in at_ms {
        feed.sample(0, at(start, *at_ms), 10 * MS, 0);
    }
}

fn at(start: Monotonic, ms: i64) -> Monotonic {
    start + ms * MS
}

/// Start and end of the series' windows, in microseconds.
fn windows(recorded: &Recorded) -> Vec<(u64, u64)> {
    let rows = recorded.file.windows(recorded.id("series/one")).expect("windows");
    rows.iter()
        .map(|row| (row.start_ns / 1_000, row.end_ns / 1_000))
        .collect()
}

#[test]
fn the_first_and_the_last_window_are_as_long_as_was_measured() {
    let mut run = Run::start();
    // The grid has steps of 200 ms.
    measure(&mut run, None, &[130, 150, 210, 390, 410, 415]);
    let windows = windows(&run.finish());
    assert_eq!(windows, [(120_000, 200_000), (200_000, 400_000), (400_000, 415_000)]);
}

#[test]
fn a_series_with_an_interval_begins_one_before_its_first_sample() {
    let mut run = Run::start();
    measure(&mut run, Some(25e6), &[130, 155, 180]);
    assert_eq!(windows(&run.finish()), [(105_000, 180_000)]);
}

#[test]
fn what_is_measured_again_has_no_window_between() {
    let mut run = Run::start();
    measure(&mut run, None, &[30, 50]);
    common::wait_until("the first part is taken in", || {
        run.recorder.live().iter().any(|live| live.counters.received == 2)
    });
    // Its feed is closed, and the second part is in the same window of the grid.
    run.recorder.settle();
    measure(&mut run, None, &[150, 170, 250]);
    let windows = windows(&run.finish());
    assert_eq!(windows, [(20_000, 50_000), (140_000, 200_000), (200_000, 250_000)]);
}

#[test]
fn a_loss_is_measured_time_too() {
    let mut run = Run::start();
    let mut feed = feed(&mut run, None);
    feed.count(0, Counter::Lost, at(run.start, 40), 1);
    feed.sample(0, at(run.start, 90), MS, 0);
    drop(feed);
    assert_eq!(windows(&run.finish()), [(40_000, 90_000)]);
}

/// Counts up to this time of the run in ms, and some single samples.
fn span(start: Monotonic, end_ms: i64, received: u64, spikes_ms: &[i64]) -> CountedSpan {
    let spike = |spike_ms: &i64| CountedSpike {
        at: at(start, *spike_ms),
        value_ns: 1_000,
        cpu: 0,
        thread: 1,
        sequence: 0,
    };
    CountedSpan {
        counters: Counters {
            expected: received,
            received,
            ..Counters::default()
        },
        samples: vec![(1_000, received)],
        spikes: spikes_ms.iter().map(spike).collect(),
        ..CountedSpan::empty(Series(None).series(0, "series/one"), at(start, end_ms) - 1)
    }
}

/// Start and end of windows in ms, and the number of samples of each.
fn counted_windows(recorded: &Recorded) -> Vec<(u64, u64, u64)> {
    let rows = recorded.file.windows(recorded.id("series/one")).expect("windows");
    let ms = |ns: u64| ns / MS as u64;
    rows.iter()
        .map(|row| (ms(row.start_ns), ms(row.end_ns), row.counters.received))
        .collect()
}

#[test]
fn what_is_counted_elsewhere_begins_with_its_first_sample_and_ends_with_its_last_span() {
    let run = Run::start();
    let start = run.start;
    let counted = run.recorder.counted();
    // Single samples are reported before the end of the span in which they are counted.
    counted.add(span(start, 70, 0, &[50, 70]));
    for (end_ms, received) in [(200, 10), (400, 20), (480, 5)] {
        counted.add(span(start, end_ms, received, &[end_ms - 1]));
        counted.handed_over(at(start, end_ms));
        // A sample of the next span, reported before the current one is over.
        counted.add(span(start, end_ms + 2, 0, &[end_ms + 1]));
    }
    run.recorder.settle();
    let windows = counted_windows(&run.finish());
    assert_eq!(windows, [(50, 200, 10), (200, 400, 20), (400, 480, 5)]);
}

#[test]
fn a_window_of_what_was_read_late_is_as_long_as_what_was_counted() {
    let run = Run::start();
    let start = run.start;
    let counted = run.recorder.counted();
    let hand_over = |end_ms, received, until_ms| {
        counted.add(span(start, end_ms, received, &[]));
        counted.handed_over(at(start, until_ms));
        run.recorder.settle();
    };
    counted.add(span(start, 60, 0, &[50]));
    hand_over(200, 15, 200);
    // The reader was held up before it read, and after it had announced what it would read.
    hand_over(1_000, 80, 1_000);
    hand_over(1_730, 73, 1_200);
    hand_over(1_800, 7, 1_800);
    hand_over(2_000, 20, 2_000);
    let windows = counted_windows(&run.finish());
    let wanted = [(50, 200, 15), (200, 1_000, 80), (1_000, 1_800, 80), (1_800, 2_000, 20)];
    assert_eq!(windows, wanted);
}

#[test]
fn a_silence_of_what_is_counted_elsewhere_is_in_no_window() {
    let run = Run::start();
    let start = run.start;
    let counted = run.recorder.counted();
    counted.add(span(start, 60, 0, &[50]));
    counted.add(span(start, 200, 15, &[]));
    for end_ms in [200, 400, 600] {
        counted.handed_over(at(start, end_ms));
    }
    counted.add(span(start, 800, 20, &[]));
    let windows = counted_windows(&run.finish());
    assert_eq!(windows, [(50, 200, 15), (600, 800, 20)]);
}

#[test]
fn after_settling_every_spike_was_told() {
    let mut run = Run::start();
    let signal = run.recorder.spike_signal();
    let mut feed = feed(&mut run, None);
    for round in 0..20 {
        feed.sample(0, at(run.start, round), 49 * MS, 0);
        run.recorder.settle();
        assert_eq!(signal.take(), None);
        feed.sample(0, at(run.start, round), 51 * MS, 0);
        run.recorder.settle();
        assert_eq!(signal.take().map(|(first, _)| first), Some(at(run.start, round)));
    }
    drop(feed);
    run.finish();
}
