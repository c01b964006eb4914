//! Runs of too few windows, compared by their samples.
//!
//! The samples of a run tell its quantiles with a binomial interval, which holds for samples that are independent of each other.
//! Latency samples are not. Where a run has a few windows, the interval is at least as wide as the windows' figures say that a
//! figure of so many windows may be off (batch means with Student's t: Law and Carson, Operations Research 27, 1979); then
//! windows have to be independent, not samples. Nothing that is found so is called sure.

use super::{Difference, Figure, Outcome, WINDOWS_NEEDED, WindowFigures, outcome, p_value, tolerance};
use crate::Histogram;
use crate::stationarity::{self, Steadiness};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Fewest windows whose figures say how far they lie apart.
const SPREAD_NEEDED: usize = 4;

/// Fewest samples of which a median is said.
const SAMPLES_NEEDED: u64 = 6;

/// A window of a measurement that takes so few samples each has no figure of its own: its samples stand for it.
const FEW_IN_A_WINDOW: u64 = 2;

/// What has to be independent for a comparison by samples to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assumed {
    /// Windows: what happens in one says nothing of the next.
    Windows,
    /// Samples: each says nothing of the next.
    Samples,
}

/// How a figure of all samples differs, as far as so short runs tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BySamples {
    /// The figure and its difference; `a` and `b` are of all samples.
    pub difference: Difference,
    /// What it takes for granted.
    pub assumed: Assumed,
}

/// One figure of two short runs, ready to be compared at any confidence.
#[derive(Debug, Clone)]
pub struct SampledPair {
    figure: Figure,
    a: Sampled,
    b: Sampled,
    p: f64,
}

/// One figure of one run.
#[derive(Debug, Clone)]
struct Sampled {
    quantile: f64,
    value: f64,
    ranked: Ranked,
    /// Standard error by the windows, and their number.
    spread: Option<(f64, usize)>,
}

/// The samples of a histogram in order: for each bucket the rank of its last sample, and its edges.
#[derive(Debug, Clone)]
struct Ranked(Vec<(u64, u64, u64)>);

/// The quantiles of two runs that have too few windows to be compared by them, each that both support. `a` and `b` hold all samples,
/// and the figures of the windows in order of time.
pub fn by_samples(a: (&Histogram, &[WindowFigures]), b: (&Histogram, &[WindowFigures])) -> Vec<SampledPair> {
    let figures = [(Figure::Median, 0.5), (Figure::P99, 0.99), (Figure::P999, 0.999)];
    let pair = |(figure, quantile): (Figure, f64)| {
        let (of_a, of_b) = (figure.values(a.1), figure.values(b.1));
        if of_a.len().min(of_b.len()) >= WINDOWS_NEEDED || changes(&of_a) || changes(&of_b) {
            return None;
        }
        let a = Sampled::of(quantile, a, &of_a)?;
        let b = Sampled::of(quantile, b, &of_b)?;
        Some(SampledPair::of(figure, a, b))
    };
    figures.into_iter().filter_map(pair).collect()
}

fn changes(values: &[f64]) -> bool {
    let found = stationarity::check(values).verdict;
    matches!(found, Steadiness::Trend | Steadiness::Shift)
}

impl Sampled {
    fn of(quantile: f64, (samples, windows): (&Histogram, &[WindowFigures]), values: &[f64]) -> Option<Self> {
        let is_enough = match quantile > 0.5 {
            true => samples.supports(quantile),
            false => samples.count() >= SAMPLES_NEEDED,
        };
        let value = samples.quantile(quantile).filter(|_| is_enough)? as f64;
        let with_samples = windows.iter().filter(|window| window.count > 0).count();
        let by_samples_alone = with_samples < SPREAD_NEEDED || samples.count() <= FEW_IN_A_WINDOW * with_samples as u64;
        let spread = match by_samples_alone {
            true => None,
            false => Some((standard_error(values)?, values.len())),
        };
        Some(Self {
            quantile,
            value,
            ranked: Ranked::of(samples),
            spread,
        })
    }

    /// Interval that holds the figure with this confidence; `None` where there are too few samples for one.
    fn interval(&self, confidence: f64) -> Option<(f64, f64)> {
        let (low, high) = self.ranked.interval(self.quantile, confidence)?;
        let wide = match self.spread {
            Some((error, windows)) => error * student(confidence, windows)?,
            None => 0.0,
        };
        Some((low.min(self.value - wide), high.max(self.value + wide)))
    }
}

/// Standard error of a mean; `None` with too few values.
fn standard_error(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() >= SPREAD_NEEDED).then(|| (squares / (n - 1.0) / n).sqrt())
}

fn student(confidence: f64, windows: usize) -> Option<f64> {
    let t = StudentsT::new(0.0, 1.0, windows as f64 - 1.0).ok()?;
    Some(t.inverse_cdf(1.0 - (1.0 - confidence) / 2.0))
}

impl Ranked {
    fn of(samples: &Histogram) -> Self {
        let (least, most) = (samples.min().unwrap_or(0), samples.max().unwrap_or(0));
        let mut seen = 0;
        let bucket = |bucket: crate::Bucket| {
            seen += bucket.count;
            (seen, bucket.low_ns.max(least), bucket.high_ns.min(most))
        };
        Self(samples.buckets().map(bucket).collect())
    }

    /// The outer edges of the buckets of the order statistics between which the quantile lies.
    fn interval(&self, quantile: f64, confidence: f64) -> Option<(f64, f64)> {
        let count = self.0.last()?.0;
        let (low, high) = crate::histogram::ranks(quantile, count, confidence)?;
        let at = |rank: u64| self.0.get(self.0.partition_point(|(last, ..)| *last < rank));
        Some((at(low)?.1 as f64, at(high)?.2 as f64))
    }
}

impl SampledPair {
    fn of(figure: Figure, a: Sampled, b: Sampled) -> Self {
        let mut pair = Self { figure, a, b, p: 1.0 };
        pair.p = p_value(|risk| pair.differs(1.0 - risk));
        pair
    }

    /// Two-sided p-value of no difference.
    pub fn p(&self) -> f64 {
        self.p
    }

    fn interval(&self, confidence: f64) -> Option<(f64, f64)> {
        let (a, b) = (self.a.interval(confidence)?, self.b.interval(confidence)?);
        Some(super::location::apart((self.a.value, a), (self.b.value, b)))
    }

    fn differs(&self, confidence: f64) -> bool {
        self.interval(confidence)
            .is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }

    /// What is said with this confidence of this one figure.
    pub fn at(&self, confidence: f64) -> BySamples {
        let (a, b) = (self.a.value, self.b.value);
        let tolerance = tolerance(a);
        let interval = self.interval(confidence);
        let (low, high) = interval.unwrap_or((f64::NAN, f64::NAN));
        let difference = Difference {
            figure: self.figure,
            a,
            b,
            difference: b - a,
            low,
            high,
            confidence,
            p: self.p,
            tolerance,
            outcome: interval.map_or(Outcome::Undecided, |_| outcome(low, high, tolerance)),
        };
        let by_windows = self.a.spread.is_some() && self.b.spread.is_some();
        BySamples {
            difference,
            assumed: if by_windows { Assumed::Windows } else { Assumed::Samples },
        }
    }
}
