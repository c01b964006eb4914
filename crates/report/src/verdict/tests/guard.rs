//! Decisions near a limit: simple and guarded acceptance.

use super::{SAMPLES, profile};
use crate::limits::{Guard, Profile, Quantity, Rule};
use crate::verdict::{Check, Judgement, Verdict};
use model::fact::{CLOCK_LONG_READING, CLOCK_STEP, CLOCKS_APART, COUNTER_READING};
use model::{RunView, setting};
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use stats::random::Random;
use testing::synthetic::{run, series};

/// A run with a clock whose readings take up to `long_ns` and that runs in steps of `step_ns`.
fn with_clock(samples: u64, max_ns: i64, (long_ns, step_ns): (u64, u64)) -> RunView {
    let mut run = run(vec![series("rtt/reflect", samples, max_ns, 1)]);
    run.facts = vec![
        CLOCK_LONG_READING.fact(Ok(long_ns), "tests"),
        CLOCK_STEP.fact(Ok(step_ns), "tests"),
        CLOCKS_APART.fact(Ok(50), "tests"),
        COUNTER_READING.fact(Ok(9), "tests"),
    ];
    run
}

fn guarded(mut profile: Profile, guard: Guard) -> Profile {
    profile.decision.rule = Rule::Guarded(guard);
    profile
}

fn judged(run: &RunView, profile: Profile) -> Check {
    Judgement::of(run, &[profile]).checks.remove(0)
}

fn max(allowed: u64) -> Profile {
    profile(Quantity::Max, allowed)
}

#[test]
fn a_figure_in_the_guard_band_is_undecided_with_its_numbers() {
    let run = with_clock(SAMPLES, 60_000, (30, 1));
    let five = Guard::Fixed(5_000);
    assert_eq!(
        judged(&run, guarded(max(65_000), five)).verdict,
        Verdict::Pass,
        "at the edge"
    );
    let check = judged(&run, guarded(max(63_000), five));
    assert_eq!(check.verdict, Verdict::Inconclusive);
    assert!(
        check
            .why
            .starts_with("within the limit by 3.00 µs, the guard band is 5.00 µs (w = 5.00 µs, U = "),
        "{}",
        check.why
    );
    assert_eq!(judged(&run, max(63_000)).verdict, Verdict::Pass, "simple acceptance");
}

#[test]
fn over_the_limit_by_less_than_the_guard_band_stays_a_fail() {
    let run = with_clock(SAMPLES, 60_000, (30, 1));
    let check = judged(&run, guarded(max(58_000), Guard::Fixed(5_000)));
    assert_eq!(check.verdict, Verdict::Fail);
    assert!(
        check
            .why
            .contains("over the limit by 2.00 µs, less than the guard band of 5.00 µs"),
        "{}",
        check.why
    );
    assert_eq!(check.decision.expect("a duration").risk, None);
}

#[test]
fn an_unknown_component_leaves_a_guarded_pass_undecided_and_is_named() {
    let mut old = with_clock(SAMPLES, 60_000, (30, 1));
    old.facts.clear();
    for guard in [Guard::Times(1.0), Guard::Fixed(5_000)] {
        let check = judged(&old, guarded(max(1_000_000), guard));
        assert_eq!(check.verdict, Verdict::Inconclusive);
        assert!(
            check
                .why
                .contains("reading the clock at the end (not measured in this run)"),
            "{}",
            check.why
        );
    }
    assert_eq!(
        judged(&old, guarded(max(50_000), Guard::Times(1.0))).verdict,
        Verdict::Fail
    );
    assert_eq!(judged(&old, max(1_000_000)).verdict, Verdict::Pass);
    let mut stamped = with_clock(SAMPLES, 60_000, (30, 1));
    stamped.series[0]
        .spec
        .settings
        .push((setting::STAMPS.into(), "NIC's".into()));
    let mut profile = guarded(max(1_000_000), Guard::Times(1.0));
    let check = judged(&stamped, profile.clone());
    assert!(check.why.contains("not known: stamp to wire"), "{}", check.why);
    profile.decision.stamp_to_wire_ns = Some(400);
    assert_eq!(judged(&stamped, profile).verdict, Verdict::Pass);
}

