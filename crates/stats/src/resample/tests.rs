use super::{WindowShare, block_length, blocks, percentiles, quantile_interval, widening};
use crate::Histogram;
use crate::random::Random;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

/// Runs simulated for a rate of coverage.
const RUNS: usize = if cfg!(debug_assertions) { 60 } else { 400 };

/// A run: its histogram, and the share of each window above its 99 % quantile.
fn run(windows: &[Histogram], q: f64) -> (Histogram, Vec<WindowShare>) {
    let mut whole = Histogram::new();
    for window in windows {
        whole.merge(window);
    }
    let value = whole.quantile(q).expect("samples");
    let shares = windows
        .iter()
        .map(|window| WindowShare {
            samples: window.count(),
            above: window.count_above(value),
        })
        .collect();
    (whole, shares)
}

#[test]
fn the_same_run_gives_the_same_interval() {
    let mut random = Random::new(1);
    let windows = bursty(&mut random, 30);
    let (whole, shares) = run(&windows, 0.99);
    let first = quantile_interval(&whole, &shares, 0.99, 0.95).expect("an interval");
    assert_eq!(quantile_interval(&whole, &shares, 0.99, 0.95), Some(first));
    let quantile = whole.quantile(0.99).expect("samples");
    assert!(
        first.0 <= quantile && quantile <= first.1,
        "{first:?} around {quantile}"
    );
    let surer = quantile_interval(&whole, &shares, 0.99, 0.999).expect("an interval");
    assert!(surer.0 <= first.0 && surer.1 >= first.1, "{surer:?} around {first:?}");
}

#[test]
fn what_is_not_supported_has_no_interval() {
    let mut random = Random::new(2);
    let windows = bursty(&mut random, 30);
    let (whole, shares) = run(&windows, 0.99);
    assert_eq!(
        quantile_interval(&whole, &shares, 0.99999, 0.95),
        None,
        "too few samples beyond"
    );
    assert_eq!(
        quantile_interval(&whole, &shares[..9], 0.99, 0.95),
        None,
        "too few windows"
    );
    assert_eq!(quantile_interval(&whole, &shares, 0.99, 1.0), None, "no confidence");
    let empty = [WindowShare { samples: 0, above: 0 }; 20];
    assert_eq!(
        quantile_interval(&whole, &empty, 0.99, 0.95),
        None,
        "no samples in the windows"
    );
}

/// Windows of 200 samples. In one of five, the samples are three times as late: samples of one window depend on each other.
fn bursty(random: &mut Random, count: usize) -> Vec<Histogram> {
    (0..count)
        .map(|_| {
            let factor = if random.below(5) == 0 { 3.0 } else { 1.0 };
            let mut window = Histogram::new();
            for _ in 0..200 {
                window.record((factor * 10_000.0 * (1.0 + random.exponential())) as u64);
            }
            window
        })
        .collect()
}

/// The interval over windows holds the true 90 % quantile about as often as it says, where the one for independent samples
/// holds it far less often.
#[test]
fn windows_tell_how_sure_a_quantile_is() {
    let mut random = Random::new(3);
    // Where 0.8 exp(1 - x) + 0.2 exp(1 - x / 3) is 0.1, x in units of 10 us; by scipy.optimize.brentq, SciPy 1.17.1.
    let truth = 53_922;
    let (mut by_windows, mut by_samples) = (0, 0);
    for _ in 0..RUNS {
        let (whole, shares) = run(&bursty(&mut random, 60), 0.9);
        let holds = |interval: Option<(u64, u64)>| interval.is_some_and(|(low, high)| low <= truth && truth <= high);
        by_windows += usize::from(holds(quantile_interval(&whole, &shares, 0.9, 0.9)));
        by_samples += usize::from(holds(whole.quantile_interval(0.9, 0.9)));
    }
    let share = |count: usize| count as f64 / RUNS as f64;
    assert!(share(by_windows) > 0.8, "windows: {}", share(by_windows));
    assert!(share(by_samples) < 0.6, "samples: {}", share(by_samples));
}

#[test]
fn block_lengths() {
    let mut random = Random::new(4);
    let independent: Vec<f64> = (0..1_000).map(|_| random.normal()).collect();
    assert_eq!(block_length(&independent), 10);
    let mut value = 0.0;
    let resembling: Vec<f64> = (0..1_000)
        .map(|_| {
            value = 0.9 * value + random.normal();
            value
        })
        .collect();
    // (6 * 0.81 / 0.19^2)^(1/3) = 5.1 times as long.
    let length = block_length(&resembling);
    assert!((35..=70).contains(&length), "{length}");
    assert_eq!((block_length(&[1.0; 10]), block_length(&[])), (2, 1));
}

/// `scipy.stats.t.ppf(0.975, 4) / scipy.stats.norm.ppf(0.975)` and `t.ppf(0.995, 99) / norm.ppf(0.995)`, SciPy 1.17.1.
#[test]
fn few_blocks_widen_the_interval() {
    assert!(
        (widening(5.0, 0.95) - 1.4165796550845007).abs() < 1e-6,
        "{}",
        widening(5.0, 0.95)
    );
    assert!(
        (widening(100.0, 0.99) - 1.0196349011412535).abs() < 1e-6,
        "{}",
        widening(100.0, 0.99)
    );
}

#[test]
fn percentiles_are_rounded_outwards() {
    let mut values: Vec<f64> = (1..=199).map(f64::from).collect();
    assert_eq!(percentiles(&mut values, 0.95), (5.0, 195.0));
    assert_eq!(percentiles(&mut values, 0.9999), (1.0, 199.0));
    assert_eq!(percentiles(&mut [3.0], 0.95), (3.0, 3.0));
}

proptest! {
    #[test]
    fn blocks_make_up_the_whole(n in 1usize..300, length in 0usize..400, seed in 0u64..100) {
        let mut random = Random::new(seed);
        let drawn: Vec<(usize, usize)> = blocks(&mut random, n, length).collect();
        prop_assert_eq!(drawn.iter().map(|(_, length)| length).sum::<usize>(), n);
        prop_assert!(drawn.iter().all(|(start, block)| *start < n && *block >= 1 && *block <= length.max(1)));
    }
}
