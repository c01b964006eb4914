//! Expected values were computed with NumPy 2.4.6 and SciPy 1.17.1, `x` being [`RISING`] and `y` [`STEP`]:
//!
//! ```python
//! n, m = len(x), len(y)
//! s = sum(np.sign(x[j] - x[i]) for i in range(n) for j in range(i + 1, n))
//! t = np.unique(x, return_counts=True)[1]
//! v = (n * (n - 1) * (2 * n + 5) - np.sum(t * (t - 1) * (2 * t + 5))) / 18
//! p = 2 * norm.sf((abs(s) - 1) / np.sqrt(v))
//! slope = theilslopes(x, np.arange(n)).slope
//! u = [sum(np.sign(y[i] - y[j]) for i in range(k) for j in range(k, m)) for k in range(1, m)]
//! at, k = np.argmax(np.abs(u)) + 1, max(np.abs(u))
//! t = np.unique(y, return_counts=True)[1]
//! q = 2 * np.exp(-6 * k**2 / ((m**3 + m**2) * (1 - np.sum(t**3 - t) / (m**3 - m))))
//! ```

use super::{MannKendall, Pettitt, Steadiness, check, trend};
use crate::random::Random;
use proptest::collection::vec;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

const RISING: [f64; 20] = [
    21.0, 24.0, 19.0, 22.0, 27.0, 25.0, 25.0, 30.0, 22.0, 28.0, 26.0, 31.0, 24.0, 33.0, 29.0, 30.0, 27.0, 35.0, 31.0,
    34.0,
];

const STEP: [f64; 22] = [
    10.0, 12.0, 11.0, 13.0, 9.0, 10.0, 12.0, 11.0, 10.0, 13.0, 20.0, 22.0, 19.0, 21.0, 23.0, 20.0, 18.0, 22.0, 21.0,
    20.0, 19.0, 24.0,
];

/// Number of simulated runs per rate; more runs if they are cheap.
const RUNS: u32 = if cfg!(debug_assertions) { 100 } else { 1_000 };

/// Makes values that each resemble the one before, with this correlation.
fn resembling(random: &mut Random, count: usize, correlation: f64) -> Vec<f64> {
    let mut value = random.normal();
    let fresh = (1.0 - correlation * correlation).sqrt();
    (0..count)
        .map(|_| {
            value = correlation * value + fresh * random.normal();
            20_000.0 * (0.3 * value).exp()
        })
        .collect()
}

fn noise(count: usize, seed: u64) -> Vec<f64> {
    resembling(&mut Random::new(seed), count, 0.0)
}

#[test]
fn mann_kendall_and_theil_sen_agree_with_scipy() {
    let test = MannKendall::of(&RISING);
    assert_eq!((test.score, test.variance), (114, 944.0));
    assert!(
        (test.p(1.0) / 0.00023522043466888266 - 1.0).abs() < 1e-9,
        "{}",
        test.p(1.0)
    );
    assert!((trend::trend(&RISING, 1).slope_per_window - 0.6).abs() < 1e-12);
    assert!((trend::trend(&RISING, 10).slope_per_window - 0.06).abs() < 1e-12);
}

#[test]
fn pettitt_agrees_with_its_definition() {
    let change = Pettitt::of(&STEP);
    assert_eq!((change.at, change.statistic), (10, 120.0));
    assert!(
        (change.p(1.0) - 0.000800635104837424).abs() < 1e-15,
        "{}",
        change.p(1.0)
    );
}

#[test]
fn a_rise_is_told_from_a_step() {
    let rising: Vec<f64> = noise(200, 1)
        .iter()
        .enumerate()
        .map(|(i, v)| v + 200.0 * i as f64)
        .collect();
    let check_rising = check(&rising);
    assert_eq!(check_rising.verdict, Steadiness::Trend);
    assert!(
        (check_rising.trend.slope_per_window - 200.0).abs() < 20.0,
        "{check_rising:?}"
    );
    let text = check_rising.text();
    assert!(
        text.starts_with("not steady: rises by ") && text.contains("over 200 windows"),
        "{text}"
    );
    let falling: Vec<f64> = rising.iter().rev().copied().collect();
    assert!(check(&falling).text().starts_with("not steady: falls by "));

    let step: Vec<f64> = noise(200, 2)
        .iter()
        .enumerate()
        .map(|(i, v)| if i < 140 { *v } else { v + 30_000.0 })
        .collect();
    let check_step = check(&step);
    assert_eq!(check_step.verdict, Steadiness::Shift);
    assert!(check_step.shift.at_window.abs_diff(140) <= 3, "{check_step:?}");
    assert!(
        (check_step.shift.after - check_step.shift.before - 30_000.0).abs() < 3_000.0,
        "{check_step:?}"
    );
    let text = check_step.text();
    assert!(
        text.starts_with("not steady: from window 14") && text.contains("below 0.001"),
        "{text}"
    );
}

#[test]
fn steady_windows_are_called_steady() {
    let steady = check(&noise(500, 3));
    assert_eq!(
        (steady.verdict, steady.windows, steady.group),
        (Steadiness::Steady, 500, 1)
    );
    assert!(
        steady.text().starts_with("steady over 500 windows (trend p = 0."),
        "{}",
        steady.text()
    );
    let equal = check(&[7.0; 40]);
    assert_eq!(
        (equal.verdict, equal.trend.p, equal.shift.p),
        (Steadiness::Steady, 1.0, 1.0)
    );
    assert_eq!((equal.autocorrelation, equal.trend.slope_per_window), (0.0, 0.0));
}

