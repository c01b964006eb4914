//! Short runs: their few windows, or else their samples, show less than many windows do.
//!
//! A few windows are treated as independent, except for the visible resemblance of neighbours: their median lies between two of
//! them, by the binomial distribution (David and Nagaraja, Order Statistics, 2003, section 7.1). If they are too few for the
//! requested confidence, only a difference far larger than their spread is reported. A run of hardly one window is compared by the
//! ranks of its samples, which is valid for independent samples; latencies seldom are. No result of this kind is called sure.

use super::location::{Location, apart};
use super::{Difference, Figure, Outcome, WINDOWS_NEEDED, WindowFigures, outcome, p_value, tolerance};
use crate::Histogram;
use crate::ranks::{autocorrelation, mid_ranks};
use crate::stationarity::{self, Steadiness};

/// Fewest windows that are compared as windows.
const FEW: usize = 6;

/// Largest correlation of neighbours that is assumed.
const MOST_ALIKE: f64 = 0.95;

/// Fewest samples for a statement about a median.
const SAMPLES_NEEDED: u64 = 6;

/// Windows with at most this many samples have no figure of their own: the samples are used instead.
const FEW_IN_A_WINDOW: u64 = 2;

/// The assumptions of a comparison of short runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assumed {
    /// Windows are independent, except for the resemblance of neighbours within them.
    Windows,
    /// Samples are independent: each says nothing about the next.
    Samples,
}

/// The difference of a figure, as far as such short runs show it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BySamples {
    /// The figure and its difference; `a` and `b` are medians over few windows, or else of all samples.
    pub difference: Difference,
    /// Its assumptions.
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
enum Sampled {
    Windows(Few),
    Samples { quantile: f64, value: f64, ranked: Ranked },
}

/// The figure of each of a few windows.
#[derive(Debug, Clone)]
struct Few {
    sorted: Vec<f64>,
    /// Number of independent windows that they are worth.
    worth: u64,
    location: Location,
}

/// The samples of a histogram in order: for each bucket the rank of its last sample, and its edges.
#[derive(Debug, Clone)]
struct Ranked(Vec<(u64, u64, u64)>);

/// All samples of a run, and the figures of its windows in order of time.
type Run<'a> = (&'a Histogram, &'a [WindowFigures]);

/// The figures that both runs support, for two runs with too few windows for a strict comparison.
pub fn by_samples(a: Run<'_>, b: Run<'_>) -> Vec<SampledPair> {
    let pair = |figure: Figure| {
        let (of_a, of_b) = (figure.values(a.1), figure.values(b.1));
        let fewest = of_a.len().min(of_b.len());
        if fewest >= WINDOWS_NEEDED || changes(&of_a) || changes(&of_b) {
            return None;
        }
        if fewest >= FEW {
            let [a, b] = [of_a, of_b].map(|values| Sampled::Windows(Few::of(values)));
            return Some(SampledPair::of(figure, a, b));
        }
        // Samples must not be used to bypass windows without the figure.
        (has_no_windows(a) || has_no_windows(b)).then_some(())?;
        let (a, b) = (Sampled::of(figure, a.0)?, Sampled::of(figure, b.0)?);
        Some(SampledPair::of(figure, a, b))
    };
    Figure::ALL.into_iter().filter_map(pair).collect()
}

/// True if a run has hardly a window, or hardly more samples than windows.
fn has_no_windows((samples, windows): Run<'_>) -> bool {
    let with_samples = windows.iter().filter(|window| window.count > 0).count();
    with_samples < FEW || samples.count() <= FEW_IN_A_WINDOW * with_samples as u64
}

fn changes(values: &[f64]) -> bool {
    let found = stationarity::check(values).verdict;
    matches!(found, Steadiness::Trend | Steadiness::Shift)
}

impl Sampled {
    /// Takes a figure of all samples: the quantiles, if there are enough samples.
    fn of(figure: Figure, samples: &Histogram) -> Option<Self> {
        let quantile = match figure {
            Figure::Median => 0.5,
            Figure::P99 => 0.99,
            Figure::P999 => 0.999,
            Figure::Mean | Figure::WindowMax => return None,
        };
        let is_enough = match figure {
            Figure::Median => samples.count() >= SAMPLES_NEEDED,
            _ => samples.supports(quantile),
        };
        let value = samples.quantile(quantile).filter(|_| is_enough)? as f64;
        let ranked = Ranked::of(samples);
        Some(Self::Samples {
            quantile,
            value,
            ranked,
        })
    }

    fn middle(&self) -> f64 {
        match self {
            Self::Windows(few) => few.location.median(),
            Self::Samples { value, .. } => *value,
        }
    }

    /// Interval that contains the figure with this confidence; `None` if there is too little data.
    fn interval(&self, confidence: f64) -> Option<(f64, f64)> {
        match self {
            Self::Windows(few) => few.interval(confidence).or_else(|| few.location.interval(confidence)),
            Self::Samples { quantile, ranked, .. } => ranked.interval(*quantile, confidence),
        }
    }

    /// True if the interval is more than a statement that excludes very distant values.
    fn tells(&self, confidence: f64) -> bool {
        match self {
            Self::Windows(few) => few.interval(confidence).is_some() || few.location.tells(confidence),
            Self::Samples { .. } => true,
        }
    }
}

impl Few {
    /// Takes the figure of each window, in order of time.
    fn of(values: Vec<f64>) -> Self {
        let alike = autocorrelation(&mid_ranks(&values), 1).clamp(0.0, MOST_ALIKE);
        let worth = values.len() as f64 * (1.0 - alike) / (1.0 + alike);
        let location = Location::of(&values);
        let mut sorted = values;
        sorted.sort_unstable_by(f64::total_cmp);
        Self {
            sorted,
            worth: worth.floor() as u64,
            location,
        }
    }

    /// The windows between which the median lies; `None` if they are too few for this confidence.
    fn interval(&self, confidence: f64) -> Option<(f64, f64)> {
        let (low, high) = crate::histogram::ranks(0.5, self.worth, confidence)?;
        let each = self.sorted.len() as f64 / self.worth as f64;
        let first = ((low - 1) as f64 * each).floor() as usize;
        let last = ((high as f64 * each).ceil() as usize).min(self.sorted.len()) - 1;
        Some((*self.sorted.get(first)?, *self.sorted.get(last)?))
    }
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
        Some(apart((self.a.middle(), a), (self.b.middle(), b)))
    }

    fn differs(&self, confidence: f64) -> bool {
        self.interval(confidence)
            .is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }

    fn tells(&self, confidence: f64) -> bool {
        self.a.tells(confidence) && self.b.tells(confidence)
    }

    /// The statement about this one figure with this confidence.
    pub fn at(&self, confidence: f64) -> BySamples {
        let (a, b) = (self.a.middle(), self.b.middle());
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
            outcome: match (interval, outcome(low, high, tolerance)) {
                (None, _) => Outcome::Undecided,
                (_, Outcome::NoDifference) if !self.tells(confidence) => Outcome::Undecided,
                (_, outcome) => outcome,
            },
        };
        let assumed = match self.a {
            Sampled::Windows(_) => Assumed::Windows,
            Sampled::Samples { .. } => Assumed::Samples,
        };
        BySamples { difference, assumed }
    }
}
