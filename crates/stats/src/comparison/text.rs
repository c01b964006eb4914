//! A comparison in words.

use super::{Assumed, BySamples, Difference, Figure, Outcome};
use units::format_ns;

impl Figure {
    /// The figure of the middle window, for a sentence.
    fn typical(self) -> &'static str {
        match self {
            Self::Mean => "typical window mean",
            Self::Median => "typical window median",
            Self::P99 => "typical window 99 % quantile",
            Self::P999 => "typical window 99.9 % quantile",
            Self::WindowMax => "typical window maximum",
        }
    }

    /// The figure of all samples.
    fn of_all(self) -> &'static str {
        let typical = self.typical();
        typical.strip_prefix("typical window ").unwrap_or(typical)
    }
}

impl Assumed {
    /// The assumption, after the word "if".
    fn text(self) -> &'static str {
        match self {
            Self::Windows => "windows are independent except for the correlation of neighbours",
            Self::Samples => "samples are independent of each other, which latencies seldom are",
        }
    }
}

impl BySamples {
    /// The result in words, with the runs' names:
    /// `not sure: B's typical window median is 12.3 µs higher than A's (95 %: 8.10 µs .. 17.0 µs), if …`.
    pub fn text(&self, a: &str, b: &str) -> String {
        let (one, assumed) = (&self.difference, self.assumed.text());
        let sure = percent(one.confidence);
        let what = match self.assumed {
            Assumed::Windows => one.figure.typical(),
            Assumed::Samples => one.figure.of_all(),
        };
        let interval = match one.low.is_finite() && one.high.is_finite() {
            true => format!("{sure}: {} .. {}", signed(one.low), signed(one.high)),
            false => format!("too few for {sure}"),
        };
        let by = format_ns(one.difference.abs());
        let said = match one.outcome {
            Outcome::Higher => format!("{b}'s {what} is {by} higher than {a}'s"),
            Outcome::Lower => format!("{b}'s {what} is {by} lower than {a}'s"),
            Outcome::NoDifference => format!("{b}'s {what} equals {a}'s to within {}", format_ns(one.tolerance)),
            _ => format!("undecided whether {b}'s {what} differs from {a}'s"),
        };
        format!("not sure: {said} ({interval}), if {assumed}")
    }
}

impl Difference {
    /// The result in words, with the runs' names:
    /// `B's typical window maximum (the median over windows) is 12.3 µs higher than A's (95 %: 8.10 µs .. 17.0 µs)`.
    pub fn text(&self, a: &str, b: &str) -> String {
        let what = format!("{} (the median over windows)", self.figure.typical());
        let sure = percent(self.confidence);
        match self.outcome {
            Outcome::Higher => format!(
                "{b}'s {what} is {} higher than {a}'s ({sure}: {} .. {})",
                format_ns(self.difference),
                format_ns(self.low),
                format_ns(self.high),
            ),
            Outcome::Lower => format!(
                "{b}'s {what} is {} lower than {a}'s ({sure}: {} .. {})",
                format_ns(-self.difference),
                format_ns(-self.high),
                format_ns(-self.low),
            ),
            Outcome::NoDifference => format!(
                "{b}'s {what} equals {a}'s to within {} ({sure}: {} .. {})",
                format_ns(self.tolerance),
                signed(self.low),
                signed(self.high),
            ),
            Outcome::Undecided => format!(
                "undecided whether {b}'s {what} differs from {a}'s: the difference lies between {} and {} ({sure}); more \
                 windows would decide",
                signed(self.low),
                signed(self.high),
            ),
            Outcome::TooFewWindows { have, need } => format!(
                "{what} of {a} and {b} not compared: one run has the figure in {have} of the {need} windows needed; \
                 measure longer, or in shorter windows"
            ),
            Outcome::TooAlike => format!(
                "{what} of {a} and {b} not compared: neighbouring windows resemble each other so much that a run of this \
                 length is hardly more than one value; measure longer"
            ),
            Outcome::NotSteady => format!(
                "{what} of {a} and {b} not compared: it changes during one of the runs, so its median represents no \
                 part of that run; measure under constant load"
            ),
        }
    }
}

/// A difference with its sign; zero has none.
fn signed(ns: f64) -> String {
    if ns > 0.0 {
        format!("+{}", format_ns(ns))
    } else {
        format_ns(ns)
    }
}

/// A confidence as a person writes it: `95 %`, `99.9 %`.
pub(super) fn percent(confidence: f64) -> String {
    format!("{} %", (confidence * 1e4 + 1e-6).floor() / 1e2)
}
