use super::SeriesView;
use crate::counters::Counters;
use crate::rows::Rows;
use crate::series::{SeriesClock, SeriesId, SeriesSpec};
use stats::Histogram;

/// A series of `n` equal samples.
fn series(name: &str, n: u64, value_ns: i64) -> SeriesView {
    let mut histogram = Histogram::new();
    histogram.record_n(value_ns.unsigned_abs(), n);
    SeriesView {
        id: SeriesId(0),
        spec: SeriesSpec {
            what: "test".into(),
            clock: SeriesClock::Monotonic,
            interval_ns: Some(250_000.0),
            threshold_ns: None,
            settings: Vec::new(),
            ..SeriesSpec::named(name)
        },
        counters: Counters {
            expected: n,
            received: n,
            ..Counters::default()
        },
        sum_ns: i128::from(value_ns) * i128::from(n),
        min_ns: Some(value_ns),
        max_ns: Some(value_ns),
        spikes_dropped: 0,
        histogram,
        windows: Rows::default(),
        spikes: Rows::default(),
        spikes_kept: 0,
        causes: Vec::new(),
    }
}

#[test]
fn samples_in_no_counter_are_unaccounted_for() {
    let mut one = series("wakeup/cpu1", 100, 60_000);
    one.counters.expected = 110;
    one.counters.lost = 3;
    one.counters.missed = 2;
    assert_eq!(one.unaccounted(), 5);
}

#[test]
fn without_a_period_what_was_missed_has_no_place() {
    let mut one = series("wakeup/cpu1", 100, 60_000);
    assert!(one.scheduled().is_none(), "nothing was missed");
    one.counters.missed = 1;
    one.spec.interval_ns = Some(0.0);
    assert_eq!(one.scheduled().expect("a view").unplaced(), 1);
}

/// Twenty streams are sent per wake-up: a frame is due every 10.4 us, and only a wake-up later than 208 us skips any.
#[test]
fn late_frames_of_many_streams_put_back_what_was_missed_and_no_more() {
    let mut one = series("publish/F4800S1", 1, 1_000);
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
    let plain = one.histogram.scheduled(None, 0);
    assert_eq!(scheduled.supported_quantile(0.5), plain.supported_quantile(0.5));
    assert_eq!(one.judged_view(), "scheduled");
}

#[test]
fn no_quantile_is_above_the_maximum_of_samples_before_their_time() {
    let mut one = series("age/MU01", 100, 60_000);
    one.histogram = Histogram::new();
    one.histogram.record_n(0, 100_000);
    (one.min_ns, one.max_ns) = (Some(-9_000), Some(-1));
    assert_eq!((one.figures().p50, one.figures().max), (None, Some(-1)));
    one.max_ns = Some(0);
    assert_eq!(one.figures().p999, Some(0));
}
