//! A conclusion as a sentence.

use super::conclusion::{Basis, Conclusion, Factor, Statement};
use crate::text::{capitalised, plural};
use stats::comparison::{Figure, Outcome, WINDOWS_NEEDED};
use units::format_ns;

impl Conclusion {
    /// Text such as `Wake-up latency, container against native over bridge, load none, isolation none: no difference
    /// above 400 ns at the p99.9 of a window.`
    pub(super) fn text(&self) -> String {
        let doubts: String = self.doubts.iter().map(|doubt| format!("; {doubt}")).collect();
        format!(
            "{}, {}: {}{doubts}.",
            capitalised(self.kind.title),
            self.who(),
            self.what()
        )
    }

    /// The two sides of the comparison, and its conditions.
    fn who(&self) -> String {
        let [a, b] = [&self.a, &self.b].map(|conditions| self.factor.of(conditions));
        match self.factor {
            Factor::Place => format!("{b} against {a}{}", self.a.beside_the_place()),
            Factor::Network => format!(
                "{b} against {a} ({}, {}, isolation {})",
                self.a.place,
                self.a.beside(),
                self.a.isolation
            ),
            Factor::Management => format!(
                "management network {b} against {a} ({}{}, load {}, isolation {})",
                self.a.place,
                self.a.over(),
                self.a.load,
                self.a.isolation
            ),
            Factor::Isolation => format!(
                "isolation {b} against {a} ({}{}, {})",
                self.a.place,
                self.a.over(),
                self.a.beside()
            ),
        }
    }

    /// The result of the comparison.
    pub(super) fn what(&self) -> String {
        match &self.said[..] {
            [] => self.cannot_be_told(),
            said => {
                let parts: Vec<String> = said.iter().map(Statement::text).collect();
                parts.join(", ") + sureness(said[0].basis)
            }
        }
    }

    fn cannot_be_told(&self) -> String {
        let windows = plural(self.windows as u64, "window");
        let Some(open) = self.open else {
            return format!("undecided: {windows}");
        };
        let (low, high) = (open.difference.low, open.difference.high);
        match open.difference.outcome {
            _ if low.is_finite() && high.is_finite() => {
                let end = |ns: f64| format!("{} {}", format_ns(ns.abs()), if ns < 0.0 { "faster" } else { "slower" });
                format!(
                    "undecided: between {} and {} at {}, {windows}",
                    end(low),
                    end(high),
                    open.figure()
                )
            }
            Outcome::NotSteady => format!("undecided: it changes during the measurement, {windows}"),
            Outcome::TooAlike => format!("undecided: neighbouring windows are too much alike, {windows}"),
            _ => format!("undecided: {windows} of the {WINDOWS_NEEDED} needed"),
        }
    }
}

/// The certainty of the comparison, as text for people.
fn sureness(basis: Basis) -> &'static str {
    match basis {
        Basis::Windows => "",
        Basis::FewWindows => " (not sure: few windows)",
        Basis::Samples => " (not sure: by samples, assumed to be independent)",
    }
}

impl Statement {
    fn text(&self) -> String {
        let (low, high) = (self.difference.low, self.difference.high);
        let figure = self.figure();
        match self.difference.outcome {
            Outcome::Higher => format!("slower by {} to {} at {figure}", format_ns(low), format_ns(high)),
            Outcome::Lower => format!("faster by {} to {} at {figure}", format_ns(-high), format_ns(-low)),
            _ => format!(
                "no difference above {} at {figure}",
                format_ns(low.abs().max(high.abs()))
            ),
        }
    }

    /// The figure's name in a sentence.
    pub(super) fn figure(&self) -> String {
        let name = match self.difference.figure {
            Figure::Mean => "mean",
            Figure::Median => "median",
            Figure::P99 => "p99",
            Figure::P999 => "p99.9",
            Figure::WindowMax => "maximum",
        };
        match self.basis {
            Basis::Windows | Basis::FewWindows => format!("the {name} of a window"),
            Basis::Samples => format!("the {name}"),
        }
    }
}
