//! Events that a typical window does not show: the run's maximum, samples over a limit, periods missed, samples lost.
//!
//! One stall makes many samples late and many periods missed, so the windows in which it happened are counted. Given their number
//! in both runs, the number in B is binomial if both runs have the same rate: the conditional test of two rates (Przyborowski and
//! Wilenski, Biometrika 31, 1940), with the exact interval of Clopper and Pearson. Windows that come in bursts count as fewer.

use super::p_value;
use crate::dependence::Dependence;
use crate::exceedance;
use units::{Ns, format_ns};

/// Share of one run's windows above which an event is not rare: then windows depend on each other as their maxima do.
const RARE: f64 = 0.1;

/// The kind of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened {
    /// Samples over a limit, in ns.
    Over(u64),
    /// Periods were skipped.
    Missed,
    /// Samples were lost.
    Lost,
    /// The other run's maximum was exceeded.
    Highest,
}

/// The rare events of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Rare {
    /// For each window in order of time: true if the event happened in it.
    pub happened: Vec<bool>,
    /// Largest sample of each of these windows in ns; NaN for a window without samples.
    pub maxima: Vec<f64>,
    /// Total length of these windows, in ns.
    pub exposure_ns: u64,
    /// Total number of events.
    pub total: u64,
}

/// The rate of an event in B, compared with A.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RareDifference {
    /// The kind of event.
    pub what: Happened,
    /// Number of windows of A in which the event happened.
    pub a: u64,
    /// Number of windows of B in which the event happened.
    pub b: u64,
    /// Windows of A.
    pub a_windows: u64,
    /// Windows of B.
    pub b_windows: u64,
    /// Total number of events in A; for the run's maximum, that maximum in ns.
    pub a_total: f64,
    /// The same for B.
    pub b_total: f64,
    /// Lower end of the interval of the ratio of B's rate to A's.
    pub ratio_low: f64,
    /// Upper end; infinite if A's rate may be zero.
    pub ratio_high: f64,
    /// Confidence of the interval.
    pub confidence: f64,
    /// Two-sided p-value of equal rates, before it is compared with those of other figures.
    pub p: f64,
    /// The conclusion.
    pub outcome: RareOutcome,
}

/// The conclusion of a comparison of rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RareOutcome {
    /// It happens more often in B.
    Higher,
    /// It happens less often in B.
    Lower,
    /// Chance can explain the difference.
    Undecided,
    /// It happened in neither run.
    InNeither,
}

/// Two runs ready to be compared, at any confidence.
#[derive(Debug, Clone, Copy)]
pub struct RarePair {
    difference: RareDifference,
    /// Number of counted windows, after the correction for bursts: of B, and of both.
    counted: (u64, u64),
    /// B's share of the exposure.
    share: f64,
}

impl Rare {
    /// Compares B's windows with A's.
    pub fn pair(what: Happened, a: &Self, b: &Self) -> RarePair {
        let count = |run: &Self| run.happened.iter().filter(|happened| **happened).count() as u64;
        let factor = a.factor(b);
        let counted = |n: u64| (n as f64 / factor).floor() as u64;
        let exposure = (a.exposure_ns as f64, b.exposure_ns as f64);
        let difference = RareDifference {
            what,
            a: count(a),
            b: count(b),
            a_windows: a.happened.len() as u64,
            b_windows: b.happened.len() as u64,
            a_total: a.total as f64,
            b_total: b.total as f64,
            ratio_low: 0.0,
            ratio_high: f64::INFINITY,
            confidence: f64::NAN,
            p: f64::NAN,
            outcome: RareOutcome::Undecided,
        };
        RarePair::new(
            difference,
            (counted(difference.b), counted(difference.a) + counted(difference.b)),
            exposure.1 / (exposure.0 + exposure.1).max(1.0),
        )
    }

    /// How many windows count as one.
    fn factor(&self, other: &Self) -> f64 {
        let runs = [self, other];
        let share =
            |run: &Self| run.happened.iter().filter(|yes| **yes).count() as f64 / run.happened.len().max(1) as f64;
        let mut factor = 1.0f64;
        for run in runs {
            let indicator: Vec<f64> = run.happened.iter().map(|yes| f64::from(u8::from(*yes))).collect();
            factor = factor.max(factor_of(&indicator));
            if runs.into_iter().any(|run| share(run) > RARE) {
                let maxima: Vec<f64> = run.maxima.iter().copied().filter(|max| max.is_finite()).collect();
                factor = factor.max(factor_of(&maxima));
            }
        }
        factor
    }
}

fn factor_of(values: &[f64]) -> f64 {
    match values.len() > 2 {
        true => Dependence::of(values).factor(),
        false => 1.0,
    }
}

