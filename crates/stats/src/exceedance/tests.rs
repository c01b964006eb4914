//! Expected values were computed with SciPy 1.17.1: `scipy.stats.beta.ppf(c, k + 1, n - k)` for upper bounds,
//! `beta.ppf((1 - c) / 2, k, n - k + 1)` for lower ones, `chi2.ppf(c, 2 * (k + 1)) / 2` for Poisson means. Those with
//! 6.05e9 and 2.16e9 samples and up to seven events were confirmed with mpmath at 40 digits from the binomial sum.

use super::{interval, rate_lower_bound, rate_upper_bound, upper_bound};
use proptest::prelude::{prop_assert, proptest};
use statrs::function::beta::beta_reg;
use statrs::function::gamma::gamma_ur;

fn assert_close(value: f64, expected: f64, relative: f64, what: &str) {
    assert!(
        (value - expected).abs() <= relative * expected.abs(),
        "{what}: {value:e}, expected {expected:e}"
    );
}

#[test]
fn upper_bounds_agree_with_scipy() {
    for (over, n, confidence, expected) in [
        (0, 10, 0.95, 0.2588655508930522),
        (0, 6_050_000_000, 0.95, 4.951623591425294e-10),
        (1, 10, 0.95, 0.39416330243650466),
        (5, 10, 0.95, 0.7775588989918706),
        (9, 10, 0.95, 0.9948838031081763),
        (3, 1_000, 0.95, 0.007735244718479458),
        (1, 6_050_000_000, 0.95, 7.841098375078972e-10),
        (3, 6_050_000_000, 0.99, 1.660350001484783e-9),
        (7, 2_160_000_000, 0.95, 6.087089714685213e-9),
        (1_000, 6_050_000_000, 0.95, 1.7414927561418647e-7),
        (250, 500, 0.95, 0.5377076903470536),
        (123_456, 1_000_000, 0.95, 0.12399839637931603),
    ] {
        let bound = upper_bound(over, n, confidence);
        assert_close(bound, expected, 1e-12, &format!("{over} of {n} at {confidence}"));
    }
}

#[test]
fn intervals_agree_with_scipy() {
    for (over, n, confidence, low, high) in [
        (0, 10, 0.95, 0.0, 0.3084971078187607),
        (10, 10, 0.95, 0.6915028921812392, 1.0),
        (5, 10, 0.95, 0.18708602844739855, 0.8129139715526015),
        (1, 100, 0.95, 0.00025314603297742086, 0.054459385392080645),
        (3, 6_050_000_000, 0.95, 1.0225985503574032e-10, 1.4491360438948092e-9),
        (200, 6_050_000_000, 0.99, 2.7347334814968267e-8, 3.956928556557688e-8),
        (999_999, 1_000_000, 0.95, 0.9999944283693448, 0.9999999746821924),
    ] {
        let (lower, upper) = interval(over, n, confidence);
        let what = format!("{over} of {n} at {confidence}");
        assert_close(lower, low, 1e-12, &what);
        assert_close(upper, high, 1e-12, &what);
    }
}

#[test]
fn poisson_bounds_agree_with_scipy() {
    for (events, at_95, at_99) in [
        (0, 2.9957322735539895, 4.60517018598809),
        (1, 4.743864518390577, 6.638352067993811),
        (2, 6.295793621871988, 8.405946914885464),
        (3, 7.753656527932725, 10.045117514831617),
        (10, 16.962219235721903, 20.144680218796932),
        (1_000, 1053.6031221333008, 1076.069607438308),
        (1_000_000, 1001646.4227676168, 1002328.8195659316),
    ] {
        let second = 1_000_000_000;
        assert_close(
            rate_upper_bound(events, second, 0.95),
            at_95,
            1e-12,
            &format!("{events} events at 95 %"),
        );
        assert_close(
            rate_upper_bound(events, second, 0.99),
            at_99,
            1e-12,
            &format!("{events} events at 99 %"),
        );
    }
}

