//! Runs that differ by a known amount, and runs that do not differ. Rates are in `tests/simulation`.

use super::{
    Difference, Figure, Happened, Outcome, Pair, Rare, RareOutcome, WINDOWS_NEEDED, WindowFigures, confidences,
    highest, pairs,
};
use crate::random::Random;

/// Makes windows that resemble the window before with correlation `rho`, each higher by `more` ns.
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

/// All figures of run B against run A, at 95 % together.
fn compare(a: &[WindowFigures], b: &[WindowFigures]) -> Vec<Difference> {
    let pairs = pairs(a, b);
    let ps: Vec<Option<f64>> = pairs.iter().map(Pair::p).collect();
    let each = pairs.iter().zip(confidences(&ps, 0.95));
    each.map(|(pair, confidence)| pair.at(confidence)).collect()
}

fn of(differences: &[Difference], figure: Figure) -> Difference {
    let found = differences.iter().find(|one| one.figure == figure);
    *found.expect("every figure is compared")
}

#[test]
fn a_planted_difference_is_found_with_its_size() {
    let mut random = Random::new(21);
    let (a, b) = (run(&mut random, 200, 0.3, 0.0), run(&mut random, 200, 0.3, 5_000.0));
    let differences = compare(&a, &b);
    let mean = of(&differences, Figure::Mean);
    assert_eq!(mean.outcome, Outcome::Higher, "{mean:?}");
    assert!((mean.difference - 5_000.0).abs() < 1_000.0, "{mean:?}");
    assert!(mean.low > 0.0 && mean.low <= mean.difference && mean.difference <= mean.high);
    assert!(mean.confidence > 0.95 && mean.p < 0.0125, "{mean:?}");
    let text = mean.text("before", "after");
    assert!(
        text.contains("after's typical window mean") && text.contains("higher than before's"),
        "{text}"
    );
    assert_eq!(of(&compare(&b, &a), Figure::Mean).outcome, Outcome::Lower);
}

#[test]
fn no_difference_is_said_only_of_what_is_known_well_enough() {
    let mut random = Random::new(22);
    let (a, b) = (run(&mut random, 60, 0.3, 0.0), run(&mut random, 60, 0.3, 0.0));
    let few = of(&compare(&a, &b), Figure::WindowMax);
    assert_ne!(few.outcome, Outcome::NoDifference, "sixty windows cannot tell: {few:?}");
    let (a, b) = (run(&mut random, 9_000, 0.0, 0.0), run(&mut random, 9_000, 0.0, 0.0));
    let many = of(&compare(&a, &b), Figure::Mean);
    assert_eq!(many.outcome, Outcome::NoDifference, "{many:?}");
}

#[test]
fn too_few_windows_are_refused_in_words() {
    let mut random = Random::new(23);
    let (a, b) = (run(&mut random, 49, 0.0, 0.0), run(&mut random, 200, 0.0, 0.0));
    let refused = of(&compare(&a, &b), Figure::Mean);
    let need = WINDOWS_NEEDED;
    assert_eq!(refused.outcome, Outcome::TooFewWindows { have: 49, need });
    assert!(
        refused.text("a", "b").contains("of the 50 windows needed"),
        "{}",
        refused.text("a", "b")
    );
    let p999 = of(&compare(&a, &b), Figure::P999);
    assert!(matches!(p999.outcome, Outcome::TooFewWindows { .. }));
}

#[test]
fn runs_that_are_hardly_more_than_one_value_are_not_compared() {
    let mut random = Random::new(24);
    let (a, b) = (run(&mut random, 100, 0.98, 0.0), run(&mut random, 100, 0.98, 0.0));
    for difference in compare(&a, &b) {
        let outcome = difference.outcome;
        let refused = matches!(
            outcome,
            Outcome::TooAlike | Outcome::NotSteady | Outcome::TooFewWindows { .. }
        );
        assert!(refused, "{difference:?}");
        assert!(outcome == Outcome::TooAlike || difference.p.is_nan(), "{difference:?}");
    }
    let drifting: Vec<WindowFigures> = (0..200)
        .flat_map(|at| run(&mut random, 1, 0.0, f64::from(at) * 100.0))
        .collect();
    let steady = run(&mut random, 200, 0.0, 0.0);
    let drifts = of(&compare(&steady, &drifting), Figure::Mean);
    assert_eq!(drifts.outcome, Outcome::NotSteady);
    assert!(drifts.text("a", "b").contains("changes during one of the runs"));
}

#[test]
fn weeks_are_compared_in_seconds() {
    let mut random = Random::new(25);
    let (a, b) = (
        run(&mut random, 30_240, 0.5, 0.0),
        run(&mut random, 30_240, 0.5, 3_000.0),
    );
    let begin = std::time::Instant::now();
    assert_eq!(of(&compare(&a, &b), Figure::WindowMax).outcome, Outcome::Higher);
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}

fn rare(windows: usize, with: &[usize]) -> Rare {
    Rare {
        happened: (0..windows).map(|index| with.contains(&index)).collect(),
        maxima: vec![f64::NAN; windows],
        exposure_ns: windows as u64 * 1_000_000_000,
        total: 10 * with.len() as u64,
    }
}

#[test]
fn rates_of_rare_events_are_compared_exactly() {
    let spread: Vec<usize> = (0..20).map(|index| 17 + index * 29).collect();
    let pair = Rare::pair(Happened::Missed, &rare(600, &[]), &rare(600, &spread));
    let found = pair.at(0.95);
    assert_eq!(
        (found.outcome, found.a, found.b),
        (RareOutcome::Higher, 0, 20),
        "{found:?}"
    );
    assert!(found.ratio_low > 1.0 && found.ratio_high.is_infinite(), "{found:?}");
    let text = found.text("A", "B");
    assert!(
        text.contains("200 in 20 of 600 windows in B") && text.contains("more than chance"),
        "{text}"
    );
    let burst: Vec<usize> = (100..120).collect();
    let one_burst = Rare::pair(Happened::Missed, &rare(600, &[]), &rare(600, &burst)).at(0.95);
    assert_eq!(
        one_burst.outcome,
        RareOutcome::Undecided,
        "one burst is one event: {one_burst:?}"
    );
    let none = Rare::pair(Happened::Lost, &rare(600, &[]), &rare(600, &[]));
    assert_eq!((none.p(), none.at(0.95).outcome), (None, RareOutcome::InNeither));
}

/// The typical window is the same; the run's maximum is 450 times larger, which cannot be chance in 20 windows.
#[test]
fn a_larger_maximum_is_told_from_chance() {
    let mut random = Random::new(26);
    let mut maxima = |stalls: usize| -> Vec<f64> {
        let far = |index: usize| index % 30 == 7 && index / 30 < stalls;
        (0..600)
            .map(|index| 20_000.0 * (0.1 * random.normal()).exp() * if far(index) { 450.0 } else { 1.0 })
            .collect()
    };
    let (a, once, often) = (maxima(0), maxima(1), maxima(20));
    let one = highest(&a, &once).expect("maxima").at(0.95);
    assert!(
        one.outcome == RareOutcome::Undecided && one.b_total > 100.0 * one.a_total,
        "{one:?}"
    );
    assert!(one.text("A", "B").contains("run maximum"), "{}", one.text("A", "B"));
    let many = highest(&a, &often).expect("maxima").at(0.95);
    assert_eq!(many.outcome, RareOutcome::Higher, "{many:?}");
    assert_eq!(
        highest(&often, &a).expect("maxima").at(0.95).outcome,
        RareOutcome::Lower
    );
    assert!(highest(&a, &[]).is_none());
}
