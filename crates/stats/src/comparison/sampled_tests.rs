//! Short runs, compared by their samples.

use super::{Assumed, BySamples, Figure, Outcome, WindowFigures, by_samples};
use crate::Histogram;
use crate::random::Random;

/// Makes a run of windows with so many samples each. Each window is higher or lower by chance, and all samples are `times` as high.
fn run(random: &mut Random, windows: usize, samples: usize, times: f64) -> (Histogram, Vec<WindowFigures>) {
    let mut all = Histogram::new();
    let figures = (0..windows).map(|_| {
        let level = 20_000.0 * times * (0.05 * random.normal()).exp();
        let mut window = Histogram::new();
        for _ in 0..samples {
            window.record((level * (0.2 * random.normal()).exp()) as u64);
        }
        all.merge(&window);
        let quantile = |q: f64| {
            window
                .quantile(q)
                .filter(|_| window.supports(q))
                .map_or(f64::NAN, |ns| ns as f64)
        };
        WindowFigures {
            count: samples as u64,
            mean: window.mean().unwrap_or(f64::NAN),
            p50: quantile(0.5),
            p99: quantile(0.99),
            p999: None,
            max: window.max().map_or(f64::NAN, |ns| ns as f64),
        }
    });
    let figures = figures.collect();
    (all, figures)
}

type Run = (Histogram, Vec<WindowFigures>);

fn compared(a: &Run, b: &Run, confidence: f64) -> Vec<BySamples> {
    let pairs = by_samples((&a.0, &a.1), (&b.0, &b.1));
    pairs.iter().map(|pair| pair.at(confidence)).collect()
}

fn of(all: &[BySamples], figure: Figure) -> Option<BySamples> {
    all.iter().find(|one| one.difference.figure == figure).copied()
}

#[test]
fn a_difference_of_short_runs_is_found_and_says_what_it_assumes() {
    let mut random = Random::new(31);
    let (a, b) = (run(&mut random, 14, 1_000, 1.0), run(&mut random, 14, 1_000, 2.0));
    let median = of(&compared(&a, &b, 0.99), Figure::Median).expect("a median");
    assert_eq!(
        (median.difference.outcome, median.assumed),
        (Outcome::Higher, Assumed::Windows),
        "{median:?}"
    );
    assert!((median.difference.difference - 20_000.0).abs() < 2_000.0, "{median:?}");
    let text = median.text("A", "B");
    assert!(
        text.starts_with("not sure: B's typical window median is ")
            && text.ends_with("except for the correlation of neighbours"),
        "{text}"
    );
    let back = of(&compared(&b, &a, 0.99), Figure::Median).expect("a median");
    assert_eq!(back.difference.outcome, Outcome::Lower);
}

/// Two runs of few windows differ by more than the samples within a window: the windows decide, not their samples.
#[test]
fn windows_that_lie_apart_make_the_interval_wide() {
    let mut random = Random::new(32);
    let (a, b) = (run(&mut random, 8, 20_000, 1.0), run(&mut random, 8, 20_000, 1.03));
    let of_windows = of(&compared(&a, &b, 0.95), Figure::Median).expect("a median");
    assert_eq!(of_windows.difference.outcome, Outcome::Undecided, "{of_windows:?}");
    let one = |run: &Run| (run.0.clone(), run.1[..1].to_vec());
    let of_samples = of(&compared(&one(&a), &one(&b), 0.95), Figure::Median).expect("a median");
    assert_eq!(of_samples.assumed, Assumed::Samples);
    let width = |one: &BySamples| one.difference.high - one.difference.low;
    assert!(
        width(&of_windows) > 5.0 * width(&of_samples),
        "{of_windows:?} {of_samples:?}"
    );
}

#[test]
fn a_figure_that_too_few_samples_or_windows_have_is_not_compared() {
    let mut random = Random::new(33);
    let (a, b) = (run(&mut random, 14, 1_000, 1.0), run(&mut random, 14, 1_000, 1.0));
    assert!(of(&compared(&a, &b, 0.95), Figure::P999).is_none(), "no window has it");
    let (few, others) = (run(&mut random, 1, 5, 1.0), run(&mut random, 1, 500, 1.0));
    assert!(compared(&few, &others, 0.95).is_empty());
    let (long, longer) = (run(&mut random, 60, 1_000, 1.0), run(&mut random, 60, 1_000, 1.2));
    assert!(compared(&long, &longer, 0.95).is_empty(), "its windows are compared");
}

/// Twelve trips of two relays, a second apart.
#[test]
fn single_samples_far_apart_are_compared_by_their_ranks() {
    let mut random = Random::new(34);
    let (a, b) = (run(&mut random, 12, 1, 1.0), run(&mut random, 12, 1, 3.0));
    let median = of(&compared(&a, &b, 0.95), Figure::Median).expect("a median");
    assert_eq!(
        (median.difference.outcome, median.assumed),
        (Outcome::Higher, Assumed::Samples),
        "{median:?}"
    );
    let too_sure = of(&compared(&a, &b, 0.999_99), Figure::Median).expect("a median");
    assert_eq!(too_sure.difference.outcome, Outcome::Undecided, "{too_sure:?}");
    assert!(
        too_sure.text("A", "B").contains("too few for"),
        "{}",
        too_sure.text("A", "B")
    );
}

#[test]
fn a_run_that_drifts_is_not_compared() {
    let mut random = Random::new(35);
    let mut drifting = run(&mut random, 0, 1, 1.0);
    for at in 0..40 {
        let (samples, windows) = run(&mut random, 1, 1_000, 1.0 + 0.1 * f64::from(at));
        drifting.0.merge(&samples);
        drifting.1.extend(windows);
    }
    let steady = run(&mut random, 40, 1_000, 1.0);
    assert!(compared(&steady, &drifting, 0.95).is_empty());
}
