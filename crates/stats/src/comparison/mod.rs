//! Whether one run differs from another, by how much, and how sure that is.
//!
//! Samples within a run are not independent, so a test that counts them as if they were finds a difference between any two
//! runs. Here a run is its windows: each figure is the median over windows, and the interval of its difference comes from
//! drawing blocks of neighbouring windows again and again ([`crate::resample`]). A large p-value is never read as "no
//! difference": that is said only where the whole interval lies within a tolerance, and otherwise the answer is undecided.
//!
//! Each figure has the stated confidence on its own. Whoever picks one of many figures or runs for being different should ask
//! for more: `1 - 0.05 / n` for n comparisons (Bonferroni).

mod bootstrap;
#[cfg(test)]
mod tests;
mod text;

use crate::random::Random;
use crate::resample::{block_length, percentiles, widening};
use bootstrap::{median_of, medians, replicates, thinned};

/// Fewest windows of each run.
pub const WINDOWS_NEEDED: usize = crate::resample::WINDOWS_NEEDED;

/// A difference within this share of A's figure is none that matters: two runs of one machine differ by as much.
const TOLERANCE_SHARE: f64 = 0.02;

/// Nor is one within this, in ns: what reading a clock and entering the kernel differ by.
const TOLERANCE_NS: f64 = 200.0;

/// Any number does; a fixed one gives the same interval each time.
const SEED: u64 = 0x636f_6d70_6172_6521;

/// Figures of one window, in ns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowFigures {
    /// Samples in the window. One without samples has no figures and is left out.
    pub count: u64,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 99 % quantile. NaN where the window has too few samples for it.
    pub p99: f64,
    /// 99.9 % quantile, where the window has the samples for it.
    pub p999: Option<f64>,
    /// Largest sample.
    pub max: f64,
}

/// A figure that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Mean of a window.
    Mean,
    /// Median of a window.
    Median,
    /// 99 % quantile of a window.
    P99,
    /// 99.9 % quantile of a window.
    P999,
    /// Largest sample of a window.
    WindowMax,
}

/// How one figure differs between run A and run B.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The figure.
    pub figure: Figure,
    /// Its median over A's windows, in ns. NaN where no window has it.
    pub a: f64,
    /// Its median over B's windows, in ns. NaN where no window has it.
    pub b: f64,
    /// `b - a`, in ns.
    pub difference: f64,
    /// Lower end of the difference's interval, in ns. NaN with too few windows.
    pub low: f64,
    /// Upper end of the difference's interval, in ns. NaN with too few windows.
    pub high: f64,
    /// Confidence of the interval, 0 to 1.
    pub confidence: f64,
    /// Two-sided bootstrap p-value of no difference. NaN with too few windows. It says how sure a difference is, never that
    /// there is none.
    pub p: f64,
    /// Differences up to this count as none, in ns: 2 % of A's figure, at least 200 ns.
    pub tolerance: f64,
    /// What follows.
    pub outcome: Outcome,
}

/// What a comparison leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// B is higher: the interval lies above zero.
    Higher,
    /// B is lower: the interval lies below zero.
    Lower,
    /// No difference that matters: the whole interval lies within the tolerance.
    NoDifference,
    /// The interval contains zero and reaches beyond the tolerance.
    Undecided,
    /// One run has too few windows with this figure.
    TooFewWindows {
        /// Windows of the run that has fewer.
        have: usize,
        /// Windows it takes.
        need: usize,
    },
}

/// Compares run B with run A: one result per figure, in the order of [`Figure`]. Windows are in order of time. `confidence`
/// lies between 0 and 1, such as 0.95, which also stands in for one that does not.
///
/// Two runs of a week in windows of 20 s take about a quarter of a second. Of more than 50 000 windows, every second, third…
/// is resampled; the medians are those of all.
pub fn compare(a: &[WindowFigures], b: &[WindowFigures], confidence: f64) -> Vec<Difference> {
    let confidence = if confidence > 0.0 && confidence < 1.0 {
        confidence
    } else {
        0.95
    };
    Figure::ALL
        .into_iter()
        .map(|figure| difference(figure, &figure.values(a), &figure.values(b), confidence))
        .collect()
}

fn difference(figure: Figure, a: &[f64], b: &[f64], confidence: f64) -> Difference {
    let (median_a, median_b) = (median_of(a), median_of(b));
    let mut result = Difference {
        figure,
        a: median_a,
        b: median_b,
        difference: median_b - median_a,
        low: f64::NAN,
        high: f64::NAN,
        confidence,
        p: f64::NAN,
        tolerance: (TOLERANCE_SHARE * median_a.abs()).max(TOLERANCE_NS),
        outcome: Outcome::TooFewWindows {
            have: a.len().min(b.len()),
            need: WINDOWS_NEEDED,
        },
    };
    if a.len() < WINDOWS_NEEDED || b.len() < WINDOWS_NEEDED {
        return result;
    }
    let mut differences = resampled(a, b, result.difference, confidence);
    result.p = p_value(&differences);
    let (low, high) = percentiles(&mut differences, confidence);
    result.low = low.min(result.difference);
    result.high = high.max(result.difference);
    result.outcome = outcome(result.low, result.high, result.tolerance);
    result
}

/// Differences of the medians of resampled windows, around `observed`.
fn resampled(a: &[f64], b: &[f64], observed: f64, confidence: f64) -> Vec<f64> {
    let (a, b) = (thinned(a), thinned(b));
    let (length_a, length_b) = (block_length(&a), block_length(&b));
    let blocks = (a.len() as f64 / length_a as f64).min(b.len() as f64 / length_b as f64);
    let wider = widening(blocks, confidence);
    // Thinning moves the medians a little, and that is no part of the spread.
    let centre = median_of(&b) - median_of(&a);
    let count = replicates(a.len() + b.len());
    let mut random = Random::new(SEED);
    let of_a = medians(&a, length_a, count, &mut random);
    let of_b = medians(&b, length_b, count, &mut random);
    of_a.iter()
        .zip(&of_b)
        .map(|(a, b)| observed + wider * (b - a - centre))
        .collect()
}

/// Twice the share of replicates on the side of zero that has fewer; never 0, since not all were tried.
fn p_value(differences: &[f64]) -> f64 {
    let not_above = differences.iter().filter(|difference| **difference <= 0.0).count();
    let not_below = differences.iter().filter(|difference| **difference >= 0.0).count();
    let share = (not_above.min(not_below) + 1) as f64 / (differences.len() + 1) as f64;
    (2.0 * share).min(1.0)
}

fn outcome(low: f64, high: f64, tolerance: f64) -> Outcome {
    if low >= -tolerance && high <= tolerance {
        Outcome::NoDifference
    } else if low > 0.0 {
        Outcome::Higher
    } else if high < 0.0 {
        Outcome::Lower
    } else {
        Outcome::Undecided
    }
}

impl Figure {
    /// Every figure, in the order in which they are compared.
    pub const ALL: [Self; 5] = [Self::Mean, Self::Median, Self::P99, Self::P999, Self::WindowMax];

    /// The figure of the windows that have it.
    fn values(self, windows: &[WindowFigures]) -> Vec<f64> {
        let of = |window: &WindowFigures| match self {
            Self::Mean => window.mean,
            Self::Median => window.p50,
            Self::P99 => window.p99,
            Self::P999 => window.p999.unwrap_or(f64::NAN),
            Self::WindowMax => window.max,
        };
        windows
            .iter()
            .filter(|window| window.count > 0)
            .map(of)
            .filter(|value| value.is_finite())
            .collect()
    }
}
