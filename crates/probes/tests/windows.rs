//! Windows are as long as was measured in them; and who captures hears of every spike in time.

mod common;

use common::{Recorded, Run};
use model::{Counter, Counters, EventKind, SeriesClock, SeriesSpec};
use run::{CountedSpan, CountedSpike, Describe, Feed};
use units::Monotonic;

const MS: i64 = 1_000_000;

/// A series with an interval in ns, or without.
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

    fn notice(&self, _: u16, _: &str, _: u64, _: u64) -> (EventKind, String) {
        (EventKind::Note, String::new())
    }
}

fn feed(run: &mut Run, interval_ns: Option<f64>) -> Feed {
    let mut feed = run.recorder.feed(1_024, 1, Box::new(Series(interval_ns)));
    feed.announce(0, "series/one");
    feed
}

/// Samples of 10 ms, at these ms of the run.
fn measure(run: &mut Run, interval_ns: Option<f64>, at_ms: &[i64]) {
    let mut feed = feed(run, interval_ns);
    let start = run.start;
    // Said before anything is measured, as by most probes.
    feed.notice(0, 1, start, 0, 0);
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
    // The grid is of 200 ms.
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
    // Its feed is gone, and the second part lies in the same window of the grid.
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

#[test]
fn what_is_counted_elsewhere_begins_with_its_first_sample_and_ends_with_its_last_span() {
    let run = Run::start();
    let span = |at_ms: i64, received: u64, spikes: &[i64]| CountedSpan {
        series: Series(None).series(0, "series/one"),
        at: at(run.start, at_ms),
        counters: Counters {
            expected: received,
            received,
            ..Counters::default()
        },
        sum_ns: 0,
        min_ns: None,
        max_ns: None,
        samples: vec![(1_000, received)],
        spikes: spikes
            .iter()
            .map(|spike_ms| CountedSpike {
                at: at(run.start, *spike_ms),
                value_ns: 1_000,
                cpu: 0,
                thread: 1,
                sequence: 0,
            })
            .collect(),
    };
    let spans = [
        // Single samples are told before the span that they are counted in ends.
        span(70, 0, &[50, 70]),
        span(199, 10, &[]),
        span(399, 20, &[]),
        span(480, 5, &[]),
    ];
    let counted = run.recorder.counted();
    spans.into_iter().for_each(|span| counted.add(span));
    run.recorder.settle();
    let recorded = run.finish();
    assert_eq!(
        windows(&recorded),
        [(50_000, 200_000), (200_000, 400_000), (400_000, 480_000)]
    );
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
