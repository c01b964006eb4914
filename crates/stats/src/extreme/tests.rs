//! Return levels of data whose true level is known, and of data that support none.

use super::{Gev, NoLevel, return_level_of_maxima};
use crate::random::Random;

/// Number of simulated runs for a coverage rate.
const RUNS: usize = if cfg!(debug_assertions) { 20 } else { 100 };

const TRUE: Gev = Gev {
    location: 20_000.0,
    scale: 3_000.0,
    shape: 0.1,
};

fn maxima(random: &mut Random, count: usize) -> Vec<f64> {
    (0..count).map(|_| TRUE.draw(random)).collect()
}

fn refusal(maxima: &[f64], blocks_ahead: f64) -> NoLevel {
    match return_level_of_maxima(maxima, blocks_ahead, 0.95) {
        Err(refusal) => refusal,
        Ok(level) => panic!("not refused: {level:?}"),
    }
}

/// The interval should contain the true level in 95 % of the runs. With so few runs that is checked to three standard errors.
/// Refused runs (5 % of fits are called bad) are left out, and there must be few of them.
#[test]
fn the_interval_of_block_maxima_holds_the_true_level() {
    let mut random = Random::new(11);
    let (mut given, mut held) = (0_u32, 0_u32);
    let truth = TRUE.return_level(1_000.0);
    for _ in 0..RUNS {
        if let Ok(level) = return_level_of_maxima(&maxima(&mut random, 200), 1_000.0, 0.95) {
            assert!(
                level.low_ns <= level.level_ns && level.level_ns <= level.high_ns,
                "{level:?}"
            );
            given += 1;
            held += u32::from((level.low_ns..=level.high_ns).contains(&truth));
        }
    }
    assert!(given as usize * 10 >= RUNS * 7, "only {given} of {RUNS} were given");
    let (given, held) = (f64::from(given), f64::from(held));
    let least = 0.95 * given - 3.0 * (given * 0.95 * 0.05).sqrt() - 1.0;
    assert!(held >= least, "{held} of {given} hold {truth:.0}");
}

#[test]
fn the_level_of_many_blocks_is_near_the_true_one() {
    let mut random = Random::new(12);
    let level = return_level_of_maxima(&maxima(&mut random, 1_500), 15_000.0, 0.95).expect("supported");
    let truth = TRUE.return_level(15_000.0);
    assert!(
        (level.level_ns / truth - 1.0).abs() < 0.25,
        "{} against {truth}",
        level.level_ns
    );
    assert!((level.shape - TRUE.shape).abs() < 0.1, "{level:?}");
    assert!(level.fit_p > 0.05);
    let again = return_level_of_maxima(&maxima(&mut Random::new(12), 1_500), 15_000.0, 0.95).expect("supported");
    assert_eq!(
        again.level_ns.to_bits(),
        level.level_ns.to_bits(),
        "equal data give equal figures"
    );
}

#[test]
fn what_the_data_do_not_support_is_refused_with_a_reason() {
    let mut random = Random::new(14);
    let good = maxima(&mut random, 200);
    assert!(matches!(
        refusal(&good[..49], 100.0),
        NoLevel::TooFewBlocks { have: 49, need: 50 }
    ));
    assert!(matches!(refusal(&good, 5_000.0), NoLevel::TooFar { .. }));
    let rising: Vec<f64> = good
        .iter()
        .enumerate()
        .map(|(at, value)| value + 300.0 * at as f64)
        .collect();
    assert!(matches!(refusal(&rising, 400.0), NoLevel::NotSteady(_)));
    // Maxima as on shared machines: most near 20 us, every tenth near 8 ms.
    let mixed: Vec<f64> = good
        .iter()
        .map(|value| {
            if random.unit() < 0.1 {
                8e6 + 1e5 * random.normal()
            } else {
                *value
            }
        })
        .collect();
    let refused = refusal(&mixed, 400.0);
    assert!(
        matches!(refused, NoLevel::Bimodal { .. } | NoLevel::BadFit { .. }),
        "{refused}"
    );
    for refused in [refusal(&[20_000.0; 100], 200.0), refused, refusal(&good, 5_000.0)] {
        let text = refused.to_string();
        assert!(text.len() > 20, "{text}");
    }
}
