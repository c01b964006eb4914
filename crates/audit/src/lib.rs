//! Audits whether a machine is set up for real time: facts, rules that judge them, the cost of each finding, and its remedy.
//!
//! [`gather`] reads the facts that the rules use, from a live machine or a recorded tree; everything after that is pure. A rule is data
//! ([`rule`]): a condition over facts ([`condition`]) with three answers. An unknown fact makes a rule `unknown`, never `pass`.

#![forbid(unsafe_code)]

pub mod condition;
pub mod definition;
pub mod facts;
pub mod finding;
mod gather;
pub mod map;
pub mod parameters;
pub mod planned;
pub mod regressions;
pub mod rule;
pub mod template;
#[cfg(test)]
mod tests;
mod text;
pub mod value;
pub mod waiver;

pub use definition::container::{bare_capability, documents as yaml_documents, refused_by_podman};
pub use definition::{check_definitions, is_file as is_definition_file};
pub use gather::{
    CacheMasks, NicAnswer, REPEATED, bandwidth_shares, cache_masks, cpuset_root, domain_moves, domain_priorities,
    planned_differences,
};

use facts::Facts;
use finding::{Finding, Outcome};
use parameters::Parameters;
use rule::built_in;
use waiver::Waiver;

use host::Host;

/// Result of the rules on a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// Place of the kernel, as text: `virtual machine on KVM`, `the hardware itself`, with the evidence.
    pub environment: Vec<(String, Result<String, String>)>,
    /// The facts that were read.
    pub facts: Facts,
    /// One finding per rule, the most important first.
    pub findings: Vec<Finding>,
    /// A row for each online CPU; empty if these are unknown.
    pub cpus: Vec<map::CpuRow>,
}

impl Audit {
    /// Number of findings with this outcome.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.outcome == outcome)
            .count()
    }
}

/// Reads the machine and applies every rule to it.
pub fn audit(host: &Host, parameters: &Parameters, waivers: &[Waiver]) -> Audit {
    let reader = host.reader();
    let groups = built_in();
    let rules = groups.iter().flat_map(|(_, group)| &group.rules);
    reader.keep_processes();
    let facts = gather::facts(reader, parameters, rules);
    let place = gather::place(reader);
    let mut findings = Vec::new();
    for (name, group) in &groups {
        for rule in &group.rules {
            let mut finding = finding::judge(rule, name, &facts, place, parameters.profile.as_deref());
            waiver::apply(&mut finding, waivers);
            findings.push(finding);
        }
    }
    rank(&mut findings);
    let cpus = map::rows(reader, &facts);
    reader.forget_processes();
    Audit {
        environment: gather::environment(reader),
        cpus,
        facts,
        findings,
    }
}

/// Sort key, the worst first: by outcome, severity, and the largest observed effect.
fn rank(findings: &mut [Finding]) {
    findings.sort_by(|a, b| {
        let key = |finding: &Finding| (finding.outcome, finding.severity);
        let by_effect = || b.rule.worth.us.total_cmp(&a.rule.worth.us);
        key(b)
            .cmp(&key(a))
            .then_with(by_effect)
            .then_with(|| a.rule.id.cmp(&b.rule.id))
    });
}
