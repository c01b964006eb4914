//! The largest values against the tail of the others: a rare second cause that a fit to all values would hide.
//!
//! A cause that acts once in a million samples is in the largest few blocks only. A fit to all of them bends towards these and then
//! agrees with them. So the tail is fitted to the others, and the largest values are candidates that must lie in what it leads to
//! expect (the idea of TailID, ECRTS 2025; method and numbers are our own).
//!
//! The fit is by least squares of the ordered values on the quantiles of a GEV distribution, without the candidates; the candidates
//! must be near the values that it expects at their ranks. The largest excess, in standard deviations of these order statistics, is compared with those of simulated samples that were treated alike, which accounts for the error of the fit.

use super::{HeldBack, NoLevel};
use crate::random::Random;

/// Most candidates. More values of another cause than this make two groups, which [`super::mixture`] sees.
const CANDIDATES: usize = 10;

/// Candidates are at most this share of the values.
const SHARE: usize = 20;

/// Ranks below the candidates that describe the tail.
const TAIL: usize = 150;

/// Simulated samples.
const SAMPLES: usize = 299;

/// Values of one cause are refused by chance in some one of a hundred runs. The tests measure how often.
const SIGNIFICANCE: f64 = 0.01;

/// Shapes that are tried, from the lightest tail to the heaviest.
const SHAPES: (f64, f64, f64) = (-0.8, 1.2, 0.05);

/// Seed of the simulation: fixed, so that equal data give equal answers.
const SEED: u64 = 0x7461_696c;

/// The largest values that do not belong.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Outside {
    /// Number of values.
    values: usize,
    /// Probability of such an excess by chance.
    p: f64,
}

/// Refuses values, in ascending order, whose largest do not belong to the tail of the others. `held_back` is the check of the last
/// part of the run, for the text.
pub(super) fn check(sorted: &[f64], held_back: Option<HeldBack>) -> Result<(), NoLevel> {
    match outside(sorted) {
        None => Ok(()),
        Some(found) => Err(NoLevel::Outside {
            largest: found.values,
            blocks: sorted.len(),
            from_ns: sorted[sorted.len() - found.values],
            others_to_ns: sorted[sorted.len() - found.values - 1],
            p: found.p,
            held_back: held_back.map(|held| held.text()),
        }),
    }
}

/// The largest values of a sample in ascending order that lie outside the tail of the others.
fn outside(sorted: &[f64]) -> Option<Outside> {
    let scores = Scores::of(sorted.len());
    let top: Vec<f64> = sorted.iter().rev().take(scores.ranks()).copied().collect();
    let fit = scores.fit(&top);
    let (excess, values) = scores.excess(&top, &fit);
    let mut random = Random::new(SEED);
    let beyond = (0..SAMPLES).filter(|_| {
        let drawn = scores.draw(fit.shape, &mut random);
        let fit = scores.fit(&drawn);
        scores.excess(&drawn, &fit).0 >= excess
    });
    let p = (beyond.count() + 1) as f64 / (SAMPLES + 1) as f64;
    (p <= SIGNIFICANCE).then_some(Outside { values, p })
}

/// A fitted tail.
struct Fit {
    location: f64,
    scale: f64,
    shape: f64,
}

/// Expected order statistics of a sample, the largest first.
struct Scores {
    /// Number of all values.
    count: usize,
    /// Number of candidates.
    candidates: usize,
    /// For each rank: expected exponential variable.
    exponential: Vec<f64>,
    /// For each rank: its standard deviation.
    deviation: Vec<f64>,
    /// For each shape that is tried: the fitted ranks' quantiles of the standard distribution.
    quantiles: Vec<(f64, Vec<f64>)>,
}

impl Scores {
    fn of(count: usize) -> Self {
        let candidates = (count / SHARE).clamp(1, CANDIDATES);
        let ranks = count.min(candidates + TAIL);
        // The i-th largest of n exponential variables is the sum of 1/r over r = i to n, on average.
        let (mut mean, mut variance) = (0.0, 0.0);
        let mut all: Vec<(f64, f64)> = Vec::with_capacity(count);
        for rank in (1..=count).rev() {
            let part = 1.0 / rank as f64;
            mean += part;
            variance += part * part;
            all.push((mean, f64::sqrt(variance)));
        }
        let (exponential, deviation): (Vec<f64>, Vec<f64>) = all.into_iter().rev().take(ranks).unzip();
        let (first, last, step) = SHAPES;
        let shapes = (0..)
            .map(|at| first + f64::from(at) * step)
            .take_while(|shape| *shape <= last + 1e-9);
        let fitted = &exponential[candidates..];
        let quantiles = shapes.map(|shape| (shape, fitted.iter().map(|e| quantile(*e, shape)).collect()));
        Self {
            count,
            candidates,
            quantiles: quantiles.collect(),
            exponential,
            deviation,
        }
    }

