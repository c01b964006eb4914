//! Findings of the run's audit that are most likely to matter for the causes that were seen.

use super::held::Held;
use crate::Report;
use host::audit::rule::{Rule, built_in};
use model::fact::{AUDIT, audit_outcome};

/// Findings that are named.
const MOST: usize = 3;

/// For each of the worst, the command that shows what mends it. Only findings whose rule cures a cause that was seen: a hypervisor's
/// stall is not cured by isolated CPUs.
pub(super) fn for_causes(report: &Report, held: &Held) -> Vec<String> {
    let causes: Vec<&str> = held.by.iter().map(|holder| holder.cause.word()).collect();
    if causes.is_empty() {
        return Vec::new();
    }
    let failed = |rule: &Rule| {
        let mut facts = report
            .run
            .facts
            .iter()
            .filter(|fact| fact.group == AUDIT && fact.name == rule.id);
        facts.any(|fact| fact.value.as_ref().is_ok_and(|value| audit_outcome(value) == "fail"))
    };
    // The cause that held up most samples comes first.
    let place = |rule: &Rule| {
        causes
            .iter()
            .position(|cause| rule.causes.iter().any(|cured| cured == cause))
    };
    let groups = built_in();
    let rules = groups.iter().flat_map(|(_, group)| &group.rules);
    let mut found: Vec<(usize, &Rule)> = rules
        .filter_map(|rule| Some((place(rule)?, rule)))
        .filter(|(_, rule)| failed(rule))
        .collect();
    found.sort_by(|(place_a, a), (place_b, b)| {
        let by_gravity = || {
            b.severity
                .cmp(&a.severity)
                .then_with(|| b.worth.us.total_cmp(&a.worth.us))
        };
        place_a.cmp(place_b).then_with(by_gravity).then_with(|| a.id.cmp(&b.id))
    });
    found
        .iter()
        .take(MOST)
        .map(|(_, rule)| format!("triptime tune {}: {}", rule.id, rule.title))
        .collect()
}