/// Compares the runs' maxima, by the number of windows of the higher run that are above every window of the lower one: if the
/// windows of both runs are alike, each of these may belong to either run with equal probability (a precedence test: Epstein,
/// Journal of the American Statistical Association 49, 1954). `a` and `b` hold the largest sample of each window, in order of time.
/// `None` if a run has no windows.
pub fn highest(a: &[f64], b: &[f64]) -> Option<RarePair> {
    let top = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (top_a, top_b) = (top(a), top(b));
    if !(top_a.is_finite() && top_b.is_finite()) {
        return None;
    }
    let above = |values: &[f64], level: f64| -> Vec<f64> {
        values.iter().map(|value| f64::from(u8::from(*value > level))).collect()
    };
    let (over_a, over_b) = (above(a, top_b), above(b, top_a));
    let count = |over: &[f64]| over.iter().sum::<f64>() as u64;
    let factors = [a, b, &over_a, &over_b].map(factor_of);
    let factor = factors.into_iter().fold(1.0, f64::max);
    let counted = |n: u64| (n as f64 / factor).floor() as u64;
    let difference = RareDifference {
        what: Happened::Highest,
        a: count(&over_a),
        b: count(&over_b),
        a_windows: a.len() as u64,
        b_windows: b.len() as u64,
        a_total: top_a,
        b_total: top_b,
        ratio_low: 0.0,
        ratio_high: f64::INFINITY,
        confidence: f64::NAN,
        p: f64::NAN,
        outcome: RareOutcome::Undecided,
    };
    let (of_a, of_b) = (counted(difference.a), counted(difference.b));
    let share = b.len() as f64 / (a.len() + b.len()) as f64;
    Some(RarePair::new(difference, (of_b, of_a + of_b), share))
}

impl RarePair {
    fn new(difference: RareDifference, counted: (u64, u64), share: f64) -> Self {
        let mut pair = Self {
            difference,
            counted,
            share,
        };
        if difference.a + difference.b == 0 {
            pair.difference.outcome = RareOutcome::InNeither;
        } else {
            pair.difference.p = p_value(|risk| pair.differs(1.0 - risk));
        }
        pair
    }

    /// Two-sided p-value; `None` if there is nothing to compare.
    pub fn p(&self) -> Option<f64> {
        Some(self.difference.p).filter(|p| p.is_finite())
    }

    fn differs(&self, confidence: f64) -> bool {
        let (low, high) = exceedance::interval(self.counted.0, self.counted.1, confidence);
        self.counted.1 > 0 && (self.share < low || self.share > high)
    }

    /// The statement with this confidence.
    pub fn at(&self, confidence: f64) -> RareDifference {
        let mut result = self.difference;
        result.confidence = confidence;
        if result.outcome == RareOutcome::InNeither {
            return result;
        }
        let (low, high) = match self.counted.1 {
            0 => (0.0, 1.0),
            all => exceedance::interval(self.counted.0, all, confidence),
        };
        let ratio = |share: f64| share / (1.0 - share) * (1.0 - self.share) / self.share;
        (result.ratio_low, result.ratio_high) = (ratio(low), ratio(high));
        if self.differs(confidence) {
            result.outcome = match self.share < low {
                true => RareOutcome::Higher,
                false => RareOutcome::Lower,
            };
        }
        result
    }
}

impl RareDifference {
    /// The result in words, with the runs' names.
    pub fn text(&self, a: &str, b: &str) -> String {
        let sure = super::text::percent(self.confidence);
        let verdict = match self.outcome {
            RareOutcome::Higher => format!("more than chance ({sure})"),
            RareOutcome::Lower => format!("fewer than chance ({sure})"),
            _ => "undecided, it may be chance".to_owned(),
        };
        if self.what == Happened::Highest {
            return self.text_of_maxima(a, b);
        }
        let what = match self.what {
            Happened::Over(limit_ns) => format!("samples over {}", Ns(limit_ns)),
            Happened::Missed => "missed periods".to_owned(),
            Happened::Lost | Happened::Highest => "lost samples".to_owned(),
        };
        if self.outcome == RareOutcome::InNeither {
            return format!("{what}: none in {a} and none in {b}");
        }
        let of = |total: f64, n: u64, windows: u64| format!("{total:.0} in {n} of {windows} windows");
        format!(
            "{what}: {} in {b}, {} in {a}: {verdict}; windows with any are {} as frequent",
            of(self.b_total, self.b, self.b_windows),
            of(self.a_total, self.a, self.a_windows),
            self.ratio(),
        )
    }

    fn text_of_maxima(&self, a: &str, b: &str) -> String {
        let (low, high) = (format_ns(self.a_total), format_ns(self.b_total));
        let sure = super::text::percent(self.confidence);
        let (higher, over, windows, lower) = match self.b_total >= self.a_total {
            true => (b, self.b, self.b_windows, a),
            false => (a, self.a, self.a_windows, b),
        };
        let so = match self.outcome {
            RareOutcome::Higher | RareOutcome::Lower => format!("more than chance ({sure})"),
            RareOutcome::InNeither => "they are equal".to_owned(),
            RareOutcome::Undecided => "undecided, it may be chance".to_owned(),
        };
        format!(
            "run maximum: {high} in {b}, {low} in {a}; {over} of {higher}'s {windows} windows are above all of {lower}'s: {so}"
        )
    }

    fn ratio(&self) -> String {
        let times = |ratio: f64| match ratio.is_finite() {
            true => format!("{ratio:.2}"),
            false => "any number".to_owned(),
        };
        format!("{} to {} times", times(self.ratio_low), times(self.ratio_high))
    }
}
