use super::Histogram;
use proptest::collection::vec;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

const MS: u64 = 1_000_000;

fn of(values: &[(u64, u64)]) -> Histogram {
    let mut histogram = Histogram::new();
    for (ns, count) in values {
        histogram.record_n(*ns, *count);
    }
    histogram
}

#[test]
fn a_stall_is_filled_in_as_if_every_cycle_had_been_measured() {
    // A thread due every 250 us sleeps through 100 ms: it measures one sample where 400 were due.
    let (interval, stall) = (250_000, 100_000_000);
    let (mut measured, mut every_cycle) = (Histogram::new(), Histogram::new());
    for cycle in 0..40_000u64 {
        let due = cycle * interval;
        let stalled = (20_000 * interval..20_000 * interval + stall).contains(&due);
        let latency = if stalled {
            20_000 * interval + stall - due
        } else {
            1_500
        };
        every_cycle.record(latency);
        if !stalled || due == 20_000 * interval {
            measured.record(latency);
        }
    }
    assert_eq!((measured.count(), every_cycle.count()), (39_601, 40_000));
    let scheduled = measured.scheduled(Some(interval as f64), 399);
    assert_eq!((scheduled.count(), scheduled.unplaced()), (40_000, 0));
    assert_eq!(
        measured.quantile(0.995),
        Some(1_500),
        "the stall hides in the measured quantile"
    );
    for q in [0.5, 0.9, 0.991, 0.995, 0.999] {
        let value = scheduled.supported_quantile(q).expect("known");
        let expected = every_cycle.quantile(q).expect("samples");
        assert!(
            value >= expected && (value - expected) * 500 <= expected,
            "{q}: {value} and {expected}"
        );
    }
    assert_eq!(measured.count(), 39_601, "the measured histogram is left as it was");
}

/// HdrHistogram's rule adds nothing for a stall of less than two periods: its p99 is 11 us.
#[test]
fn a_stall_of_one_to_two_periods_puts_back_what_it_skipped() {
    let measured = of(&[(10_000, 992), (1_900_000, 8)]);
    let scheduled = measured.scheduled(Some(MS as f64), 8);
    assert_eq!(scheduled.count(), 1_008);
    let p99 = scheduled.supported_quantile(0.99).expect("known");
    assert!((900_000..901_000).contains(&p99), "{p99}");
    let mean = scheduled.mean(992 * 10_000 + 8 * 1_900_000).expect("known");
    assert!(
        (mean - (992.0 * 10_000.0 + 8.0 * 2_800_000.0) / 1_008.0).abs() < 20.0,
        "{mean}"
    );
}

/// Long samples that skipped nothing add nothing: 20 frames of one cycle are late together, and one cycle was missed.
#[test]
fn nothing_is_put_back_that_was_not_missed() {
    let measured = of(&[(150_000, 999_980), (700_000, 20)]);
    let none = measured.scheduled(Some(208_333.0), 0);
    assert_eq!(none.placed(), &measured);
    let some = measured.scheduled(Some(208_333.0), 20);
    assert_eq!(some.count(), 1_000_020);
    assert_eq!(some.placed().count_above(491_000), 40, "the longest it can have been");
    assert_eq!(
        some.supported_quantile(0.5).expect("known"),
        measured.quantile(0.5).expect("samples")
    );
}

#[test]
fn what_has_no_place_counts_as_longer_than_all() {
    let measured = of(&[(10_000, 10_000), (2_500_000, 1)]);
    let scheduled = measured.scheduled(Some(MS as f64), 102);
    assert_eq!((scheduled.count(), scheduled.unplaced()), (10_103, 100));
    assert!(scheduled.supported_quantile(0.5).is_some());
    assert_eq!(
        scheduled.supported_quantile(0.999),
        None,
        "it lies among those of which nothing is known"
    );
    let summary = scheduled.summary(102_500_000);
    assert_eq!((summary.mean, summary.max, summary.count), (None, None, 10_103));
    for unknown in [None, Some(0.0), Some(f64::NAN)] {
        assert_eq!(measured.scheduled(unknown, 7).unplaced(), 7);
    }
}

#[test]
fn filling_in_nanoseconds_ends() {
    let scheduled = of(&[(60_000_000_000, 1)]).scheduled(Some(1.0), 60_000_000_000);
    assert_eq!(scheduled.count(), 60_000_000_001);
}

proptest! {
    #[test]
    fn as_many_are_put_back_as_were_missed(
        samples in vec((1u64..50_000_000, 1u64..50), 0..20), period in 50_000.0f64..2_000_000.0, missed in 0u64..20_000,
    ) {
        let measured = of(&samples);
        let scheduled = measured.scheduled(Some(period), missed);
        prop_assert_eq!(scheduled.count(), measured.count() + missed);
        prop_assert_eq!(scheduled.placed().count() + scheduled.unplaced(), scheduled.count());
    }

    /// A thread sleeps through its periods: every quantile is, to three digits, at least that of all activations.
    #[test]
    fn no_quantile_is_too_favourable(
        samples in vec((1u64..20_000_000, 1u64..50), 1..20), period in 50_000u64..2_000_000, q in 0.0f64..1.0,
    ) {
        let mut every = Histogram::new();
        let mut missed = 0;
        for (ns, count) in &samples {
            for k in 0..=ns / period {
                every.record_n(ns - k * period, *count);
                missed += if k > 0 { *count } else { 0 };
            }
        }
        let scheduled = of(&samples).scheduled(Some(period as f64), missed);
        prop_assert_eq!(scheduled.unplaced(), 0);
        if let Some(value) = scheduled.supported_quantile(q) {
            let truth = every.quantile(q).expect("samples");
            prop_assert!(value >= truth, "{} for {}", value, truth);
        }
    }
}
