//! Remedies from the run's audit that are most likely to help against the observed causes.

use crate::Report;
use audit::rule::{Rule, built_in};
use model::Cause;
use model::fact::REMEDIES;

/// The remedies stored in a run, those of the most severe rules first.
pub(super) struct Findings<'a> {
    found: Vec<(Rule, &'a str)>,
}

impl<'a> Findings<'a> {
    pub(super) fn of(report: &'a Report) -> Self {
        let rules = built_in().into_iter().flat_map(|(_, group)| group.rules);
        let with_remedy = |rule: Rule| {
            let text = remedy(report, &rule)?;
            Some((rule, text))
        };
        let mut found: Vec<(Rule, &str)> = rules.filter_map(with_remedy).collect();
        found.sort_by(|(a, _), (b, _)| {
            let by_worth = || b.worth.us.total_cmp(&a.worth.us).then_with(|| a.id.cmp(&b.id));
            b.severity.cmp(&a.severity).then_with(by_worth)
        });
        Self { found }
    }

    /// Remedies that help against a cause: for example, isolated CPUs do not help against a hypervisor's stall.
    pub(super) fn curing(&self, cause: Cause) -> impl Iterator<Item = String> {
        let cures = move |rule: &Rule| rule.causes.iter().any(|cured| cured == cause.word());
        let found = self.found.iter().filter(move |(rule, _)| cures(rule));
        found.map(|(_, text)| (*text).to_owned())
    }
}

fn remedy<'a>(report: &'a Report, rule: &Rule) -> Option<&'a str> {
    let mut facts = report.run.facts.iter();
    let fact = facts.find(|fact| fact.group == REMEDIES && fact.name == rule.id)?;
    fact.value.as_deref().ok()
}
