//! A finding as texts.

use audit::Audit;
use audit::facts::{Class, Subject};
use audit::finding::{Finding, Outcome, PartFinding};
use audit::rule::{Change, Severity};
use audit::template;
use audit::value::Value;
use serde::{Serialize, Serializer};
use units::foreign::shown;

/// A finding as texts that are safe to show, in the order of the document.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) group: &'static str,
    pub(super) title: String,
    #[serde(serialize_with = "outcome")]
    pub(super) outcome: Outcome,
    #[serde(serialize_with = "severity")]
    pub(super) severity: Severity,
    pub(super) wanted: String,
    pub(super) booted: Option<String>,
    pub(super) live: String,
    /// Reason why it is unknown, does not apply, or was accepted; otherwise empty.
    pub(super) reason: String,
    pub(super) why: String,
    pub(super) worth: String,
    pub(super) how: String,
    pub(super) change: &'static str,
    /// When the change takes effect, in one word.
    #[serde(skip)]
    pub(super) change_word: &'static str,
    pub(super) risk: String,
    pub(super) causes: Vec<String>,
    pub(super) sources: Vec<String>,
    pub(super) traps: Vec<String>,
    /// Parts of the machine; empty for the machine as a whole.
    pub(super) parts: Vec<Part>,
}

/// A part of the machine in a finding.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Part {
    name: String,
    #[serde(serialize_with = "outcome")]
    outcome: Outcome,
    live: String,
}

fn outcome<S: Serializer>(outcome: &Outcome, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(outcome.word())
}

fn severity<S: Serializer>(severity: &Severity, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(severity.word())
}

impl Row {
    pub(super) fn of(finding: &Finding, audit: &Audit) -> Self {
        let rule = &finding.rule;
        let worst: Vec<&PartFinding> = finding.worst_parts().collect();
        let first = rule.each.and_then(|class| {
            let name = &worst.first()?.part;
            audit.facts.parts(class).iter().find(|part| part.name == *name)
        });
        let advice = rule.remedy.here(&audit.facts, first);
        let fill = |text: &str| shown(&template::shown(text, &audit.facts, first)).into_owned();
        let reason = finding
            .waiver
            .clone()
            .or_else(|| worst.first().map(|part| part.reason.clone()));
        Self {
            id: rule.id.clone(),
            group: finding.group,
            title: rule.title.clone(),
            outcome: finding.outcome,
            severity: finding.severity,
            wanted: fill(&rule.wants),
            booted: rule.booted.as_ref().map(|_| shown(&finding.booted_text()).into_owned()),
            live: shown(&finding.live_text()).into_owned(),
            reason: shown(&reason.unwrap_or_default()).into_owned(),
            why: rule.why.clone(),
            worth: rule.worth.seen.clone(),
            how: fill(advice.how),
            risk: advice.risk.to_owned(),
            change: change(advice.change),
            change_word: advice.change.word(),
            causes: rule.causes.clone(),
            sources: rule.sources.clone(),
            traps: rule.traps.clone(),
            parts: parts(finding),
        }
    }
}

fn parts(finding: &Finding) -> Vec<Part> {
    let named = finding.parts.iter().filter(|part| !part.part.is_empty());
    let of = |part: &PartFinding| Part {
        name: shown(&part.part).into_owned(),
        outcome: part.outcome,
        live: shown(&part.live_text()).into_owned(),
    };
    named.map(of).collect()
}

/// When a change takes effect, as text for people.
fn change(change: Change) -> &'static str {
    match change {
        Change::SafeNow => "at run time",
        Change::Disruptive => "at run time, in a maintenance window",
        Change::Reboot => "with the next boot",
        Change::GuestRestart => "with the next start of the machine or container",
        Change::Bios => "in the firmware's setup",
        Change::Manual => "in the design of the system",
        Change::None => "not at all: an observation",
    }
}

/// True if no CPU is reserved.
pub(super) fn has_no_cpus(audit: &Audit) -> bool {
    matches!(audit.facts.get(None, "rt_cpus"), Ok(Value::Cpus(cpus)) if cpus.is_empty())
}

/// The reserved CPUs, as text for people.
pub(super) fn cpus(audit: &Audit) -> String {
    let of = |name| match audit.facts.get(None, name) {
        Ok(Value::Cpus(cpus)) if cpus.is_empty() => None,
        Ok(value) => Some(value.to_string()),
        Err(unknown) => Some(format!("unknown ({})", unknown.text)),
    };
    let asked: Vec<&str> = audit
        .facts
        .parts(Class::RtCpu)
        .iter()
        .map(|part: &Subject| part.name.as_str())
        .collect();
    match of("rt_cpus") {
        Some(cpus) => shown(&cpus).into_owned(),
        None if asked.is_empty() => "none is set aside".to_owned(),
        None => format!("none is set aside; {} asked", Class::RtCpu.named(&asked)),
    }
}
