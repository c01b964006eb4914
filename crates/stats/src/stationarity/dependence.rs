//! How much more the ranks of a series vary than ranks of independent values.

use crate::dependence::factor_of_residuals;
use crate::ranks::{autocorrelation, mid_ranks, unbiased};

/// Two standard errors of a correlation of independent values, times the square root of their number.
const SIGNIFICANT: f64 = 1.96;

/// Factor of the variance of the Mann-Kendall score under autocorrelation, from the ranks of the series without its trend:
/// K. H. Hamed and A. R. Rao, "A modified Mann-Kendall trend test for autocorrelated data", Journal of Hydrology 204 (1998),
/// equation 12.
///
/// Correlations are added up from lag 1 to the first that is not significant: later ones are mostly noise, and noise at a thousand
/// lags is a large sum. Lag 1 counts unless it is negative: an alternating series must not count as a better one, so the factor is
/// at least 1. It is also at least the factor for the resemblance of neighbours, with a margin in case their correlation was found
/// too low by chance: without that, dependent maxima are called unsteady far too often.
pub(super) fn variance_factor(residuals: &[f64]) -> f64 {
    let n = residuals.len() as f64;
    let ranks = mid_ranks(residuals);
    let least = |lag: f64| if lag == 1.0 { 0.0 } else { SIGNIFICANT / n.sqrt() };
    let sum: f64 = (1..residuals.len() / 2)
        .map(|lag| (lag as f64, unbiased(autocorrelation(&ranks, lag), ranks.len())))
        .take_while(|(lag, correlation)| *correlation > least(*lag))
        .map(|(lag, correlation)| (n - lag) * (n - lag - 1.0) * (n - lag - 2.0) * correlation)
        .sum();
    let found = 1.0 + 2.0 * sum / (n * (n - 1.0) * (n - 2.0));
    found.max(factor_of_residuals(residuals))
}
