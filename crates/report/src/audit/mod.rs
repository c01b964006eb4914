//! The findings of an audit, for people and programs.

mod findings;
mod junit;
mod map;
mod page;
mod row;
mod screen;
#[cfg(test)]
mod tests;

use crate::section::Section;
use audit::Audit;
use audit::finding::Outcome;
use audit::rule::Severity;

use findings::FindingsSection;
use map::CpuMapSection;
use row::Row;

/// The sections of an audit in every output format, after the head.
const PARTS: [&dyn Section<AuditReport>; 2] = [&FindingsSection { all: false }, &CpuMapSection];

/// The same sections, including findings that do not apply.
const WITH_ALL: [&dyn Section<AuditReport>; 2] = [&FindingsSection { all: true }, &CpuMapSection];

/// An audit, ready to be shown.
#[derive(Debug)]
pub struct AuditReport {
    /// The machine: a name, or the tree that was read.
    pub machine: String,
    /// Hardware, hypervisor and container of the machine; the reason for each that is not known.
    pub environment: Vec<(String, Result<String, String>)>,
    /// The CPUs reserved for real-time work, as text for people.
    pub cpus: String,
    /// True if none is reserved: a remedy for real-time CPUs then needs to be told them.
    pub has_no_cpus: bool,
    /// The profile that the severities belong to.
    pub profile: Option<String>,
    /// Lowest severity at which a failed finding fails the audit.
    pub fails_from: Severity,
    rows: Vec<Row>,
    map: Vec<map::CpuRow>,
}

/// The result of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditAnswer {
    /// Nothing failed, and nothing that matters is unknown.
    Pass,
    /// A finding that matters failed.
    Fail,
    /// No finding that matters failed, but one that matters is unknown.
    Unknown,
}

impl AuditReport {
    /// Prepares the audit of `machine`.
    pub fn of(audit: &Audit, machine: String, profile: Option<String>, fails_from: Severity) -> Self {
        Self {
            machine,
            environment: audit.environment.clone(),
            cpus: row::cpus(audit),
            has_no_cpus: row::has_no_cpus(audit),
            profile,
            fails_from,
            rows: audit.findings.iter().map(|finding| Row::of(finding, audit)).collect(),
            map: map::lines(audit),
        }
    }

    /// The result.
    pub fn answer(&self) -> AuditAnswer {
        let matters = |row: &&Row| row.severity >= self.fails_from;
        let any = |outcome| self.rows.iter().filter(matters).any(|row| row.outcome == outcome);
        match (any(Outcome::Fail), any(Outcome::Unknown)) {
            (true, _) => AuditAnswer::Fail,
            (_, true) => AuditAnswer::Unknown,
            _ => AuditAnswer::Pass,
        }
    }

    fn count(&self, outcome: Outcome) -> usize {
        self.rows.iter().filter(|row| row.outcome == outcome).count()
    }

    /// Counts of failed findings by severity, most severe first: `1 blocker, 3 major`.
    fn failed(&self) -> String {
        let of = |severity: Severity| {
            let failed = |row: &&Row| row.outcome == Outcome::Fail && row.severity == severity;
            (self.rows.iter().filter(failed).count(), severity.word())
        };
        let counts = Severity::ALL.into_iter().rev().map(of).filter(|(count, _)| *count > 0);
        counts
            .map(|(count, word)| format!("{count} {word}"))
            .collect::<Vec<_>>()
            .join(", ")
    }
}