    /// Number of ranks that are used, candidates included.
    fn ranks(&self) -> usize {
        self.exponential.len()
    }

    /// Fits the tail to the ranks below the candidates: for each shape a straight line, and of these the best.
    fn fit(&self, top: &[f64]) -> Fit {
        let values = &top[self.candidates..];
        let fits = self
            .quantiles
            .iter()
            .map(|(shape, quantiles)| line(*shape, quantiles, values));
        let best = fits.min_by(|(_, a), (_, b)| a.total_cmp(b));
        best.map_or(
            Fit {
                location: 0.0,
                scale: 0.0,
                shape: 0.0,
            },
            |(fit, _)| fit,
        )
    }

    /// The largest excess of the candidates over what the fit expects of their ranks, in standard deviations of these, and the number of
    /// values that have it.
    fn excess(&self, top: &[f64], fit: &Fit) -> (f64, usize) {
        let of = |rank: usize| {
            let expected = fit.location + fit.scale * quantile(self.exponential[rank], fit.shape);
            let deviation = fit.scale * slope(self.exponential[rank], fit.shape) * self.deviation[rank];
            ((top[rank] - expected) / deviation, rank + 1)
        };
        let all = (0..self.candidates).map(of);
        all.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, 1))
    }

    /// The largest values of a simulated sample of the standard distribution of this shape.
    fn draw(&self, shape: f64, random: &mut Random) -> Vec<f64> {
        let mut sum = 0.0;
        let mut largest = vec![0.0; self.ranks()];
        for rank in (1..=self.count).rev() {
            sum += random.exponential() / rank as f64;
            if let Some(place) = largest.get_mut(rank - 1) {
                *place = quantile(sum, shape);
            }
        }
        largest
    }
}

/// The straight line through values by their quantiles, and the sum of its squared errors relative to the spread of the values.
fn line(shape: f64, quantiles: &[f64], values: &[f64]) -> (Fit, f64) {
    let n = values.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / n;
    let (mean_q, mean_v) = (mean(quantiles), mean(values));
    let (mut qq, mut qv, mut vv) = (0.0, 0.0, 0.0);
    for (q, v) in quantiles.iter().zip(values) {
        qq += (q - mean_q).powi(2);
        qv += (q - mean_q) * (v - mean_v);
        vv += (v - mean_v).powi(2);
    }
    let scale = qv / qq;
    let fit = Fit {
        location: mean_v - scale * mean_q,
        scale,
        shape,
    };
    (fit, vv - scale * qv)
}

/// Quantile of the standard GEV distribution for an exponential variable: the value that is exceeded with probability exp(-e).
fn quantile(e: f64, shape: f64) -> f64 {
    let gumbel = -(-(-(-e).exp()).ln_1p()).ln();
    if shape.abs() < 1e-9 {
        return gumbel;
    }
    (shape * gumbel).exp_m1() / shape
}

/// Slope of [`quantile`].
fn slope(e: f64, shape: f64) -> f64 {
    // The quantile is a function of -ln(-ln(1 - exp(-e))).
    let log = -(-(-e).exp()).ln_1p();
    let gumbel = -log.ln();
    (shape * gumbel).exp() / (log * e.exp_m1())
}

#[cfg(test)]
mod tests {
    use super::{SIGNIFICANCE, outside, quantile, slope};
    use crate::extreme::return_level_of_maxima;
    use crate::random::Random;
    use proptest::prelude::{ProptestConfig, prop_assert, proptest};

    const RUNS: usize = if cfg!(debug_assertions) { 30 } else { 1_000 };

    fn sorted(mut values: Vec<f64>) -> Vec<f64> {
        values.sort_by(f64::total_cmp);
        values
    }

    /// Maxima of 200 blocks of `samples` lognormal latencies around 10 µs; with a probability of `density`, a sample is of another
    /// cause, around 60 µs long. Also returns the number of blocks in which that cause acted.
    fn maxima(random: &mut Random, samples: i32, density: f64) -> (Vec<f64>, usize) {
        let mut hit = 0;
        let all = (0..200).map(|_| {
            // The body of each block is drawn from 300 samples, whatever their number: only its law matters.
            let of_body = (0..300).map(|_| random.normal()).fold(f64::MIN, f64::max);
            let body = 10_000.0 * (0.25 * of_body).exp();
            let is_hit = random.unit() < 1.0 - (1.0 - density).powi(samples);
            hit += usize::from(is_hit);
            match is_hit {
                true => body.max(60_000.0 * (0.1 * random.normal()).exp()),
                false => body,
            }
        });
        (all.collect(), hit)
    }

