//! Decides if the windows of a run are alike from the first to the last.
//!
//! A statement about the future, above all a return level, needs a run that did not change during the measurement. Two tests look
//! for change: Mann-Kendall for a rise or fall over the whole run, Pettitt for a change at one point. Both use ranks only, so no
//! distribution is assumed, and both are corrected for ties and for windows that resemble their neighbours, which would otherwise
//! look like a trend far too often.

mod dependence;
mod shift;
#[cfg(test)]
mod tests;
mod trend;

pub use shift::Pettitt;
pub use trend::MannKendall;

use dependence::variance_factor;

use crate::ranks::{autocorrelation, median, mid_ranks};
use units::format_ns;

/// A remark: the tests cannot distinguish such a load from a change.
const LOOKS_THE_SAME: &str = "; a load that comes and goes over a tenth of the run or more looks the same";

/// A change is reported if its p-value is below this. With two tests, about one steady run in fifty is called unsteady.
pub const SIGNIFICANCE: f64 = 0.01;

/// Fewest windows: with fewer, Pettitt's approximation can never reach the significance.
pub const WINDOWS_NEEDED: usize = 20;

/// Number of independent values that the tested ones must be worth, before a run without a change is called steady.
const WORTH_NEEDED: f64 = 6.0;

/// Maximum number of tested values: if there are more windows, groups of neighbours are averaged. A week has 30 000 windows of 20 s,
/// and the slope uses all pairs; a trend or a shift that matters over a run is as visible in a thousand values.
const MOST_VALUES: usize = 1_000;

/// The change over the run, from its windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stationarity {
    /// Steady rise or fall.
    pub trend: Trend,
    /// Sudden change.
    pub shift: Shift,
    /// Correlation of the ranks of neighbouring values (lag 1), -1 to 1; 0 if all are equal, NaN if there are too few.
    pub autocorrelation: f64,
    /// The conclusion.
    pub verdict: Steadiness,
    /// Number of tested windows.
    pub windows: usize,
    /// Number of neighbouring windows averaged into one tested value; 1 if none were averaged.
    pub group: usize,
}

/// The conclusion of the tests for trend and shift.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steadiness {
    /// Neither a trend nor a shift was found.
    Steady,
    /// The values rise or fall over the run.
    Trend,
    /// The values change at one point and stay at the new level.
    Shift,
    /// Too few windows for a test: every figure is NaN.
    TooShort,
    /// Windows resemble their neighbours so much that a change cannot be distinguished from chance.
    TooAlike,
}

/// A steady rise or fall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Theil-Sen slope, in the unit of the values per window.
    pub slope_per_window: f64,
    /// Mann-Kendall p-value, corrected for ties and autocorrelation.
    pub p: f64,
}

/// A sudden change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// First window after the change, from 0, with the precision of the averaged groups.
    pub at_window: usize,
    /// Pettitt p-value, corrected for ties and autocorrelation.
    pub p: f64,
    /// Median of the windows before the change. NaN if all windows are equal.
    pub before: f64,
    /// Median of the windows from the change on.
    pub after: f64,
}

/// Tests `values`, one figure per window in ns, in order of time, for a trend and a shift. Values that are not finite (windows
/// without the figure) are left out. More than a thousand windows are averaged in groups first.
pub fn check(values: &[f64]) -> Stationarity {
    let windows: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    if windows.len() < WINDOWS_NEEDED {
        return too_short(windows.len());
    }
    let group = windows.len().div_ceil(MOST_VALUES);
    let means: Vec<f64> = windows
        .chunks(group)
        .map(|chunk| chunk.iter().sum::<f64>() / chunk.len() as f64)
        .collect();
    let trend = trend::trend(&means, group);
    let (change, p, residuals) = shift::shift(&means);
    let at_window = change.at * group;
    let shift = Shift {
        at_window,
        p,
        before: median(&mut windows[..at_window].to_vec()),
        after: median(&mut windows[at_window..].to_vec()),
    };
    Stationarity {
        trend,
        shift,
        autocorrelation: autocorrelation(&mid_ranks(&means), 1),
        verdict: verdict(&trend, &shift, &means, &residuals, group),
        windows: windows.len(),
        group,
    }
}

fn too_short(windows: usize) -> Stationarity {
    let unknown = f64::NAN;
    Stationarity {
        trend: Trend {
            slope_per_window: unknown,
            p: unknown,
        },
        shift: Shift {
            at_window: 0,
            p: unknown,
            before: unknown,
            after: unknown,
        },
        autocorrelation: unknown,
        verdict: Steadiness::TooShort,
        windows,
        group: 1,
    }
}

/// The significant change. If both are significant, the one that explains the values better: a shift also looks like a trend, and a
/// trend like a shift.
fn verdict(trend: &Trend, shift: &Shift, means: &[f64], without_shift: &[f64], group: usize) -> Steadiness {
    let alike = means.len() as f64 / variance_factor(without_shift) < WORTH_NEEDED;
    match (trend.p < SIGNIFICANCE, shift.p < SIGNIFICANCE) {
        (false, false) if alike => Steadiness::TooAlike,
        (false, false) => Steadiness::Steady,
        (true, false) => Steadiness::Trend,
        (false, true) => Steadiness::Shift,
        (true, true) => {
            let slope = trend.slope_per_window * group as f64;
            let line: Vec<f64> = means.iter().enumerate().map(|(i, v)| v - slope * i as f64).collect();
            if left_over(&line) < left_over(without_shift) {
                Steadiness::Trend
            } else {
                Steadiness::Shift
            }
        }
    }
}

/// Sum of the distances from the median.
fn left_over(residuals: &[f64]) -> f64 {
    let middle = median(&mut residuals.to_vec());
    residuals.iter().map(|value| (value - middle).abs()).sum()
}

impl Stationarity {
    /// The verdict in words, for values in ns.
    pub fn text(&self) -> String {
        let windows = self.windows;
        let figures = format!("trend p = {}, shift p = {}", p_text(self.trend.p), p_text(self.shift.p));
        let grouped = match self.group {
            1 => String::new(),
            group => format!(", means of {group} windows"),
        };
        match self.verdict {
            Steadiness::TooShort => {
                format!("too short to tell whether it is steady: {windows} of the {WINDOWS_NEEDED} windows needed")
            }
            Steadiness::TooAlike => format!(
                "cannot tell whether it is steady: the {windows} windows resemble their neighbours so much that a change looks \
                 like chance ({figures}{grouped})"
            ),
            Steadiness::Steady => format!("steady over {windows} windows ({figures}{grouped})"),
            Steadiness::Trend => {
                let whole = self.trend.slope_per_window * windows as f64;
                let way = if whole < 0.0 { "falls" } else { "rises" };
                let by = format_ns(whole.abs());
                format!("not steady: {way} by {by} over {windows} windows ({figures}{grouped}){LOOKS_THE_SAME}")
            }
            Steadiness::Shift => format!(
                "not steady: from window {} on at {}, before that at {} ({figures}{grouped}){LOOKS_THE_SAME}",
                self.shift.at_window + 1,
                format_ns(self.shift.after),
                format_ns(self.shift.before),
            ),
        }
    }
}

/// A p-value for a person: three decimals, or that it is smaller.
fn p_text(p: f64) -> String {
    if p < 0.001 {
        "below 0.001".to_owned()
    } else {
        format!("{p:.3}")
    }
}
