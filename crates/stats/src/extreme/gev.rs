//! The generalised extreme-value distribution.

use super::near::{Parameters, feasible};
use super::optimise::minimise;
use super::{anderson, expanded, is_fitted, reduced, slope_of_expanded, slope_of_reduced};
use crate::random::Random;
use statrs::function::gamma::gamma;

/// The generalised extreme-value distribution, which maxima of many values tend to: `F(x) = exp(-(1 + shape (x - location) /
/// scale)^(-1 / shape))`, or, for a shape of zero, `exp(-exp(-(x - location) / scale))`.
///
/// A positive shape means a heavy tail, a negative one a tail that ends at `location - scale / shape`: the sign convention of S.
/// Coles, An Introduction to Statistical Modeling of Extreme Values, 2001. SciPy's `genextreme` has the opposite sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gev {
    /// Location, in the unit of the values.
    pub location: f64,
    /// Scale, in the unit of the values; positive.
    pub scale: f64,
    /// Shape xi.
    pub shape: f64,
}

impl Gev {
    /// Value that is exceeded once in `blocks` blocks on average. Exceedances come like a Poisson process, and a block has none
    /// with the probability F, so `-ln F = 1 / blocks`, which does not depend on the length of a block; for many blocks it is the
    /// `1 - 1 / blocks` quantile.
    pub fn return_level(&self, blocks: f64) -> f64 {
        self.at(blocks.ln())
    }

    /// Logarithm of the likelihood of `values`; minus infinity if one of them cannot occur.
    pub fn log_likelihood(&self, values: &[f64]) -> f64 {
        let per_value = values.iter().map(|x| {
            let y = self.reduced(*x);
            (1.0 + self.shape) * y + (-y).exp()
        });
        // Outside the support the sum is infinite, or infinity minus infinity.
        let sum: f64 = per_value.sum();
        if sum.is_nan() {
            return f64::NEG_INFINITY;
        }
        -(sum + values.len() as f64 * self.scale.ln())
    }

    /// Estimate from the first three L-moments, which always exists: J. Hosking, J. Wallis and E. Wood, Technometrics 27
    /// (1985). `sorted` is in ascending order, has at least three values, and they are not all equal.
    pub fn from_l_moments(sorted: &[f64]) -> Self {
        let (l1, l2, l3) = l_moments(sorted);
        let c = 2.0 / (3.0 + l3 / l2) - std::f64::consts::LN_2 / 3f64.ln();
        let k = 7.8590 * c + 2.9554 * c * c;
        // At zero the formulas are 0/0; close to it they equal the Gumbel distribution to nine digits.
        let k = if k.abs() < 1e-6 { 1e-6 } else { k };
        let g = gamma(1.0 + k);
        let scale = l2 * k / ((1.0 - 2f64.powf(-k)) * g);
        Self {
            location: l1 - scale * (1.0 - g) / k,
            scale,
            shape: -k,
        }
    }

    /// Most likely parameters for `sorted`, in ascending order, with at least three values that are not all equal: from the
    /// L-moments by Nelder and Mead's simplex, with the shape kept between -0.95 and 2. Below -1 the likelihood has no
    /// maximum (R. Smith, Biometrika 72, 1985).
    pub fn fit(sorted: &[f64]) -> Self {
        let start = Self::from_l_moments(sorted);
        let maxima = Maxima::around(sorted, &start);
        let value = |p: &Parameters| maxima.with_gradient(p).0;
        let first = feasible(value, [0.0, 0.0, start.shape.clamp(-0.5, 1.0)]);
        let [location, log_scale, shape] = minimise(value, first, 0.2, 1e-10 * sorted.len() as f64);
        Self {
            location: start.location + start.scale * location,
            scale: start.scale * log_scale.exp(),
            shape,
        }
    }

    /// A maximum drawn at random.
    pub fn draw(&self, random: &mut Random) -> f64 {
        self.at(-random.exponential().ln())
    }

    /// The variable with the standard Gumbel distribution: `-ln(-ln F(x))`. Infinite outside the support.
    fn reduced(&self, x: f64) -> f64 {
        reduced((x - self.location) / self.scale, self.shape)
    }