    #[test]
    fn the_slope_is_that_of_the_quantile() {
        for shape in [-0.5, -0.1, 0.0, 0.1, 0.7] {
            for e in [0.1, 1.0, 3.0, 7.0] {
                let near = (quantile(e + 1e-6, shape) - quantile(e - 1e-6, shape)) / 2e-6;
                assert!((slope(e, shape) / near - 1.0).abs() < 1e-5, "{shape}, {e}: {near}");
            }
        }
    }

    /// Values of one cause are refused seldom: in at most 3 % of runs, where 1 % is meant.
    #[test]
    fn values_of_one_cause_are_seldom_refused() {
        let mut random = Random::new(401);
        let laws = [(100, 0.0), (300, -0.2), (300, 0.2), (500, 0.5), (50, 0.1)];
        let (mut runs, mut refused) = (0, 0);
        for (blocks, shape) in laws {
            for _ in 0..RUNS {
                let values = (0..blocks).map(|_| quantile(random.exponential(), shape)).collect();
                runs += 1;
                refused += usize::from(outside(&sorted(values)).is_some());
            }
        }
        for _ in 0..RUNS {
            runs += 1;
            refused += usize::from(outside(&sorted(maxima(&mut random, 300, 0.0).0)).is_some());
        }
        let runs = runs as f64;
        let most = 3.0 * SIGNIFICANCE;
        let most = runs * most + 3.0 * (runs * most * (1.0 - most)).sqrt();
        assert!((refused as f64) <= most, "{refused} of {runs}, {SIGNIFICANCE} is meant");
    }

    /// A second cause in one of 10 000 to a million samples: found in most runs in which it acted in a few blocks.
    #[test]
    fn a_rare_second_cause_is_found() {
        let mut random = Random::new(403);
        for (samples, density) in [(100, 1e-4), (1_000, 1e-5), (10_000, 1e-6), (30_000, 2e-7)] {
            let (mut acted, mut found) = (0, 0);
            for _ in 0..2 * RUNS.min(100) {
                let (values, hit) = maxima(&mut random, samples, density);
                if (1..=10).contains(&hit) {
                    acted += 1;
                    found += usize::from(outside(&sorted(values)).is_some());
                }
            }
            assert!(acted > 20 && found * 10 >= acted * 7, "{density}: {found} of {acted}");
        }
    }

    /// Where it acts in more blocks than there are candidates, one of the other checks sees it. No level is stated either way.
    #[test]
    fn no_level_is_stated_beside_a_second_cause() {
        let mut random = Random::new(404);
        for (samples, density) in [(300, 1e-4), (10_000, 1e-5), (30_000, 1e-6)] {
            let (mut acted, mut stated) = (0, 0);
            for _ in 0..RUNS.min(20) {
                let (values, hit) = maxima(&mut random, samples, density);
                if hit > 0 {
                    acted += 1;
                    stated += usize::from(return_level_of_maxima(&values, 400.0, 0.95).is_ok());
                }
            }
            assert!(acted >= 15 && stated * 5 <= acted, "{density}: {stated} of {acted}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 24 } else { 256 }))]

        /// The answer depends neither on the unit nor on an offset.
        #[test]
        fn units_and_offsets_change_nothing(seed: u64, scale in 1e-3_f64..1e6, offset in 0.0_f64..1e7, far in 1.0_f64..20.0) {
            let mut random = Random::new(seed);
            let mut values: Vec<f64> = (0..80).map(|_| quantile(random.exponential(), 0.1)).collect();
            values[3] *= far;
            let values = sorted(values);
            let moved: Vec<f64> = values.iter().map(|value| offset + scale * value).collect();
            prop_assert!(outside(&values).is_some() == outside(&moved).is_some());
        }

        /// One value far beyond all others is always outside.
        #[test]
        fn a_value_far_beyond_is_outside(seed: u64, blocks in 50_usize..300) {
            let mut random = Random::new(seed);
            let mut values: Vec<f64> = (0..blocks).map(|_| 20.0 + quantile(random.exponential(), 0.0)).collect();
            values[0] = 500.0;
            let found = outside(&sorted(values));
            prop_assert!(found.is_some_and(|outside| outside.values == 1), "{:?}", found);
        }
    }
}
