//! Audits if a machine is set up for real time: facts, rules that judge them, what each finding costs and how it is put right.
//!
//! [`gather`] reads what the rules ask for, from a live machine or a recorded tree; from there on everything is pure. A rule is
//! data ([`rule`]): a condition over facts ([`condition`]) with three answers. A fact that is not known is `unknown`, never `pass`.

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

pub use definition::container::documents as yaml_documents;
pub use definition::{check_definitions, is_file as is_definition_file};
pub use gather::{
    CacheMasks, NicAnswer, REPEATED, cache_masks, cpuset_root, domain_moves, domain_priorities, planned_differences,
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
    /// Where it runs, for a person: `virtual machine on KVM`, `the hardware itself`, with the evidence.
    pub environment: Vec<(String, Result<String, String>)>,
    /// The facts that were read.
    pub facts: Facts,
    /// One finding for each rule, those that matter most first.
    pub findings: Vec<Finding>,
    /// A row for each CPU that is online; empty where that is not known.
    pub cpus: Vec<map::CpuRow>,
}

impl Audit {
    /// How many findings came out so.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.outcome == outcome)
            .count()
    }
}

/// Reads the machine and asks every rule of it.
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

/// The worst first: by outcome, severity, and the largest effect that was seen.
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
