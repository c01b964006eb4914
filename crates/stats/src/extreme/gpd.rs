//! The generalised Pareto distribution.

use super::gev::l_moments;
use super::optimise::minimise;
use super::sample::{Parameters, Sample, feasible};
use super::{anderson, expanded, is_fitted, reduced, slope_of_reduced};
use crate::random::Random;

/// The generalised Pareto distribution, which excesses over a high threshold tend to:
/// `F(x) = 1 - (1 + shape x / scale)^(-1 / shape)`, for a shape of zero `1 - exp(-x / scale)`, `x >= 0`.
///
/// The sign of the shape is that of [`super::Gev`] and of SciPy's `genpareto`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gpd {
    /// Scale, in the unit of the values; positive.
    pub scale: f64,
    /// Shape xi.
    pub shape: f64,
}

impl Gpd {
    /// Probability that an excess is at most `x`.
    pub fn cdf(&self, x: f64) -> f64 {
        -(-self.reduced(x.max(0.0))).exp_m1()
    }

    /// Excess that the share `p` does not exceed; `p` lies between 0 and 1.
    pub fn quantile(&self, p: f64) -> f64 {
        self.at(-(-p).ln_1p())
    }

    /// Excess that is exceeded by one of `count` excesses on average; `count` is at least 1.
    pub fn level(&self, count: f64) -> f64 {
        self.at(count.ln())
    }

    /// Logarithm of the likelihood of `excesses`; minus infinity where one cannot occur.
    pub fn log_likelihood(&self, excesses: &[f64]) -> f64 {
        let sum: f64 = excesses.iter().map(|x| self.reduced(*x)).sum();
        -((1.0 + self.shape) * sum + excesses.len() as f64 * self.scale.ln())
    }

    /// Estimate from the first two L-moments: Hosking and Wallis, Technometrics 29 (1987). `sorted` is in ascending order and
    /// has at least three values, which are not all equal.
    pub fn from_l_moments(sorted: &[f64]) -> Self {
        let (l1, l2, _) = l_moments(sorted);
        let k = l1 / l2 - 2.0;
        Self {
            scale: (1.0 + k) * l1,
            shape: -k,
        }
    }

    /// Most likely parameters for `sorted`, as [`super::Gev::fit`].
    pub fn fit(sorted: &[f64]) -> Self {
        let start = Self::from_l_moments(sorted);
        let unit = sorted.iter().sum::<f64>() / sorted.len() as f64;
        let excesses = Excesses::of(sorted, unit);
        let value = |p: &[f64; 2]| excesses.with_gradient(&[0.0, p[0], p[1]]).0;
        let first = feasible(
            value,
            [(start.scale / unit).max(0.01).ln(), start.shape.clamp(-0.5, 1.0)],
        );
        let [log_scale, shape] = minimise(value, first, 0.2, 1e-10 * sorted.len() as f64);
        Self {
            scale: unit * log_scale.exp(),
            shape,
        }
    }

    /// An excess drawn at random.
    pub fn draw(&self, random: &mut Random) -> f64 {
        self.at(random.exponential())
    }

    /// The variable that has the standard exponential distribution: `-ln(1 - F(x))`. Infinite beyond the support.
    pub(super) fn reduced(&self, x: f64) -> f64 {
        reduced(x / self.scale, self.shape)
    }

    /// The excess with this reduced variable.
    fn at(&self, y: f64) -> f64 {
        self.scale * expanded(y, self.shape)
    }
}

/// Excesses in ascending order, in units of a scale, that come like a Poisson process. The first parameter is the logarithm of
/// their rate, in units of the rate that was seen.
pub(super) struct Excesses {
    values: Vec<f64>,
    /// How many were seen by the run whose rate is the unit.
    unit: f64,
}

impl Excesses {
    /// The excesses in units of a scale.
    pub(super) fn of(sorted: &[f64], scale: f64) -> Self {
        Self {
            values: sorted.iter().map(|value| value / scale).collect(),
            unit: sorted.len() as f64,
        }
    }
}

impl Sample for Excesses {
    fn with_gradient(&self, p: &Parameters) -> (f64, Parameters) {
        let [log_rate, log_scale, shape] = *p;
        if !is_fitted(shape) {
            return (f64::INFINITY, [f64::NAN; 3]);
        }
        let inverse_scale = (-log_scale).exp();
        let (mut sum, mut by_scale, mut by_shape) = (0.0, 0.0, 0.0);
        for value in &self.values {
            let t = value * inverse_scale;
            let z = 1.0 + shape * t;
            if z <= 0.0 {
                return (f64::INFINITY, [f64::NAN; 3]);
            }
            let y = reduced(t, shape);
            sum += y;
            by_scale -= t / z;
            by_shape += y + (1.0 + shape) * slope_of_reduced(t, y, shape);
        }
        let n = self.values.len() as f64;
        let expected = self.unit * log_rate.exp();
        let value = (1.0 + shape) * sum + n * log_scale + expected - n * log_rate;
        (value, [expected - n, n + (1.0 + shape) * by_scale, by_shape])
    }

    /// `ahead` is how many excesses are expected at the rate that was seen.
    fn level(p: &Parameters, ahead: f64) -> f64 {
        p[1].exp() * expanded(p[0] + ahead.ln(), p[2])
    }

    fn held(level: f64, ahead: f64, rest: &[f64; 2]) -> (f64, [f64; 2]) {
        let [log_scale, shape] = *rest;
        let t = level * (-log_scale).exp();
        let y = reduced(t, shape);
        (y - ahead.ln(), [-t / (1.0 + shape * t), slope_of_reduced(t, y, shape)])
    }

    fn drawn(&self, p: &Parameters, random: &mut Random) -> Self {
        let gpd = Gpd {
            scale: p[1].exp(),
            shape: p[2],
        };
        // Two parameters take three values; with fifty expected, fewer than three do not happen.
        let count = random.poisson(self.unit * p[0].exp()).max(3);
        let mut values: Vec<f64> = (0..count).map(|_| gpd.draw(random)).collect();
        values.sort_unstable_by(f64::total_cmp);
        Self {
            values,
            unit: self.unit,
        }
    }

    fn distance(&self, p: &Parameters) -> f64 {
        let inverse_scale = (-p[1]).exp();
        let logarithms: Vec<(f64, f64)> = self
            .values
            .iter()
            .map(|value| {
                let above = -reduced(value * inverse_scale, p[2]);
                ((-above.exp_m1()).ln(), above)
            })
            .collect();
        anderson::statistic(&logarithms)
    }
}
