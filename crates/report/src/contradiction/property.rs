//! A property test: after one number of a good run is changed, no failed limit passes and no passed limit fails.

use crate::limits::{Limit, Pattern, Profile, Quantity};
use crate::verdict::{Check, Judgement, Verdict};
use model::{Counters, RunView, SeriesView};
use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert, prop_oneof, proptest};
use std::sync::LazyLock;
use testing::synthetic::{add_worst, run, series};

/// Counts that no other number of a file confirms. The lateness of a sample is in the histogram, but each sample may
/// have another bound, and a duplicate leaves no other trace.
const WITHOUT_WITNESS: [Quantity; 3] = [Quantity::Late, Quantity::Duplicate, Quantity::Reordered];

/// A run with a nonzero value in each counter, and with consistent windows.
fn good() -> RunView {
    let mut one = series("wakeup/cpu1", 40_000, 60_000, 10);
    add_worst(&mut one, 1_300_000);
    one.spikes[0].value_ns = 1_300_000;
    one.spec.threshold_ns = Some(100_000);
    let counts = Counters {
        expected: 8,
        lost: 3,
        missed: 5,
        overflow: 1,
        ..Counters::default()
    };
    one.counters.add(&counts);
    one.windows[9].counters.add(&counts);
    run(vec![one])
}

/// Recomputes the sums as the reader does.
fn add_up(series: &mut SeriesView) {
    series.counters = Counters::default();
    for window in &series.windows {
        series.counters.add(&window.counters);
    }
    series.sum_ns = series.windows.iter().map(|window| window.sum_ns).sum();
    series.min_ns = series.windows.iter().filter_map(|window| window.min_ns).min();
    series.max_ns = series.windows.iter().filter_map(|window| window.max_ns).max();
}

/// Changes number `which` of a window to `value`, or the threshold, or the worst sample.
fn change(run: &mut RunView, at: usize, which: usize, value: u64) {
    let one = &mut run.series[0];
    let signed = i64::try_from(value).unwrap_or(i64::MAX);
    let window = &mut one.windows[at];
    match which {
        0 => window.start_ns = value,
        1 => window.end_ns = value,
        2 => window.counters.expected = value,
        3 => window.counters.received = value,
        4 => window.counters.lost = value,
        5 => window.counters.missed = value,
        6 => window.counters.clipped = value,
        7 => window.counters.overflow = value,
        8 => window.counters.overrun = value,
        9 => window.samples = value,
        10 => window.sum_ns = i128::from(signed),
        11 => window.mean_ns = Some(value as f64),
        12 => window.min_ns = Some(signed),
        13 => window.max_ns = Some(signed),
        14 => window.p50_ns = Some(value),
        15 => window.p99_ns = Some(value),
        16 => one.spikes[0].value_ns = signed,
        _ => one.spec.threshold_ns = Some(value),
    }
    one.windows.sort_by_key(|window| window.start_ns);
    add_up(one);
}

/// These limits on every series.
fn profile(limits: &[(Quantity, u64)]) -> Profile {
    let limit = |(quantity, allowed): &(Quantity, u64)| Limit {
        id: format!("{} {allowed}", quantity.word()),
        name: quantity.word().to_owned(),
        series: Pattern::new("*"),
        quantity: *quantity,
        allowed: *allowed,
        source: "tests".into(),
        why: String::new(),
        classes: Vec::new(),
        samples: None,
        exposure_ns: None,
        needs_known_stamps: false,
        needs_load: false,
    };
    Profile {
        name: "site".into(),
        what: "tests".into(),
        limits: limits.iter().map(limit).collect(),
        requirements: Vec::new(),
        decision: crate::limits::Decision::default(),
    }
}

fn checks(run: &RunView, profile: &Profile) -> Vec<Check> {
    Judgement::of(run, std::slice::from_ref(profile)).checks
}

/// For every quantity, a limit that this run just meets, and the adjacent limits.
fn limits(run: &RunView) -> Profile {
    let known = Quantity::ALL.into_iter();
    let known: Vec<(Quantity, u64)> = known
        .filter(|quantity| !WITHOUT_WITNESS.contains(quantity))
        .map(|quantity| (quantity, 0))
        .collect();
    let measured = checks(run, &profile(&known)).into_iter().map(|check| check.measured);
    let around = known.iter().zip(measured).flat_map(|((quantity, _), measured)| {
        let measured = measured.map_or(0.0, |value| value.as_f64()).ceil() as u64;
        [measured.saturating_sub(1), measured, measured + 1].map(|allowed| (*quantity, allowed))
    });
    profile(&around.collect::<Vec<_>>())
}

/// The good run, its limits, and its verdicts.
static GOOD: LazyLock<(RunView, Profile, Vec<Verdict>)> = LazyLock::new(|| {
    let good = good();
    let limits = limits(&good);
    let verdicts = checks(&good, &limits).into_iter().map(|check| check.verdict).collect();
    (good, limits, verdicts)
});

fn values() -> impl Strategy<Value = u64> {
    prop_oneof![
        0u64..10,
        3_990u64..4_020,
        20_000u64..60_000,
        59_990u64..60_010,
        90_000u64..1_400_000,
        1_299_990u64..1_300_010,
        78_000_000u64..82_000_000,
        0u64..20_000_000_000,
        any::<u32>().prop_map(u64::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_number_turns_no_verdict_round(at in 0usize..10, which in 0usize..18, value in values()) {
        let (good, limits, before) = &*GOOD;
        let mut changed = good.clone();
        change(&mut changed, at, which, value);
        for (before, after) in before.iter().zip(checks(&changed, limits)) {
            let turned = matches!(
                (before, after.verdict),
                (Verdict::Fail | Verdict::Inconclusive, Verdict::Pass) | (Verdict::Pass, Verdict::Fail)
            );
            prop_assert!(
                !turned,
                "{}: {before:?} became {:?}: {:?} {}",
                after.limit.id, after.verdict, after.measured, after.why
            );
        }
    }
}

#[test]
fn the_run_itself_agrees_and_has_every_kind_of_verdict() {
    let (good, _, verdicts) = &*GOOD;
    assert_eq!(super::of(good), Vec::new());
    for wanted in [Verdict::Pass, Verdict::Fail, Verdict::Inconclusive] {
        assert!(verdicts.contains(&wanted), "{wanted:?}");
    }
}
