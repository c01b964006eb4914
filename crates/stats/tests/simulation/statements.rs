//! The statements of the tool in words, each compared with the truth once for every simulated run.

use crate::laws::Law;
use stats::comparison::{
    Happened, Outcome, Pair, Rare, RareOutcome, SampledPair, WindowFigures, by_samples, confidences, highest, pairs,
};
use stats::extreme::return_level_of_maxima;
use stats::random::Random;
use stats::stationarity::{Steadiness, check};
use stats::{Histogram, exceedance};

/// How often a statement was made, and how often it was of the counted kind.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    /// Simulated runs, or pairs of them.
    pub(crate) runs: u32,
    /// Number of runs with a statement.
    pub(crate) said: u32,
    /// Number of runs with a statement of the counted kind.
    pub(crate) counted: u32,
}

impl Tally {
    /// Adds one run: `None` without a statement, else true if it is of the counted kind.
    fn add(&mut self, said: Option<bool>) {
        self.runs += 1;
        self.said += u32::from(said.is_some());
        self.counted += u32::from(said == Some(true));
    }

    fn over(runs: u32, mut one: impl FnMut() -> Option<bool>) -> Self {
        let mut tally = Self::default();
        for _ in 0..runs {
            tally.add(one());
        }
        tally
    }
}

fn figures(maxima: &[f64], random: &mut Random) -> Vec<WindowFigures> {
    let figures = |max: &f64| WindowFigures {
        count: 1_000,
        mean: max * 0.2 * (0.01 * random.normal()).exp(),
        p50: max * 0.15 * (0.05 * random.normal()).exp(),
        p99: max * 0.5 * (0.02 * random.normal()).exp(),
        p999: None,
        max: *max,
    };
    maxima.iter().map(figures).collect()
}

/// Counts runs in which any figure is called different from another run's, whose values are truly `times` as high.
pub(crate) fn differs(law: Law, windows: usize, times: f64, runs: u32, random: &mut Random) -> Tally {
    Tally::over(runs, || {
        let a = law.run(random, windows);
        let b: Vec<f64> = law.run(random, windows).iter().map(|max| max * times).collect();
        let (a, b) = (figures(&a, random), figures(&b, random));
        let pairs = pairs(&a, &b);
        let ps: Vec<Option<f64>> = pairs.iter().map(Pair::p).collect();
        let each = pairs.iter().zip(confidences(&ps, 0.95));
        let outcomes: Vec<Outcome> = each.map(|(pair, confidence)| pair.at(confidence).outcome).collect();
        let is_said = |outcome: &Outcome| {
            matches!(
                outcome,
                Outcome::Higher | Outcome::Lower | Outcome::NoDifference | Outcome::Undecided
            )
        };
        let differs = |outcome: &Outcome| matches!(outcome, Outcome::Higher | Outcome::Lower);
        outcomes.iter().any(is_said).then(|| outcomes.iter().any(differs))
    })
}

/// Counts runs of few windows in which any figure is called different from another run's, whose values are truly `times` as high.
pub(crate) fn few_windows_differ(law: Law, windows: usize, times: f64, runs: u32, random: &mut Random) -> Tally {
    let nothing = Histogram::new();
    Tally::over(runs, || {
        let a = law.run(random, windows);
        let b: Vec<f64> = law.run(random, windows).iter().map(|max| max * times).collect();
        let (a, b) = (figures(&a, random), figures(&b, random));
        differs_by_samples((&nothing, &a), (&nothing, &b))
    })
}

/// Counts runs without windows in which a quantile is called different from another run's; samples are independent.
pub(crate) fn samples_differ(samples: u32, times: f64, runs: u32, random: &mut Random) -> Tally {
    let mut run = |times: f64| {
        let mut all = Histogram::new();
        (0..samples).for_each(|_| {
            all.record((20_000.0 * times * (0.2 * random.normal()).exp()) as u64);
        });
        all
    };
    Tally::over(runs, || differs_by_samples((&run(1.0), &[]), (&run(times), &[])))
}

fn differs_by_samples(a: (&Histogram, &[WindowFigures]), b: (&Histogram, &[WindowFigures])) -> Option<bool> {
    let pairs = by_samples(a, b);
    let ps: Vec<Option<f64>> = pairs.iter().map(SampledPair::p).map(Some).collect();
    let each = pairs.iter().zip(confidences(&ps, 0.95));
    let outcomes: Vec<Outcome> = each.map(|(pair, sure)| pair.at(sure).difference.outcome).collect();
    let differs = |outcome: &Outcome| matches!(outcome, Outcome::Higher | Outcome::Lower);
    (!outcomes.is_empty()).then(|| outcomes.iter().any(differs))
}

