//! Compares runs: if one differs from another, by how much, and with what confidence.
//!
//! Samples within a run are not independent, so a test that treats them as independent finds a difference between any two runs.
//! Here a run consists of its windows: each figure is the median over windows, and the interval of its difference accounts for the
//! resemblance of neighbouring windows. If they resemble each other so much that the run is hardly more than one value, or change
//! over the run, there is no statement. A large p-value is never read as "no difference": that is stated only if the whole interval
//! lies within a tolerance, and otherwise the answer is undecided.
//!
//! A typical window does not show rare events: [`Rare`] counts the windows in which something happened. Runs of too few windows are
//! compared by their samples, under stronger assumptions: [`by_samples`].
//!
//! The stated confidence applies to all figures together ([`confidences`]).

mod family;
mod location;
mod rare;
mod sampled;
#[cfg(test)]
mod sampled_tests;
#[cfg(test)]
mod tests;
mod text;

pub use family::confidences;
pub use rare::{Happened, Rare, RareDifference, RareOutcome, RarePair, highest};
pub use sampled::{Assumed, BySamples, SampledPair, by_samples};

use crate::stationarity::{self, Steadiness};
use family::p_value;
use location::Location;

/// Fewest windows of each run.
pub const WINDOWS_NEEDED: usize = 50;

/// A difference within this share of A's figure does not matter: two runs of one machine differ by as much.
const TOLERANCE_SHARE: f64 = 0.02;

/// A difference within this does not matter either, in ns: clock readings and kernel entries vary by as much.
const TOLERANCE_NS: f64 = 200.0;

/// Figures of one window, in ns. NaN if the window has too few samples for a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowFigures {
    /// Number of samples in the window. A window without samples has no figures and is left out.
    pub count: u64,
    /// Mean of the window.
    pub mean: f64,
    /// Median of the window.
    pub p50: f64,
    /// 99 % quantile of the window.
    pub p99: f64,
    /// 99.9 % quantile of the window.
    pub p999: Option<f64>,
    /// Largest sample of the window.
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
    /// Its median over A's windows, in ns. NaN if no window has it.
    pub a: f64,
    /// Its median over B's windows, in ns. NaN if no window has it.
    pub b: f64,
    /// `b - a`, in ns.
    pub difference: f64,
    /// Lower end of the difference's interval, in ns. NaN if there is no statement.
    pub low: f64,
    /// Upper end of the difference's interval, in ns. NaN if there is no statement.
    pub high: f64,
    /// Confidence of the interval, 0 to 1: higher than the stated one if many figures are compared.
    pub confidence: f64,
    /// Two-sided p-value of no difference, before it is compared with those of other figures. NaN if there is no statement. A small
    /// one is evidence of a difference; a large one is never evidence that there is none.
    pub p: f64,
    /// Differences up to this, in ns, do not matter: 2 % of A's figure, at least 200 ns.
    pub tolerance: f64,
    /// The conclusion.
    pub outcome: Outcome,
}

/// The conclusion of a comparison.
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
        /// Windows of the run with fewer windows.
        have: usize,
        /// Number of windows needed.
        need: usize,
    },
    /// The windows of one run resemble each other too much for their small number.
    TooAlike,
    /// The figure changes over one of the runs: its median describes no part of that run.
    NotSteady,
}

/// One figure of two runs, ready to be compared at any confidence.
#[derive(Debug, Clone)]
pub struct Pair {
    figure: Figure,
    a: Location,
    b: Location,
    refused: Option<Outcome>,
    p: Option<f64>,
}

/// Prepares the figures of runs A and B for comparison, in the order of [`Figure`]. Windows are in order of time.
pub fn pairs(a: &[WindowFigures], b: &[WindowFigures]) -> Vec<Pair> {
    let figures = Figure::ALL.into_iter();
    figures
        .map(|figure| Pair::of(figure, &figure.values(a), &figure.values(b)))
        .collect()
}

impl Pair {
    fn of(figure: Figure, a: &[f64], b: &[f64]) -> Self {
        let mut pair = Self {
            figure,
            refused: refused(a, b),
            a: Location::of(a),
            b: Location::of(b),
            p: None,
        };
        if pair.refused.is_none() {
            pair.p = pair.interval(0.95).map(|_| p_value(|risk| pair.differs(1.0 - risk)));
        }
        pair
    }

    /// Two-sided p-value of no difference; `None` if there is no statement.
    pub fn p(&self) -> Option<f64> {
        self.p
    }

    fn interval(&self, confidence: f64) -> Option<(f64, f64)> {
        location::difference(&self.a, &self.b, confidence)
    }

    fn differs(&self, confidence: f64) -> bool {
        self.interval(confidence)
            .is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }

    fn outcome(&self, confidence: f64, low: f64, high: f64, tolerance: f64) -> Outcome {
        let is_told = self.a.tells(confidence) && self.b.tells(confidence);
        match outcome(low, high, tolerance) {
            Outcome::NoDifference | Outcome::Undecided if !is_told => Outcome::TooAlike,
            outcome => outcome,
        }
    }

    /// The statement about this one figure with this confidence.
    pub fn at(&self, confidence: f64) -> Difference {
        let (a, b) = (self.a.median(), self.b.median());
        let tolerance = tolerance(a);
        let interval = self.interval(confidence).filter(|_| self.p.is_some());
        let (low, high) = interval.unwrap_or((f64::NAN, f64::NAN));
        Difference {
            figure: self.figure,
            a,
            b,
            difference: b - a,
            low,
            high,
            confidence,
            p: self.p.unwrap_or(f64::NAN),
            tolerance,
            outcome: match (self.refused, interval) {
                (Some(refused), _) => refused,
                (None, None) => Outcome::TooAlike,
                (None, Some((low, high))) => self.outcome(confidence, low, high, tolerance),
            },
        }
    }
}

/// Why there is no statement, whatever the confidence.
fn refused(a: &[f64], b: &[f64]) -> Option<Outcome> {
    let have = a.len().min(b.len());
    if have < WINDOWS_NEEDED {
        return Some(Outcome::TooFewWindows {
            have,
            need: WINDOWS_NEEDED,
        });
    }
    let changes = |values: &[f64]| {
        matches!(
            stationarity::check(values).verdict,
            Steadiness::Trend | Steadiness::Shift
        )
    };
    (changes(a) || changes(b)).then_some(Outcome::NotSteady)
}

/// The largest difference, in ns, that does not matter for a figure of `a`.
fn tolerance(a: f64) -> f64 {
    (TOLERANCE_SHARE * a.abs()).max(TOLERANCE_NS)
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

    /// The values of the figure, for the windows that have it.
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
