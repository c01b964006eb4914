//! The generalised Pareto distribution.

use super::gev::{l_moments, slope_of_reduced};
use super::optimise::{inverse_of_second_derivatives, minimise, refine};
use super::{FITTED_SHAPES, reduced};
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
        let sample = Sample::of(sorted, unit);
        let (low, high) = FITTED_SHAPES;
        let mut first = [(start.scale / unit).ln(), start.shape.clamp(low + 0.05, high - 0.05)];
        while !sample.negative_log_likelihood(&first).is_finite() {
            first[0] += 0.5;
        }
        let tolerance = 1e-10 * sorted.len() as f64;
        let found = minimise(|p| sample.negative_log_likelihood(p), first, 0.2, tolerance);
        sample.parameters(&found)
    }

    /// An excess drawn at random.
    pub fn draw(&self, random: &mut Random) -> f64 {
        self.at(random.exponential())
    }

    /// For fits to samples drawn from this distribution.
    pub(super) fn refits(&self, sorted: &[f64]) -> Refits {
        let gradient = |p: &[f64; 2]| Sample::of(sorted, self.scale).with_gradient(p).1;
        Refits {
            from: *self,
            inverse: inverse_of_second_derivatives(gradient, &[0.0, self.shape], 1e-4),
        }
    }

    /// The variable that has the standard exponential distribution: `-ln(1 - F(x))`. Infinite beyond the support.
    pub(super) fn reduced(&self, x: f64) -> f64 {
        reduced(x / self.scale, self.shape)
    }

    /// The excess with this reduced variable.
    fn at(&self, y: f64) -> f64 {
        let t = if self.shape == 0.0 {
            y
        } else {
            (self.shape * y).exp_m1() / self.shape
        };
        self.scale * t
    }
}

/// Fits to samples that were drawn from one distribution.
pub(super) struct Refits {
    from: Gpd,
    inverse: Option<[[f64; 2]; 2]>,
}

impl Refits {
    /// Most likely parameters for `sorted`, to the precision that a bootstrap needs.
    pub(super) fn fit(&self, sorted: &[f64]) -> Gpd {
        let sample = Sample::of(sorted, self.from.scale);
        let start = [0.0, self.from.shape];
        self.inverse
            .as_ref()
            .and_then(|inverse| refine(|p| sample.with_gradient(p), start, inverse, 1e-4))
            .map_or_else(|| Gpd::fit(sorted), |found| sample.parameters(&found))
    }
}

/// Excesses in units of a scale; parameters are the logarithm of the scale, and the shape.
struct Sample {
    values: Vec<f64>,
    unit: f64,
}

impl Sample {
    fn of(values: &[f64], unit: f64) -> Self {
        Self {
            values: values.iter().map(|value| value / unit).collect(),
            unit,
        }
    }

    fn parameters(&self, p: &[f64; 2]) -> Gpd {
        Gpd {
            scale: self.unit * p[0].exp(),
            shape: p[1],
        }
    }

    fn negative_log_likelihood(&self, p: &[f64; 2]) -> f64 {
        let [log_scale, shape] = *p;
        if shape < FITTED_SHAPES.0 || shape > FITTED_SHAPES.1 {
            return f64::INFINITY;
        }
        let gpd = Gpd {
            scale: log_scale.exp(),
            shape,
        };
        -gpd.log_likelihood(&self.values)
    }

    /// Negative logarithm of the likelihood, and its derivatives.
    fn with_gradient(&self, p: &[f64; 2]) -> (f64, [f64; 2]) {
        let [log_scale, shape] = *p;
        if shape < FITTED_SHAPES.0 || shape > FITTED_SHAPES.1 {
            return (f64::INFINITY, [f64::NAN; 2]);
        }
        let inverse_scale = (-log_scale).exp();
        let (mut sum, mut by_scale, mut by_shape) = (0.0, 0.0, 0.0);
        for value in &self.values {
            let t = value * inverse_scale;
            let z = 1.0 + shape * t;
            if z <= 0.0 {
                return (f64::INFINITY, [f64::NAN; 2]);
            }
            let y = reduced(t, shape);
            sum += y;
            by_scale -= t / z;
            by_shape += y + (1.0 + shape) * slope_of_reduced(t, z, y, shape);
        }
        let n = self.values.len() as f64;
        ((1.0 + shape) * sum + n * log_scale, [n + (1.0 + shape) * by_scale, by_shape])
    }
}
