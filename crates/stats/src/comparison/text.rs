//! A comparison in words.

use super::{Difference, Figure, Outcome};
use units::format_ns;

impl Figure {
    /// The figure over several windows, for a sentence.
    fn plural(self) -> &'static str {
        match self {
            Self::Mean => "window means",
            Self::Median => "window medians",
            Self::P99 => "window 99 % quantiles",
            Self::P999 => "window 99.9 % quantiles",
            Self::WindowMax => "window maxima",
        }
    }
}

impl Difference {
    /// The result in words, with the runs' names:
    /// `B's window maxima are 12.3 µs higher than A's (95 %: 8.10 µs .. 17.0 µs)`.
    pub fn text(&self, a: &str, b: &str) -> String {
        let what = self.figure.plural();
        let sure = percent(self.confidence);
        match self.outcome {
            Outcome::Higher => format!(
                "{b}'s {what} are {} higher than {a}'s ({sure}: {} .. {})",
                format_ns(self.difference),
                format_ns(self.low),
                format_ns(self.high),
            ),
            Outcome::Lower => format!(
                "{b}'s {what} are {} lower than {a}'s ({sure}: {} .. {})",
                format_ns(-self.difference),
                format_ns(-self.high),
                format_ns(-self.low),
            ),
            Outcome::NoDifference => format!(
                "{b}'s {what} equal {a}'s to within {} ({sure}: {} .. {})",
                format_ns(self.tolerance),
                signed(self.low),
                signed(self.high),
            ),
            Outcome::Undecided => format!(
                "undecided whether {b}'s {what} differ from {a}'s: the difference lies between {} and {} ({sure}); more \
                 windows would tell",
                signed(self.low),
                signed(self.high),
            ),
            Outcome::TooFewWindows { have, need } => format!(
                "{what} of {a} and {b} not compared: one run has the figure in {have} of the {need} windows it takes; \
                 measure longer, or in shorter windows"
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
fn percent(confidence: f64) -> String {
    format!("{} %", (confidence * 1e5).round() / 1e3)
}