    /// The value with this reduced variable.
    fn at(&self, y: f64) -> f64 {
        self.location + self.scale * expanded(y, self.shape)
    }
}

/// Maxima in ascending order, measured from the location of a nearby distribution, in units of its scale. The first parameter is
/// the location.
pub(super) struct Maxima(Vec<f64>);

impl Maxima {
    /// Converts the values to the location and scale of `gev`.
    pub(super) fn around(sorted: &[f64], gev: &Gev) -> Self {
        Self(sorted.iter().map(|value| (value - gev.location) / gev.scale).collect())
    }

    /// Negative logarithm of the likelihood, and its derivatives. Infinite if the values cannot occur.
    pub(super) fn with_gradient(&self, p: &Parameters) -> (f64, Parameters) {
        let [location, log_scale, shape] = *p;
        if !is_fitted(shape) {
            return (f64::INFINITY, [f64::NAN; 3]);
        }
        let inverse_scale = (-log_scale).exp();
        let (mut sum, mut by_location, mut by_scale, mut by_shape) = (0.0, 0.0, 0.0, 0.0);
        for value in &self.0 {
            let t = (value - location) * inverse_scale;
            let z = 1.0 + shape * t;
            if z <= 0.0 {
                return (f64::INFINITY, [f64::NAN; 3]);
            }
            let y = reduced(t, shape);
            let tail = (-y).exp();
            let by_y = 1.0 + shape - tail;
            sum += (1.0 + shape) * y + tail;
            by_location -= by_y / z;
            by_scale -= by_y * t / z;
            by_shape += y + by_y * slope_of_reduced(t, y, shape);
        }
        let n = self.0.len() as f64;
        let gradient = [by_location * inverse_scale, n + by_scale, by_shape];
        (sum + n * log_scale, gradient)
    }

    /// The level that is exceeded once in `ahead` blocks.
    pub(super) fn level(p: &Parameters, ahead: f64) -> f64 {
        p[0] + p[1].exp() * expanded(ahead.ln(), p[2])
    }

    /// The location for which the other two parameters give this level, and its derivatives by them.
    pub(super) fn held(level: f64, ahead: f64, rest: &[f64; 2]) -> (f64, [f64; 2]) {
        let [log_scale, shape] = *rest;
        let scale = log_scale.exp();
        let above = scale * expanded(ahead.ln(), shape);
        (level - above, [-above, -scale * slope_of_expanded(ahead.ln(), shape)])
    }

    /// Another sample of this size, drawn from the distribution.
    pub(super) fn drawn(&self, p: &Parameters, random: &mut Random) -> Self {
        let gev = Gev {
            location: p[0],
            scale: p[1].exp(),
            shape: p[2],
        };
        let mut values: Vec<f64> = (0..self.0.len()).map(|_| gev.draw(random)).collect();
        values.sort_unstable_by(f64::total_cmp);
        Self(values)
    }

    /// Anderson-Darling statistic.
    pub(super) fn distance(&self, p: &Parameters) -> f64 {
        let inverse_scale = (-p[1]).exp();
        let logarithms: Vec<(f64, f64)> = self
            .0
            .iter()
            .map(|value| {
                let below = -(-reduced((value - p[0]) * inverse_scale, p[2])).exp();
                (below, (-below.exp_m1()).ln())
            })
            .collect();
        anderson::statistic(&logarithms)
    }
}

/// First three L-moments of values in ascending order (Hosking, Journal of the Royal Statistical Society B 52, 1990).
fn l_moments(sorted: &[f64]) -> (f64, f64, f64) {
    let n = sorted.len() as f64;
    let (mut b0, mut b1, mut b2) = (0.0, 0.0, 0.0);
    for (index, value) in sorted.iter().enumerate() {
        let i = index as f64;
        b0 += value;
        b1 += value * i / (n - 1.0);
        b2 += value * i * (i - 1.0) / ((n - 1.0) * (n - 2.0));
    }
    let (b0, b1, b2) = (b0 / n, b1 / n, b2 / n);
    (b0, 2.0 * b1 - b0, 6.0 * b2 - 6.0 * b1 + b0)
}
