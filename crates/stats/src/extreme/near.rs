//! Fits to samples that are near one distribution, so that few steps are enough for each fit.

use super::gev::Maxima;
use super::optimise::{inverse_of_second_derivatives, minimise, refine};

/// Parameters, near 0 and 1 by the choice of units: the location, which a fixed return level determines, the logarithm of the
/// scale, and the shape.
pub(super) type Parameters = [f64; 3];

/// The search ends when another step gains less than this in the likelihood, in natural logarithms: a hundredth of a standard
/// error.
const PRECISE: f64 = 1e-4;

/// Step of numeric derivatives; the parameters are near 1 and known to some 1e-2.
const STEP: f64 = 1e-4;

/// The most likely parameters, and the negative logarithm of their likelihood.
pub(super) type Fit = (Parameters, f64);

/// Fits to samples that were drawn from one distribution, and so are near it.
pub(super) struct Near {
    from: Parameters,
    ahead: f64,
    level: f64,
    free: Option<[[f64; 3]; 3]>,
    held: Option<[[f64; 2]; 2]>,
}

impl Near {
    /// Prepares fits near `from`, which is the fit of `sample`.
    pub(super) fn of(sample: &Maxima, from: &Parameters, ahead: f64) -> Self {
        let level = Maxima::level(from, ahead);
        let free = inverse_of_second_derivatives(|p| sample.with_gradient(p).1, from, STEP);
        let rest = [from[1], from[2]];
        let held_gradient = |rest: &[f64; 2]| held_with_gradient(sample, level, ahead, rest).1;
        Self {
            from: *from,
            ahead,
            level,
            free,
            held: inverse_of_second_derivatives(held_gradient, &rest, STEP),
        }
    }

    /// Most likely parameters of a sample, to the precision that a bootstrap needs.
    pub(super) fn fit(&self, sample: &Maxima) -> Fit {
        self.free
            .as_ref()
            .and_then(|inverse| refine(|p| sample.with_gradient(p), self.from, inverse, PRECISE))
            .unwrap_or_else(|| {
                let value = |p: &Parameters| sample.with_gradient(p).0;
                let found = minimise(value, feasible(value, self.from), 0.2, PRECISE);
                (found, value(&found))
            })
    }

    /// Signed root of the likelihood ratio of a level: about the number of standard errors by which the fit's level is above it.
    pub(super) fn root(&self, sample: &Maxima, fit: &Fit, level: f64) -> f64 {
        let gained = self.held_value(sample, level) - fit.1;
        (2.0 * gained.max(0.0))
            .sqrt()
            .copysign(Maxima::level(&fit.0, self.ahead) - level)
    }

    /// The level of the distribution itself.
    pub(super) fn level(&self) -> f64 {
        self.level
    }

    /// Smallest negative logarithm of the likelihood with the level fixed.
    fn held_value(&self, sample: &Maxima, level: f64) -> f64 {
        let start = [self.from[1], self.from[2]];
        self.held
            .as_ref()
            .and_then(|inverse| {
                let function = |rest: &[f64; 2]| held_with_gradient(sample, level, self.ahead, rest);
                refine(function, start, inverse, PRECISE)
            })
            .map_or_else(
                || {
                    let value = |rest: &[f64; 2]| held_with_gradient(sample, level, self.ahead, rest).0;
                    value(&minimise(value, feasible(value, start), 0.2, PRECISE))
                },
                |(_, value)| value,
            )
    }
}

fn held_with_gradient(sample: &Maxima, level: f64, ahead: f64, rest: &[f64; 2]) -> (f64, [f64; 2]) {
    let (first, by_rest) = Maxima::held(level, ahead, rest);
    let (value, gradient) = sample.with_gradient(&[first, rest[0], rest[1]]);
    let gradient = [
        gradient[1] + gradient[0] * by_rest[0],
        gradient[2] + gradient[0] * by_rest[1],
    ];
    (value, gradient)
}

/// Parameters for which every value can occur: the shape is set to zero, and the scale is widened until that is so.
pub(super) fn feasible<const N: usize>(value: impl Fn(&[f64; N]) -> f64, from: [f64; N]) -> [f64; N] {
    let mut p = from;
    if !value(&p).is_finite() {
        p[N - 1] = 0.0;
    }
    for _ in 0..100 {
        if value(&p).is_finite() {
            break;
        }
        p[N - 2] += 0.5;
    }
    p
}