/// Counts runs in which rare events, or the maximum, are called more frequent; the values are truly `times` as high.
pub(crate) fn rare_differs(law: Law, windows: usize, times: f64, runs: u32, random: &mut Random) -> Tally {
    Tally::over(runs, || {
        let a = law.run(random, windows);
        let b: Vec<f64> = law.run(random, windows).iter().map(|max| max * times).collect();
        // Two limits: one that three in a hundred windows of A exceed, and one in the middle of the windows.
        let mut sorted = a.clone();
        sorted.sort_by(f64::total_cmp);
        let limits = [20_000.0 * 0.188f64.exp(), 21_000.0];
        let mut pairs: Vec<_> = limits.iter().map(|limit| over(*limit, &a, &b)).collect();
        pairs.extend(highest(&a, &b));
        let ps: Vec<Option<f64>> = pairs.iter().map(|pair| pair.p()).collect();
        let each = pairs.iter().zip(confidences(&ps, 0.95));
        let outcomes: Vec<RareOutcome> = each.map(|(pair, sure)| pair.at(sure).outcome).collect();
        Some(
            outcomes
                .iter()
                .any(|one| matches!(one, RareOutcome::Higher | RareOutcome::Lower)),
        )
    })
}

fn over(limit: f64, a: &[f64], b: &[f64]) -> stats::comparison::RarePair {
    let rare = |maxima: &[f64]| Rare {
        happened: maxima.iter().map(|max| *max > limit).collect(),
        maxima: maxima.to_vec(),
        exposure_ns: maxima.len() as u64 * 1_000_000_000,
        total: maxima.iter().filter(|max| **max > limit).count() as u64,
    };
    Rare::pair(Happened::Over(limit as u64), &rare(a), &rare(b))
}

/// Counts runs that are called not steady.
pub(crate) fn not_steady(law: Law, windows: usize, runs: u32, random: &mut Random) -> Tally {
    Tally::over(runs, || match check(&law.run(random, windows)).verdict {
        Steadiness::Trend | Steadiness::Shift => Some(true),
        Steadiness::Steady => Some(false),
        _ => None,
    })
}

/// Counts runs in which the interval of a return level contains the true one, ten lengths of the run ahead.
pub(crate) fn level_holds(law: Law, windows: usize, runs: u32, random: &mut Random) -> Tally {
    let ahead = 10.0 * windows as f64;
    let truth = law.level(ahead).expect("a law whose level is known");
    Tally::over(runs, || {
        let maxima = law.run(random, windows);
        let level = return_level_of_maxima(&maxima, ahead, 0.95).ok()?;
        Some(level.low_ns <= truth && truth <= level.high_ns)
    })
}

/// Counts runs in which the bound of a probability contains the true one, for independently late samples.
pub(crate) fn bound_holds(share: f64, samples: u32, runs: u32, random: &mut Random) -> Tally {
    Tally::over(runs, || {
        let over = (0..samples).filter(|_| random.unit() < share).count() as u64;
        Some(exceedance::upper_bound(over, u64::from(samples), 0.95) >= share)
    })
}

/// Counts runs in which the bound of a rate contains the true one.
pub(crate) fn rate_holds(mean: f64, runs: u32, random: &mut Random) -> Tally {
    Tally::over(runs, || {
        Some(exceedance::rate_upper_bound(poisson(mean, random), 1_000_000_000, 0.95) >= mean)
    })
}

/// A Poisson variable: the number of exponential steps that fit into the mean.
fn poisson(mean: f64, random: &mut Random) -> u64 {
    let mut left = mean - random.exponential();
    let mut count = 0;
    while left > 0.0 {
        count += 1;
        left -= random.exponential();
    }
    count
}

/// Counts runs in which the interval of a quantile contains the true one, for independent samples.
pub(crate) fn quantile_holds(q: f64, samples: u32, runs: u32, random: &mut Random) -> Tally {
    let truth = -(1.0 - q).ln() * 100_000.0;
    Tally::over(runs, || {
        let mut histogram = Histogram::new();
        for _ in 0..samples {
            histogram.record((random.exponential() * 100_000.0) as u64);
        }
        let (low, high) = histogram.scheduled(None, 0).quantile_interval(q, 0.95)?;
        Some(low as f64 <= truth + 1.0 && truth <= high as f64 + 1.0)
    })
}
