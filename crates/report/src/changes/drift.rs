//! Facts about the machine that were different when they were read again at the end of the run.

use crate::Report;
use model::Fact;
use model::fact::{AUDIT, REMEDIES};

/// Facts that vary by themselves, by group and name. In a place, the name of the place precedes the group.
const VARY: [(&str, &str); 6] = [
    ("clock", "stolen time"),
    ("clock", "uptime"),
    ("clock", "load average (1, 5, 15 min)"),
    ("memory", "available"),
    ("memory", "swap"),
    // The run itself keeps to its housekeeping CPUs.
    ("isolation", "CPUs this process may use"),
];

/// Beginning of the names of a card's facts that count its interrupts.
const COUNTED: &str = "interrupt";

/// A fact with its first and its last value.
pub(crate) struct Drift<'a> {
    pub(crate) group: &'a str,
    pub(crate) name: &'a str,
    /// `None`: it was not read at the beginning.
    pub(crate) before: Option<&'a Result<String, String>>,
    pub(crate) after: &'a Result<String, String>,
}

impl Drift<'_> {
    /// Such as `clock, clock source: tsc -> hpet`.
    pub(crate) fn text(&self) -> String {
        let before = self.before.map_or_else(|| "not there".to_owned(), value);
        format!("{}, {}: {before} -> {}", self.group, self.name, value(self.after))
    }
}

/// A value, or the reason why there is none.
pub(crate) fn value(read: &Result<String, String>) -> String {
    match read {
        Ok(value) => value.clone(),
        Err(why) => format!("unknown ({why})"),
    }
}

/// The facts that differ between the first and the last reading, without those that vary by themselves.
pub(crate) fn drift(report: &Report) -> Vec<Drift<'_>> {
    let last = report.run.last_facts.iter().filter(|fact| !varies(fact));
    let each = last.map(|fact| {
        let mut first = report.run.facts.iter();
        let before = first.find(|first| first.group == fact.group && first.name == fact.name);
        Drift {
            group: &fact.group,
            name: &fact.name,
            before: before.map(|before| &before.value),
            after: &fact.value,
        }
    });
    each.filter(|drift| !is_same_outcome(drift)).collect()
}

fn varies(fact: &Fact) -> bool {
    let is_it = |(group, name): &(&str, &str)| fact.name == *name && is_group(&fact.group, group);
    // Remedies follow from findings.
    is_group(&fact.group, REMEDIES)
        || VARY.iter().any(is_it)
        || (fact.group.contains("nic ") && fact.name.starts_with(COUNTED))
}

/// True if a group of facts is this one, here or in a place.
fn is_group(found: &str, group: &str) -> bool {
    found == group || found.ends_with(&format!(": {group}"))
}

/// True for a rule of the audit with the same outcome: its text names figures that vary.
fn is_same_outcome(drift: &Drift<'_>) -> bool {
    let outcome = |read: &Result<String, String>| read.as_ref().ok()?.split(' ').next().map(str::to_owned);
    is_group(drift.group, AUDIT)
        && drift
            .before
            .is_some_and(|before| outcome(before) == outcome(drift.after))
}
