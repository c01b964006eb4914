//! The generalised extreme-value distribution.

use super::optimise::{inverse_of_second_derivatives, minimise, refine};
use super::{FITTED_SHAPES, reduced};
use crate::random::Random;
use statrs::function::gamma::gamma;

/// The generalised extreme-value distribution, which maxima of many values tend to:
/// `F(x) = exp(-(1 + shape (x - location) / scale)^(-1 / shape))`, for a shape of zero `exp(-exp(-(x - location) / scale))`.
///
/// A positive shape is a heavy tail, a negative one a tail that ends at `location - scale / shape`: the sign of S. Coles, An
/// Introduction to Statistical Modeling of Extreme Values, 2001. SciPy's `genextreme` has the opposite sign.
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
    /// Probability that a maximum is at most `x`.
    pub fn cdf(&self, x: f64) -> f64 {
        (-(-self.reduced(x)).exp()).exp()
    }

    /// Value that the share `p` of the maxima does not exceed; `p` lies between 0 and 1.
    pub fn quantile(&self, p: f64) -> f64 {
        self.at(-(-p.ln()).ln())
    }

    /// Value that is exceeded once in `blocks` blocks on average: exceedances come like a Poisson process, and a block has
    /// none with the probability F. So `-ln F = 1 / blocks`, which does not depend on how long a block is; for many blocks
    /// it is the `1 - 1 / blocks` quantile.
    pub fn return_level(&self, blocks: f64) -> f64 {
        self.at(blocks.ln())
    }

    /// Logarithm of the likelihood of `values`; minus infinity where one cannot occur.
    pub fn log_likelihood(&self, values: &[f64]) -> f64 {
        let per_value = values.iter().map(|x| {
            let y = self.reduced(*x);
            (1.0 + self.shape) * y + (-y).exp()
        });
        // Outside the support the sum is infinite, or infinity less infinity.
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
        // At zero the formulas are 0/0; next to it they are the Gumbel distribution to nine digits.
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
        let sample = Sample::around(sorted, &start);
        let (low, high) = FITTED_SHAPES;
        let mut first = [0.0, 0.0, start.shape.clamp(low + 0.05, high - 0.05)];
        // A support that leaves out a value is widened until it has them all.
        while !sample.negative_log_likelihood(&first).is_finite() {
            first[1] += 0.5;
        }
        let tolerance = 1e-10 * sorted.len() as f64;
        let found = minimise(|p| sample.negative_log_likelihood(p), first, 0.2, tolerance);
        sample.parameters(&found)
    }

    /// A maximum drawn at random.
    pub fn draw(&self, random: &mut Random) -> f64 {
        self.at(-random.exponential().ln())
    }

    /// What the simplex needs no longer be asked for: fits to samples drawn from this distribution, which are near it.
    pub(super) fn refits(&self, sorted: &[f64]) -> Refits {
        let gradient = |p: &[f64; 3]| Sample::around(sorted, self).with_gradient(p).1;
        Refits {
            from: *self,
            inverse: inverse_of_second_derivatives(gradient, &[0.0, 0.0, self.shape], 1e-4),
        }
    }

    /// The variable that has the standard Gumbel distribution: `-ln(-ln F(x))`. Infinite outside the support.
    pub(super) fn reduced(&self, x: f64) -> f64 {
        reduced((x - self.location) / self.scale, self.shape)
    }

    /// The value with this reduced variable.
    fn at(&self, y: f64) -> f64 {
        let t = if self.shape == 0.0 {
            y
        } else {
            (self.shape * y).exp_m1() / self.shape
        };
        self.location + self.scale * t
    }
}

/// Fits to samples that were drawn from one distribution.
pub(super) struct Refits {
    from: Gev,
    inverse: Option<[[f64; 3]; 3]>,
}

impl Refits {
    /// Most likely parameters for `sorted`, to the precision that a bootstrap needs.
    pub(super) fn fit(&self, sorted: &[f64]) -> Gev {
        let sample = Sample::around(sorted, &self.from);
        let start = [0.0, 0.0, self.from.shape];
        self.inverse
            .as_ref()
            .and_then(|inverse| refine(|p| sample.with_gradient(p), start, inverse, 1e-4))
            .map_or_else(|| Gev::fit(sorted), |found| sample.parameters(&found))
    }
}

/// Values measured from a location in units of a scale, so that parameters are near 0 and 1: location, logarithm of the scale,
/// shape.
struct Sample {
    values: Vec<f64>,
    location: f64,
    scale: f64,
}

impl Sample {
    fn around(values: &[f64], gev: &Gev) -> Self {
        let (location, scale) = (gev.location, gev.scale);
        Self {
            values: values.iter().map(|value| (value - location) / scale).collect(),
            location,
            scale,
        }
    }

    fn parameters(&self, p: &[f64; 3]) -> Gev {
        Gev {
            location: self.location + self.scale * p[0],
            scale: self.scale * p[1].exp(),
            shape: p[2],
        }
    }

    fn negative_log_likelihood(&self, p: &[f64; 3]) -> f64 {
        let [location, log_scale, shape] = *p;
        if shape < FITTED_SHAPES.0 || shape > FITTED_SHAPES.1 {
            return f64::INFINITY;
        }
        let gev = Gev {
            location,
            scale: log_scale.exp(),
            shape,
        };
        -gev.log_likelihood(&self.values)
    }

    /// Negative logarithm of the likelihood, and its derivatives.
    fn with_gradient(&self, p: &[f64; 3]) -> (f64, [f64; 3]) {
        let [location, log_scale, shape] = *p;
        if shape < FITTED_SHAPES.0 || shape > FITTED_SHAPES.1 {
            return (f64::INFINITY, [f64::NAN; 3]);
        }
        let inverse_scale = (-log_scale).exp();
        let (mut sum, mut by_location, mut by_scale, mut by_shape) = (0.0, 0.0, 0.0, 0.0);
        for value in &self.values {
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
            by_shape += y + by_y * slope_of_reduced(t, z, y, shape);
        }
        let n = self.values.len() as f64;
        (
            sum + n * log_scale,
            [by_location * inverse_scale, n + by_scale, by_shape],
        )
    }
}

/// Derivative of the reduced variable by the shape: `(t / z - y) / shape`, by its series where that cancels.
pub(super) fn slope_of_reduced(t: f64, z: f64, y: f64, shape: f64) -> f64 {
    let u = shape * t;
    if u.abs() < 1e-3 {
        t * t * (-0.5 + u * (2.0 / 3.0 - u * (0.75 - u * 0.8)))
    } else {
        (t / z - y) / shape
    }
}

/// First three L-moments of values in ascending order (Hosking, Journal of the Royal Statistical Society B 52, 1990).
pub(super) fn l_moments(sorted: &[f64]) -> (f64, f64, f64) {
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
