//! Return levels: the latency that is exceeded once in a given time, by extreme-value theory.
//!
//! The largest value of each block of time follows a [`Gev`] distribution (S. Coles, An Introduction to Statistical Modeling of
//! Extreme Values, 2001). That is valid for values of one kind, that hardly depend on each other, from a system that does not
//! change; latency often violates all three conditions. So the data are checked first, and a [`NoLevel`] explains in words what
//! they do not support (Santinelli and others, WCET 2014, doi 10.4230/OASIcs.WCET.2014.21). The shape is always fitted, never
//! assumed to be zero (Silva, Arcaro and de Oliveira, RTSS 2017, doi 10.1109/RTSS.2017.00028).
//!
//! Intervals and the goodness of fit come from a parametric bootstrap: samples are drawn from the fitted distribution and fitted
//! again. All random numbers start from a fixed seed, so equal data give equal figures.

mod anderson;
mod blocks;
mod bootstrap;
mod gev;
mod held_back;
mod maxima;
mod mixture;
mod near;
mod no_level;
mod optimise;
mod reduced;
mod tail;
#[cfg(test)]
mod tests;

pub use gev::Gev;
pub use held_back::HeldBack;
pub use maxima::return_level_of_maxima;
pub use no_level::NoLevel;

use reduced::{expanded, reduced, slope_of_expanded, slope_of_reduced};

/// Fewest blocks: three parameters and a tail need at least this many.
pub const BLOCKS_NEEDED: usize = 50;

/// A return period may be at most this many times as long as the test: beyond that, the interval is too wide to be useful.
pub const REACH: f64 = 10.0;

/// Maximum number of blocks in a fit; if there are more, they are joined into longer ones.
const MOST_BLOCKS: usize = 2_000;

/// Shapes that a fit may have. Below -1 there is no most likely one; shapes above 2 were never measured.
const FITTED_SHAPES: (f64, f64) = (-0.95, 2.0);

/// Shapes for which a return level is given: above 1 the distribution has no mean, and below -0.9 the largest observed value is the
/// end of the tail and the theory of its error fails.
const SUPPORTED_SHAPES: (f64, f64) = (-0.9, 1.0);

/// Share of the stated risk at which the interval of a fit is computed.
const CARE: f64 = 0.2;

/// A fit with a smaller p-value is a bad one.
const FIT_SIGNIFICANCE: f64 = 0.05;

/// A level that is exceeded once in the requested number of blocks, on average.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReturnLevel {
    /// The level, in ns.
    pub level_ns: f64,
    /// Lower end of its interval, in ns.
    pub low_ns: f64,
    /// Upper end of its interval, in ns.
    pub high_ns: f64,
    /// Confidence of the interval, 0 to 1.
    pub confidence: f64,
    /// Shape xi of the fit: positive means a heavy tail, negative a bounded one (sign as Coles).
    pub shape: f64,
    /// Number of blocks used by the fit. Fewer than given if blocks had to be joined.
    pub blocks: usize,
    /// Bootstrap p-value of the Anderson-Darling statistic: small means that the fit is bad.
    pub fit_p: f64,
    /// The check of a fit to the first part of the run against the rest; `None` if that part is too short.
    pub held_back: Option<HeldBack>,
}

/// The confidence at which the interval of a fit is computed, so that the interval is correct with the stated one. Maxima of finite
/// blocks follow the distribution only approximately, and at ten lengths of the run ahead that shows: an interval at the fit's own
/// 95 % contained the true level of lognormal maxima in only 82 to 86 of 100 runs.
fn with_care(confidence: f64) -> f64 {
    1.0 - (1.0 - confidence) * CARE
}

fn is_fitted(shape: f64) -> bool {
    shape >= FITTED_SHAPES.0 && shape <= FITTED_SHAPES.1
}

/// Checks that the question makes sense.
fn check_question(values: &[f64], blocks_ahead: f64, confidence: f64) -> Result<(), NoLevel> {
    if !(blocks_ahead > 0.0 && blocks_ahead.is_finite()) {
        return Err(NoLevel::BadQuestion("the return period has to be longer than zero"));
    }
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(NoLevel::BadQuestion("the confidence has to lie between 0 and 1"));
    }
    if values.iter().any(|value| !(value.is_finite() && *value > 0.0)) {
        return Err(NoLevel::BadQuestion("every value has to be a number above zero"));
    }
    Ok(())
}

fn check_reach(asked: f64, observed: f64) -> Result<(), NoLevel> {
    let supported = REACH * observed;
    if asked > supported {
        return Err(NoLevel::TooFar { asked, supported });
    }
    Ok(())
}

fn check_shape(shape: f64) -> Result<(), NoLevel> {
    if shape < SUPPORTED_SHAPES.0 || shape > SUPPORTED_SHAPES.1 {
        return Err(NoLevel::Shape { shape });
    }
    Ok(())
}