/// `chi2.ppf(1 - c, 2 * k) / 2`.
#[test]
fn lower_poisson_bounds_agree_with_scipy() {
    assert_eq!(rate_lower_bound(0, 1_000_000_000, 0.95), 0.0);
    for (events, at_95, at_99) in [
        (1, 0.05129329438755053, 0.010050335853501437),
        (2, 0.35536151069866195, 0.14855474025326595),
        (3, 0.8176914471639534, 0.43604516507829316),
        (10, 5.425405697091295, 4.1301991662732),
        (50, 38.96473258250863, 35.03244746269989),
        (1_000, 948.5598493836511, 927.9081597966425),
        (1_000_000, 998355.7150837178, 997675.1228599253),
    ] {
        for (confidence, expected) in [(0.95, at_95), (0.99, at_99)] {
            let bound = rate_lower_bound(events, 1_000_000_000, confidence);
            assert_close(bound, expected, 1e-12, &format!("{events} events at {confidence}"));
        }
    }
}

#[test]
fn rates_are_per_second_of_exposure() {
    let day_ns = 86_400_000_000_000;
    assert_close(
        rate_upper_bound(0, 7 * day_ns, 0.95) * 86_400.0,
        0.428,
        1e-3,
        "no event in seven days, per day",
    );
    assert_close(
        rate_upper_bound(0, 20_000_000_000, 0.95),
        0.15,
        2e-3,
        "no event in 20 s",
    );
}

#[test]
fn what_proves_nothing_bounds_nothing() {
    assert_eq!(upper_bound(0, 0, 0.95), 1.0);
    assert_eq!(upper_bound(7, 7, 0.95), 1.0);
    assert_eq!(upper_bound(8, 7, 0.95), 1.0);
    assert_eq!(interval(0, 0, 0.95), (0.0, 1.0));
    assert_eq!(interval(8, 7, 0.95), (0.0, 1.0));
    assert_eq!(rate_upper_bound(0, 0, 0.95), f64::INFINITY);
    for confidence in [0.0, 1.0, -0.5, 95.0, f64::NAN] {
        assert_eq!(upper_bound(0, 1_000, confidence), 1.0, "{confidence}");
        assert_eq!(interval(1, 1_000, confidence), (0.0, 1.0), "{confidence}");
        assert_eq!(rate_upper_bound(0, 1_000, confidence), f64::INFINITY, "{confidence}");
        assert_eq!(rate_lower_bound(9, 1_000, confidence), 0.0, "{confidence}");
    }
}

#[test]
fn large_counts_are_answered_soon() {
    let begin = std::time::Instant::now();
    let (low, high) = interval(3_000_000_000, 6_050_000_000, 0.95);
    assert!(low < 3.0 / 6.05 && 3.0 / 6.05 < high && high - low < 1e-4);
    let rate = rate_upper_bound(1_000_000_000, 1_000_000_000, 0.95);
    assert!(rate > 1e9 && rate < 1.0001e9, "{rate}");
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}

proptest! {
    /// The bound solves its own equation, by an independent implementation of the incomplete beta function (which is good
    /// enough for small n only).
    #[test]
    fn the_bound_solves_its_equation(n in 2u64..400, share in 0.0f64..1.0, confidence in 0.5f64..0.999) {
        let over = (share * (n - 1) as f64) as u64;
        let p = upper_bound(over, n, confidence);
        let at_most = 1.0 - beta_reg(over as f64 + 1.0, (n - over) as f64, p);
        prop_assert!((at_most - (1.0 - confidence)).abs() < 1e-9, "{over} of {n}: {at_most}");
    }

    #[test]
    fn the_rate_solves_its_equation(events in 0u64..100, confidence in 0.5f64..0.999) {
        let mean = rate_upper_bound(events, 1_000_000_000, confidence);
        let at_most = gamma_ur(events as f64 + 1.0, mean);
        prop_assert!((at_most - (1.0 - confidence)).abs() < 1e-9, "{events}: {at_most}");
    }

    #[test]
    fn more_events_and_more_confidence_bound_less(n in 3u64..10_000_000_000, share in 0.0f64..1.0, c in 0.5f64..0.99) {
        let over = ((share * 1_000.0) as u64).min(n - 2);
        let bound = upper_bound(over, n, c);
        prop_assert!(bound > over as f64 / n as f64 && bound <= 1.0);
        prop_assert!(upper_bound(over + 1, n, c) > bound);
        prop_assert!(upper_bound(over, n, c + 0.005) > bound);
        prop_assert!(upper_bound(over, n + n / 2, c) < bound);
        let (low, high) = interval(over, n, c);
        prop_assert!(low <= over as f64 / n as f64 && high >= bound);
    }
}
