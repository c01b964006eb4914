//! Runs that differ by a known amount, and runs that do not differ.

use super::{Difference, Figure, Outcome, WindowFigures, compare};
use crate::random::Random;

/// Simulated pairs of runs for a rate.
const PAIRS: u32 = if cfg!(debug_assertions) { 40 } else { 300 };

/// Windows that resemble the one before with correlation `rho`, each higher by `more` ns.
fn run(random: &mut Random, windows: usize, rho: f64, more: f64) -> Vec<WindowFigures> {
    let mut state = random.normal();
    (0..windows)
        .map(|_| {
            state = rho * state + (1.0 - rho * rho).sqrt() * random.normal();
            let value = 20_000.0 * (0.1 * state).exp() + more;
            WindowFigures {
                count: 1_000,
                mean: value,
                p50: 0.9 * value,
                p99: 2.0 * value,
                p999: None,
                max: 5.0 * value,
            }
        })
        .collect()
}

fn of(differences: &[Difference], figure: Figure) -> Difference {
    *differences
        .iter()
        .find(|one| one.figure == figure)
        .expect("every figure is compared")
}

#[test]
fn a_planted_difference_is_found_with_its_size() {
    let mut random = Random::new(21);
    let (a, b) = (run(&mut random, 120, 0.3, 0.0), run(&mut random, 120, 0.3, 5_000.0));
    let differences = compare(&a, &b, 0.95);
    let median = of(&differences, Figure::Mean);
    assert_eq!(median.outcome, Outcome::Higher);
    assert!((median.difference - 5_000.0).abs() < 1_000.0, "{median:?}");
    assert!(median.low > 0.0 && median.low <= median.difference && median.difference <= median.high);
    let text = median.text("before", "after");
    assert!(
        text.contains("after's") && text.contains("higher than before's") && text.contains("95 %"),
        "{text}"
    );
    assert_eq!(of(&compare(&b, &a, 0.95), Figure::Mean).outcome, Outcome::Lower);
}

#[test]
fn no_difference_is_said_only_of_what_is_known_well_enough() {
    let mut random = Random::new(22);
    let (a, b) = (run(&mut random, 12, 0.3, 0.0), run(&mut random, 12, 0.3, 0.0));
    let few = of(&compare(&a, &b, 0.95), Figure::WindowMax);
    assert_ne!(
        few.outcome,
        Outcome::NoDifference,
        "twelve windows cannot tell: {few:?}"
    );
    let (a, b) = (run(&mut random, 4_000, 0.0, 0.0), run(&mut random, 4_000, 0.0, 0.0));
    let many = of(&compare(&a, &b, 0.95), Figure::Mean);
    assert_eq!(many.outcome, Outcome::NoDifference, "{many:?}");
}

#[test]
fn too_few_windows_are_refused_in_words() {
    let mut random = Random::new(23);
    let (a, b) = (run(&mut random, 9, 0.0, 0.0), run(&mut random, 200, 0.0, 0.0));
    let refused = of(&compare(&a, &b, 0.95), Figure::Mean);
    assert_eq!(refused.outcome, Outcome::TooFewWindows { have: 9, need: 10 });
    assert!(
        refused.text("a", "b").contains("of the 10 windows it takes"),
        "{}",
        refused.text("a", "b")
    );
    assert!(matches!(
        of(&compare(&a, &b, 0.95), Figure::P999).outcome,
        Outcome::TooFewWindows { .. }
    ));
}

/// Of equal runs, 5 % may be called different; burstiness must not raise that much. Checked to three standard errors.
#[test]
fn equal_runs_are_seldom_called_different() {
    let mut random = Random::new(24);
    for (windows, rho, most) in [(50, 0.0, 0.07), (200, 0.5, 0.09)] {
        let wrong = (0..PAIRS)
            .filter(|_| {
                let (a, b) = (run(&mut random, windows, rho, 0.0), run(&mut random, windows, rho, 0.0));
                let outcome = of(&compare(&a, &b, 0.95), Figure::WindowMax).outcome;
                matches!(outcome, Outcome::Higher | Outcome::Lower)
            })
            .count() as f64;
        let expected = most * f64::from(PAIRS);
        assert!(
            wrong <= expected + 3.0 * expected.sqrt(),
            "{windows} windows, {rho}: {wrong} of {PAIRS}"
        );
    }
}

#[test]
fn weeks_are_compared_in_seconds() {
    let mut random = Random::new(25);
    let (a, b) = (
        run(&mut random, 30_240, 0.5, 0.0),
        run(&mut random, 30_240, 0.5, 3_000.0),
    );
    let begin = std::time::Instant::now();
    assert_eq!(of(&compare(&a, &b, 0.95), Figure::WindowMax).outcome, Outcome::Higher);
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}