#[test]
fn too_few_windows_say_nothing() {
    let mut values = noise(19, 4);
    values.extend([f64::NAN, f64::INFINITY]);
    let short = check(&values);
    assert_eq!((short.verdict, short.windows), (Steadiness::TooShort, 19));
    assert!(short.trend.p.is_nan() && short.shift.p.is_nan() && short.autocorrelation.is_nan());
    assert!(short.text().contains("19 of the 20 windows needed"), "{}", short.text());
    assert_eq!(check(&[]).verdict, Steadiness::TooShort);
    values.push(20_000.0);
    assert_ne!(check(&values).verdict, Steadiness::TooShort, "gaps are left out");
}

#[test]
fn a_week_of_windows_is_looked_at_in_groups() {
    let mut random = Random::new(5);
    let begin = std::time::Instant::now();
    let mut week = resembling(&mut random, 600_000, 0.2);
    let steady = check(&week);
    assert_eq!(
        (steady.windows, steady.group, steady.verdict),
        (600_000, 600, Steadiness::Steady)
    );
    assert!(steady.text().contains("means of 600 windows"), "{}", steady.text());
    // One window in fifty is late after the middle of the week: the median of a group does not change, but its mean does.
    for value in week[300_000..].iter_mut().step_by(50) {
        *value += 100_000.0;
    }
    let changed = check(&week);
    assert_eq!(changed.verdict, Steadiness::Shift);
    assert!(changed.shift.at_window.abs_diff(300_000) <= 6_000, "{changed:?}");
    assert!(begin.elapsed().as_secs() < 10, "{:?}", begin.elapsed());
}

/// Rate at which a run without change is called unsteady: two tests at 1 % each, also if windows resemble each other. If they are
/// independent, the run is called steady.
#[test]
fn steady_runs_are_seldom_called_unsteady() {
    let mut random = Random::new(6);
    for (windows, correlation, most) in [(60, 0.0, 0.02), (100, 0.6, 0.02), (400, 0.6, 0.02)] {
        let unsteady = (0..RUNS)
            .filter(|_| {
                let verdict = check(&resembling(&mut random, windows, correlation)).verdict;
                matches!(verdict, Steadiness::Trend | Steadiness::Shift)
                    || (correlation == 0.0 && verdict != Steadiness::Steady)
            })
            .count() as f64;
        // Three standard errors of the count.
        let expected = most * f64::from(RUNS);
        let limit = expected + 3.0 * expected.sqrt();
        assert!(
            unsteady <= limit,
            "{windows} windows, correlation {correlation}: {unsteady} of {RUNS}"
        );
    }
}

/// Without the correction, windows that resemble their neighbours look like a trend in one of six runs.
#[test]
fn resemblance_alone_is_no_trend() {
    let mut random = Random::new(8);
    let (mut corrected, mut plain) = (0, 0);
    for _ in 0..RUNS {
        let values = resembling(&mut random, 200, 0.6);
        plain += u32::from(MannKendall::of(&values).p(1.0) < 0.01);
        corrected += u32::from(trend::trend(&values, 1).p < 0.01);
    }
    assert!(
        plain > RUNS / 10 && corrected < RUNS / 20,
        "{corrected} and {plain} of {RUNS}"
    );
}

/// A change of two standard deviations over 200 windows is seen.
#[test]
fn changes_are_seen() {
    let mut random = Random::new(7);
    let seen = (0..RUNS)
        .filter(|_| {
            let mut values = resembling(&mut random, 200, 0.3);
            values[100..].iter_mut().for_each(|value| *value *= 1.85);
            matches!(check(&values).verdict, Steadiness::Trend | Steadiness::Shift)
        })
        .count() as f64;
    assert!(seen > 0.6 * f64::from(RUNS), "{seen} of {RUNS}");
}

proptest! {
    #[test]
    fn figures_stay_in_their_range(values in vec(0.0f64..10.0, 0..80), coarse in 0u8..2) {
        let values: Vec<f64> = values.iter().map(|v| if coarse == 1 { v.round() } else { *v }).collect();
        let result = check(&values);
        prop_assert!(!result.text().is_empty());
        if result.verdict != Steadiness::TooShort {
            prop_assert!((0.0..=1.0).contains(&result.trend.p) && (0.0..=1.0).contains(&result.shift.p));
            prop_assert!((-1.0..=1.0).contains(&result.autocorrelation));
            prop_assert!(result.shift.at_window < values.len());
        }
    }

    #[test]
    fn the_score_is_that_of_all_pairs(values in vec(0u8..12, 2..60)) {
        let values: Vec<f64> = values.into_iter().map(f64::from).collect();
        let pairs: i64 = (0..values.len())
            .flat_map(|i| (i + 1..values.len()).map(move |j| (i, j)))
            .map(|(i, j)| i64::from(values[j] > values[i]) - i64::from(values[j] < values[i]))
            .sum();
        prop_assert_eq!(MannKendall::of(&values).score, pairs);
    }
}
