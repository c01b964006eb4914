//! The median over windows, with its uncertainty.

use crate::dependence::Dependence;

/// Even if windows depend on each other too much for an interval, a median may be so far from another that no slow load explains
/// it: for each factor of ten of the risk, by this many times the distance from the lowest tenth of the windows to the highest.
const SPREADS: f64 = 1.5;

/// The figure of a run: the median of its windows.
#[derive(Debug, Clone)]
pub(super) struct Location {
    sorted: Vec<f64>,
    dependence: Option<Dependence>,
}

impl Location {
    /// Takes the figure of each window, in order of time; all values are finite.
    pub(super) fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Self {
            sorted,
            dependence: (values.len() > 2).then(|| Dependence::of(values)),
        }
    }

    /// The median; NaN without windows.
    pub(super) fn median(&self) -> f64 {
        self.at(0.5, f64::floor) / 2.0 + self.at(0.5, f64::ceil) / 2.0
    }

    /// Interval that contains the median with this confidence (Woodruff, Journal of the American Statistical Association 47, 1952):
    /// the share of windows below the median is known up to an uncertainty, and the figures at the ends of that range are the ends
    /// of the interval. If the uncertainty covers all windows, the interval is many times as wide as their spread. `None` with
    /// hardly any windows.
    pub(super) fn interval(&self, confidence: f64) -> Option<(f64, f64)> {
        let away = self.away(confidence)?;
        if self.tells(confidence) {
            return Some((self.at(0.5 - away, f64::floor), self.at(0.5 + away, f64::ceil)));
        }
        let spread = self.at(0.9, f64::ceil) - self.at(0.1, f64::floor);
        let wide = SPREADS * -(1.0 - confidence).log10() * spread;
        Some((self.median() - wide, self.median() + wide))
    }

    /// True if the windows determine the interval; false if it only excludes very distant values.
    pub(super) fn tells(&self, confidence: f64) -> bool {
        let margin = 0.5 / self.sorted.len().max(1) as f64;
        self.away(confidence).is_some_and(|away| away + margin < 0.5)
    }

    /// Half-width of the interval for the share of windows below the median, which is around one half.
    fn away(&self, confidence: f64) -> Option<f64> {
        Some(0.5 * self.dependence?.half_width(confidence))
    }

    /// The figure below which this share of the windows lies; `round` chooses between two ranks.
    fn at(&self, share: f64, round: fn(f64) -> f64) -> f64 {
        let last = self.sorted.len().saturating_sub(1) as f64;
        let rank = round(share * self.sorted.len() as f64 - 0.5).clamp(0.0, last);
        self.sorted.get(rank as usize).copied().unwrap_or(f64::NAN)
    }
}

/// Interval of `b - a`, from the intervals of both.
pub(super) fn difference(a: &Location, b: &Location, confidence: f64) -> Option<(f64, f64)> {
    let (of_a, of_b) = (a.interval(confidence)?, b.interval(confidence)?);
    Some(apart((a.median(), of_a), (b.median(), of_b)))
}

/// Interval of the difference of two figures, each with its interval (Zou and Donner, Statistics in Medicine 27, 2008).
pub(super) fn apart(
    (a_middle, (a_low, a_high)): (f64, (f64, f64)),
    (b_middle, (b_low, b_high)): (f64, (f64, f64)),
) -> (f64, f64) {
    let difference = b_middle - a_middle;
    let down = (b_middle - b_low).hypot(a_high - a_middle);
    let up = (b_high - b_middle).hypot(a_middle - a_low);
    (difference - down, difference + up)
}
