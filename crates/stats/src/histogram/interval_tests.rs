//! Ranks were computed with SciPy 1.17.1: the largest `l` with `binom.cdf(l - 1, n, q) <= (1 - c) / 2` and the smallest `u`
//! with `binom.sf(u - 1, n, q) <= (1 - c) / 2`.

use super::interval::ranks;
use crate::Histogram;
use crate::random::Random;
use proptest::prelude::{prop_assert, proptest};
use statrs::distribution::{Binomial, DiscreteCDF};

#[test]
fn ranks_agree_with_scipy() {
    for (q, count, confidence, expected) in [
        (0.5, 20, 0.95, (6, 15)),
        (0.5, 21, 0.9, (7, 15)),
        (0.5, 1_001, 0.95, (470, 532)),
        (0.99, 1_000, 0.95, (983, 997)),
        (0.9, 100, 0.99, (82, 98)),
        (0.999, 1_000_000, 0.95, (998_938, 999_062)),
        (0.9999, 2_160_000, 0.99, (2_159_745, 2_159_822)),
        (0.25, 77_777, 0.95, (19_208, 19_682)),
        (0.5, 6_050_000_000, 0.95, (3_024_923_775, 3_025_076_226)),
        (0.99999, 6_050_000_000, 0.95, (6_049_939_017, 6_049_939_983)),
    ] {
        assert_eq!(
            ranks(q, count, confidence),
            Some(expected),
            "{q} of {count} at {confidence}"
        );
    }
}

#[test]
fn ranks_beyond_the_samples_are_none() {
    assert_eq!(ranks(0.5, 5, 0.95), None, "2 * 0.5^5 is above 0.05");
    assert_eq!(ranks(0.5, 6, 0.95), Some((1, 6)));
    for confidence in [0.0, 1.0, -1.0, f64::NAN] {
        assert_eq!(ranks(0.5, 1_000, confidence), None);
    }
}

#[test]
fn an_interval_goes_with_its_quantile() {
    let mut histogram = Histogram::new();
    for ns in 1..=1_000 {
        histogram.record(ns);
    }
    assert_eq!(
        histogram.scheduled(None, 0).quantile_interval(0.99, 0.95),
        Some((983, 997))
    );
    assert_eq!(
        histogram.scheduled(None, 0).quantile_interval(0.5, 0.95),
        Some((469, 532))
    );
    assert_eq!(
        histogram.scheduled(None, 0).quantile_interval(0.999, 0.95),
        None,
        "one sample beyond it"
    );
    assert_eq!(Histogram::new().scheduled(None, 0).quantile_interval(0.5, 0.95), None);
    let mut equal = Histogram::new();
    equal.record_n(12_345_678, 100);
    assert_eq!(
        equal.scheduled(None, 0).quantile_interval(0.5, 0.95),
        Some((12_345_678, 12_345_678)),
        "within the extremes"
    );
}

/// For independent samples, the interval contains the quantile as often as stated.
#[test]
fn the_quantile_lies_in_its_interval() {
    let mut random = Random::new(11);
    // The 99 % quantile of an exponential distribution with mean 10 us.
    let truth = (10_000.0 * 100f64.ln()) as u64;
    let runs = if cfg!(debug_assertions) { 200 } else { 2_000 };
    let mut held = 0;
    let mut histogram = Histogram::new();
    for _ in 0..runs {
        histogram.reset();
        for _ in 0..2_000 {
            histogram.record((10_000.0 * random.exponential()) as u64);
        }
        let (low, high) = histogram
            .scheduled(None, 0)
            .quantile_interval(0.99, 0.9)
            .expect("supported");
        held += u32::from(low <= truth && truth <= high);
    }
    let share = f64::from(held) / f64::from(runs);
    assert!((0.85..=0.98).contains(&share), "{share}");
}

proptest! {
    /// Each end of the interval misses the quantile with at most half of the risk; the next rank inwards would miss it with more.
    #[test]
    fn ranks_are_the_narrowest(q in 0.01f64..0.99, count in 40u64..3_000, confidence in 0.5f64..0.99) {
        let risk = (1.0 - confidence) / 2.0;
        let binomial = Binomial::new(q, count).expect("a distribution");
        let Some((low, high)) = ranks(q, count, confidence) else {
            let none = binomial.cdf(0) > risk || binomial.sf(count - 1) > risk;
            prop_assert!(none, "no ranks for {q} of {count}");
            return Ok(());
        };
        prop_assert!(low < high && high <= count);
        prop_assert!(binomial.cdf(low - 1) <= risk * (1.0 + 1e-9), "low {low} misses too often");
        prop_assert!(binomial.cdf(low) > risk * (1.0 - 1e-9), "low {low} could be higher");
        prop_assert!(binomial.sf(high - 1) <= risk * (1.0 + 1e-9), "high {high} misses too often");
        prop_assert!(high < 2 || binomial.sf(high - 2) > risk * (1.0 - 1e-9), "high {high} could be lower");
    }
}
