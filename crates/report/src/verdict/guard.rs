//! The decision rule: how near its limit a figure may pass, and the risk that it is truly over it (JCGM 106:2012).

use super::{Check, Measured, Verdict};
use crate::limits::{Guard, Limit, Profile, Rule, Sense, Unit};
use crate::uncertainty::UncertaintyBudget;
use model::{RunView, SeriesView};
use units::format_ns;

/// Smaller risks are not told apart.
const LEAST_RISK: f64 = 1e-6;

/// The numbers behind a decision about a duration.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    /// The rule.
    pub rule: Rule,
    /// Width of the guard band in ns; `None` without one, or if it is not known.
    pub guard_ns: Option<f64>,
    /// Combined standard uncertainty of the figure in ns; `None` if a component is not known.
    pub standard_ns: Option<f64>,
    /// Expanded uncertainty (k = 2) in ns; `None` if a component is not known.
    pub expanded_ns: Option<f64>,
    /// For a pass: the probability that the true value is over the limit, but at least one in a million.
    pub risk: Option<f64>,
    /// The largest such probability with which the rule lets a figure pass.
    pub risk_most: Option<f64>,
    /// Components that are not known, each with its reason.
    pub unknown: Vec<String>,
}

impl Decided {
    /// The decision of a profile about a figure; `None` for counts, and for series whose errors are not modelled if nothing depends
    /// on them.
    pub(super) fn of(
        run: &RunView,
        series: &SeriesView,
        (profile, limit): (&Profile, &Limit),
        measured: Measured,
    ) -> Option<Self> {
        if limit.quantity.unit() != Unit::Ns || limit.quantity.sense() != Sense::AtMost {
            return None;
        }
        let decision = &profile.decision;
        let stated = decision.stamp_to_wire_ns;
        let budget = UncertaintyBudget::of((run, series), limit.quantity, measured.as_f64(), stated);
        let combined = budget.as_ref().and_then(UncertaintyBudget::combined);
        let unknown = match &budget {
            Some(budget) => budget.unknown(),
            None => vec!["the errors of this kind of series (no model)".to_owned()],
        };
        let guard_ns = match (decision.rule, &combined) {
            (Rule::Guarded(guard), Some(combined)) => Some(guard.width_ns(combined.expanded())),
            _ => None,
        };
        let allowed = limit.allowed as f64;
        let nearest = allowed - guard_ns.unwrap_or(0.0);
        let risk = |value: f64| {
            combined
                .as_ref()
                .map(|combined| combined.risk(value, allowed).max(LEAST_RISK))
        };
        Some(Self {
            rule: decision.rule,
            guard_ns,
            standard_ns: combined.as_ref().map(stats::uncertainty::Combined::standard),
            expanded_ns: combined.as_ref().map(stats::uncertainty::Combined::expanded),
            risk: risk(measured.as_f64()),
            risk_most: risk(nearest),
            unknown,
        })
    }

    /// The verdict under the rule. It only ever takes a pass away: a figure over its limit fails under every rule.
    pub(super) fn hold(
        &mut self,
        limit: &Limit,
        measured: Measured,
        (verdict, why): (Verdict, String),
    ) -> (Verdict, String) {
        let added = self.reservation(measured.as_f64(), limit.allowed as f64);
        let verdict = match (verdict, &added) {
            (Verdict::Pass, Some(_)) => Verdict::Inconclusive,
            (verdict, _) => verdict,
        };
        if verdict != Verdict::Pass {
            self.risk = None;
        }
        let texts = [why, added.unwrap_or_default()];
        let said: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        (verdict, said.join("; "))
    }

    /// Text that the rule adds to the reason: for a figure that may not pass by it, or that is over its limit by less than the guard band.
    fn reservation(&self, measured: f64, allowed: f64) -> Option<String> {
        let Rule::Guarded(guard) = self.rule else { return None };
        let band = guard.text();
        let Some(width) = self.guard_ns else {
            let unknown = self.unknown.join("; ");
            return (measured <= allowed).then(|| format!("guarded acceptance, {band}: not known: {unknown}"));
        };
        let band = match self.expanded_ns {
            Some(expanded) => format!("{} ({band}, U = {}, k = 2)", format_ns(width), format_ns(expanded)),
            None => format_ns(width),
        };
        if measured > allowed {
            let over = format_ns(measured - allowed);
            return (measured - width <= allowed).then(|| {
                format!("over the limit by {over}, less than the guard band of {band}, which softens no fail")
            });
        }
        let below = format_ns(allowed - measured);
        (measured + width > allowed).then(|| format!("within the limit by {below}, the guard band is {band}"))
    }

    /// Rule, uncertainty and risks in one line; `None` if there is nothing to state.
    pub fn text(&self) -> Option<String> {
        let expanded = self.expanded_ns?;
        let rule = match (self.rule, self.guard_ns) {
            (Rule::Guarded(guard @ Guard::Fixed(_)), _) => format!("guarded acceptance, {}", guard.text()),
            (Rule::Guarded(guard), Some(width)) => {
                format!("guarded acceptance, {} = {}", guard.text(), format_ns(width))
            }
            _ => "simple acceptance".to_owned(),
        };
        let risk = self
            .risk
            .map(|risk| format!("; risk of false acceptance {}", percent(risk)));
        let most = self.risk_most.map(|most| {
            format!(
                ", with this rule at most {}",
                percent(most).trim_start_matches("below ")
            )
        });
        Some(format!(
            "{rule}; U = {} (k = 2){}",
            format_ns(expanded),
            risk.map_or_else(String::new, |risk| risk + &most.unwrap_or_default())
        ))
    }
}

impl Check {
    /// The decision rule with its numbers, in one line; `None` if there is nothing to state.
    pub fn decision_text(&self) -> Option<String> {
        self.decision.as_ref().and_then(Decided::text)
    }
}

/// A probability in percent.
pub(crate) fn percent(risk: f64) -> String {
    match risk {
        risk if risk <= LEAST_RISK => "below 0.0001 %".to_owned(),
        risk if risk < 0.001 => format!("{:.4} %", risk * 100.0),
        risk => format!("{:.2} %", risk * 100.0),
    }
}
