//! Findings of a rule on a machine.

use super::condition::{Truth, evaluate, known};
use super::facts::{Facts, Subject};
use super::rule::{KernelPlace, Rule, Severity};
use super::value::{Known, Unknown};

/// Outcomes of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The rule does not apply to this machine.
    NotApplicable,
    /// The setting is as wanted.
    Pass,
    /// The setting is not as wanted, but somebody accepted it.
    Waived,
    /// The outcome is unknown. Never a pass.
    Unknown,
    /// The setting is not as wanted, but tolerated or only worth knowing.
    Warn,
    /// The setting is not as wanted.
    Fail,
}

impl Outcome {
    /// Every outcome, the worst last.
    pub const ALL: [Self; 6] = [
        Self::NotApplicable,
        Self::Pass,
        Self::Waived,
        Self::Unknown,
        Self::Warn,
        Self::Fail,
    ];

    /// Word for the outcome in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::NotApplicable => "not-applicable",
            Self::Pass => "pass",
            Self::Waived => "waived",
            Self::Unknown => "unknown",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// Finding of a rule on one part, or on the machine.
#[derive(Debug, Clone, PartialEq)]
pub struct PartFinding {
    /// Name of the part; empty for the machine.
    pub part: String,
    /// Outcome.
    pub outcome: Outcome,
    /// Facts that decided it, with their names.
    pub live: Vec<(String, Known)>,
    /// Value given at the start, if the rule knows one.
    pub booted: Option<Known>,
    /// Reason for unknown or not applicable; otherwise empty.
    pub reason: String,
}

/// Findings of a rule on the machine and its parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Rule.
    pub rule: Rule,
    /// Group of the rule.
    pub group: &'static str,
    /// Severity in the requested profile.
    pub severity: Severity,
    /// Worst outcome of its parts.
    pub outcome: Outcome,
    /// Finding on each part; one entry without a name for the machine.
    pub parts: Vec<PartFinding>,
    /// Reason and name of the person who accepted it, if any.
    pub waiver: Option<String>,
}

impl Finding {
    /// Names of the parts with the outcome of the whole.
    pub fn worst_parts(&self) -> impl Iterator<Item = &PartFinding> {
        self.parts.iter().filter(|part| part.outcome == self.worst())
    }

    /// Parts that failed or warned: settings are emitted for all of them, even if others are worse.
    pub fn open_parts(&self) -> impl Iterator<Item = &PartFinding> {
        let open = |part: &&PartFinding| matches!(part.outcome, Outcome::Fail | Outcome::Warn);
        self.parts.iter().filter(open)
    }

    fn worst(&self) -> Outcome {
        let worst = self.parts.iter().map(|part| part.outcome).max();
        worst.unwrap_or(Outcome::NotApplicable)
    }
}

/// Applies `rule` to each part that it concerns.
pub(super) fn judge(
    rule: &Rule,
    group: &'static str,
    facts: &Facts,
    place: Option<KernelPlace>,
    profile: Option<&str>,
) -> Finding {
    let severity = rule.severity_in(profile);
    let parts = match (elsewhere(rule, place), rule.each) {
        (Some((outcome, reason)), _) => vec![not_asked(outcome, reason)],
        (None, None) => vec![ask(rule, facts, None, severity)],
        (None, Some(class)) if facts.parts(class).is_empty() => {
            let reason = format!("no {} was named or found", class.word());
            vec![not_asked(Outcome::NotApplicable, reason)]
        }
        (None, Some(class)) => {
            let parts = facts.parts(class).iter();
            parts.map(|part| ask(rule, facts, Some(part), severity)).collect()
        }
    };
    let worst = parts.iter().map(|part| part.outcome).max();
    Finding {
        rule: rule.clone(),
        group,
        severity,
        outcome: worst.unwrap_or(Outcome::NotApplicable),
        parts,
        waiver: None,
    }
}

/// Reason for not applying a rule to this kernel. If the place of the kernel is unknown, the rule is applied as on hardware.
fn elsewhere(rule: &Rule, place: Option<KernelPlace>) -> Option<(Outcome, String)> {
    if rule.place.is_empty() || rule.place.contains(&place.unwrap_or(KernelPlace::Host)) {
        return None;
    }
    let (outcome, reason) = match place {
        Some(KernelPlace::Host) => (Outcome::NotApplicable, "only inside a virtual machine"),
        Some(KernelPlace::Guest) => (
            Outcome::NotApplicable,
            "only on the hardware itself: audit the host of this virtual machine",
        ),
        None => (
            Outcome::Unknown,
            "nothing shows if this is a virtual machine or the hardware itself",
        ),
    };
    Some((outcome, reason.to_owned()))
}

fn not_asked(outcome: Outcome, reason: String) -> PartFinding {
    PartFinding {
        part: String::new(),
        outcome,
        live: Vec::new(),
        booted: None,
        reason,
    }
}

fn ask(rule: &Rule, facts: &Facts, part: Option<&Subject>, severity: Severity) -> PartFinding {
    let (outcome, reason) = outcome(rule, facts, part, severity);
    let live = rule.live_facts().into_iter();
    PartFinding {
        part: part.map(|part| part.name.clone()).unwrap_or_default(),
        outcome,
        live: live.map(|name| (name.to_owned(), facts.get(part, name))).collect(),
        booted: rule.booted.as_ref().map(|booted| known(booted, facts, part)),
        reason,
    }
}

fn outcome(rule: &Rule, facts: &Facts, part: Option<&Subject>, severity: Severity) -> (Outcome, String) {
    let holds = |condition| evaluate(condition, facts, part);
    match rule.applies.as_ref().map_or(Ok(true), holds) {
        Ok(true) => {}
        Ok(false) => return (Outcome::NotApplicable, "its condition is not met here".to_owned()),
        Err(unknown) => return unclear(unknown),
    }
    match holds(&rule.wanted) {
        Ok(true) => (Outcome::Pass, String::new()),
        Ok(false) => (failed(severity, rule.tolerated.as_ref().map(holds)), String::new()),
        Err(unknown) => unclear(unknown),
    }
}

fn unclear(unknown: Unknown) -> (Outcome, String) {
    (Outcome::Unknown, unknown.text)
}

/// Outcome of a rule that does not pass. If the toleration is unknown, the rule fails.
fn failed(severity: Severity, tolerated: Option<Truth>) -> Outcome {
    match (severity, tolerated) {
        (Severity::Info, _) | (_, Some(Ok(true))) => Outcome::Warn,
        _ => Outcome::Fail,
    }
}