#[test]
fn counts_have_no_guard_band() {
    let run = with_clock(SAMPLES, 60_000, (30, 1));
    let check = judged(&run, guarded(profile(Quantity::Lost, 0), Guard::Fixed(5_000)));
    assert_eq!((check.verdict, check.decision), (Verdict::Pass, None));
}

#[test]
fn the_decision_is_stated_with_its_risks() {
    let run = with_clock(SAMPLES, 60_000, (30, 1_000));
    let text = |profile| judged(&run, profile).decision_text().expect("known");
    let simple = text(max(60_000));
    assert!(
        simple.starts_with("simple acceptance; U = ") && simple.contains("risk of false acceptance"),
        "{simple}"
    );
    let held = text(guarded(max(80_000), Guard::Times(1.0)));
    assert!(held.starts_with("guarded acceptance, w = U = "), "{held}");
    assert!(
        held.contains("risk of false acceptance below 0.0001 %, with this rule at most"),
        "{held}"
    );
}

/// Truths are drawn around a limit, measured with the errors of a clock, judged, and the false passes counted. The risks that the
/// checks state add up to that number, within a tenth.
#[test]
fn stated_risks_are_the_share_of_false_passes_under_both_rules() {
    const ALLOWED: f64 = 100_000.0;
    const DRAWS: usize = 12_000;
    let (long, step) = (900_u64, 2_000_u64);
    for profile in [max(ALLOWED as u64), guarded(max(ALLOWED as u64), Guard::Times(0.4))] {
        let mut random = Random::new(39);
        let (mut stated, mut wrong, mut passes) = (0.0, 0.0, 0);
        for _ in 0..DRAWS {
            let truth = ALLOWED + 3_000.0 * (2.0 * random.unit() - 1.0);
            // Two readings lengthen, two steps go either way: the samples are from reading to reading.
            let readings = long as f64 * (random.unit() + random.unit());
            let steps = step as f64 * (random.unit() - random.unit());
            let value = (truth + readings + steps).round();
            if !(ALLOWED - 2_900.0..=ALLOWED).contains(&value) {
                continue;
            }
            let check = judged(&with_clock(1, value as i64, (long, step)), profile.clone());
            if check.verdict == Verdict::Pass {
                passes += 1;
                stated += check
                    .decision
                    .and_then(|decided| decided.risk)
                    .expect("stated with a pass");
                wrong += f64::from(u8::from(truth > ALLOWED));
            }
        }
        assert!(passes > 500 && wrong > 10.0, "{passes} passes, {wrong} of them false");
        let allowance = wrong / 10.0 + 3.0 * stated.sqrt();
        assert!(
            (stated - wrong).abs() < allowance,
            "stated {stated}, true {wrong} of {passes}"
        );
    }
}

proptest! {
    #[test]
    fn a_guarded_rule_only_ever_takes_a_pass_away(
        max_ns in 1_000_i64..200_000, allowed in 1_000_u64..200_000, long in 1_u64..5_000, step in 1_u64..5_000,
        times in 0.1_f64..3.0, fixed in 1_u64..20_000, is_fixed: bool
    ) {
        let run = with_clock(200, max_ns, (long, step));
        let guard = if is_fixed { Guard::Fixed(fixed) } else { Guard::Times(times) };
        let simple = judged(&run, max(allowed));
        let strict = judged(&run, guarded(max(allowed), guard));
        match simple.verdict {
            Verdict::Pass => {
                let width = strict.decision.as_ref().and_then(|decided| decided.guard_ns).expect("known");
                let wanted = if max_ns as f64 + width <= allowed as f64 { Verdict::Pass } else { Verdict::Inconclusive };
                prop_assert_eq!(strict.verdict, wanted);
            }
            other => prop_assert_eq!(strict.verdict, other),
        }
        if strict.verdict == Verdict::Pass && !is_fixed && times >= 1.0 {
            let most = strict.decision.and_then(|decided| decided.risk_most).expect("known");
            prop_assert!(most <= 0.0228, "{}", most);
        }
    }
}
