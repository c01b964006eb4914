//! The plan of changes, check by check.

use audit::Audit;
use audit::facts::Subject;
use audit::finding::{Finding, Outcome, PartFinding};
use audit::rule::Change;
use audit::template::fill;

use super::actions;
use super::effective::effective;
use super::emit::emit;
use super::harm::{harm, risks_here};
use super::operation::Operation;
use host::Host;

/// Changes that remedy one finding.
#[derive(Debug, Clone, PartialEq)]
pub struct TuneStep {
    /// The check.
    pub check: String,
    /// The rule's title: a statement that should be true.
    pub title: String,
    /// Time at which it can be changed.
    pub change: Change,
    /// Remedy as text.
    pub how: String,
    /// The risk of the change.
    pub risk: String,
    /// Changes on the running machine; empty: it needs a boot, another tool, or a decision.
    pub operations: Vec<Operation>,
    /// Reason that nothing can be changed on the running machine, although the rule knows changes.
    pub unclear: Option<String>,
    /// Reason that the remedy would do harm on this machine.
    pub harm: Option<String>,
    /// Tools whose settings can be emitted, for a person to apply.
    pub emitted: Vec<String>,
}

/// Changes for all findings that failed or warned.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    /// A step for each finding, the worst first.
    pub steps: Vec<TuneStep>,
}

/// Plan for an audit of `host`; `only` these checks, or all if it is empty.
pub fn plan(host: &Host, audit: &Audit, only: &[String]) -> Plan {
    let open = audit.findings.iter().filter(|finding| {
        let asked = only.is_empty() || only.contains(&finding.rule.id);
        asked && matches!(finding.outcome, Outcome::Fail | Outcome::Warn)
    });
    Plan {
        steps: open.map(|finding| step(host, audit, finding)).collect(),
    }
}

fn step(host: &Host, audit: &Audit, finding: &Finding) -> TuneStep {
    let rule = &finding.rule;
    let (mut operations, mut unclear) = (Vec::new(), None);
    for part in finding.worst_parts() {
        match of_part(host, audit, finding, part) {
            Ok(found) => operations.extend(
                found
                    .into_iter()
                    .filter(|one| !operations.contains(one))
                    .collect::<Vec<_>>(),
            ),
            Err(why) => unclear = Some(why),
        }
    }
    let (operations, without_effect) = effective(host, operations);
    let first = finding
        .worst_parts()
        .next()
        .and_then(|part| subject(audit, finding, part));
    let shown = |text: &str| audit::template::shown(text, &audit.facts, first);
    let advice = rule.remedy.here(&audit.facts, first);
    TuneStep {
        check: rule.id.clone(),
        title: rule.title.clone(),
        change: advice.change,
        how: shown(advice.how),
        risk: risk(audit, finding, advice.risk),
        operations,
        unclear: unclear.or(without_effect),
        harm: harm(audit, finding),
        emitted: emitted(audit, finding),
    }
}

/// Tools for which there is a setting: one that needs an unknown value is none.
fn emitted(audit: &Audit, finding: &Finding) -> Vec<String> {
    let only = [finding.rule.id.clone()];
    let has_text = |tool: &&String| emit(audit, &only, tool).is_ok_and(|text| has_setting(&text));
    finding.rule.remedy.emit.keys().filter(has_text).cloned().collect()
}

/// True for a text with a line that is no comment.
fn has_setting(text: &str) -> bool {
    let is_comment = |line: &str| line.starts_with('#') || (line.starts_with("<!--") && line.ends_with("-->"));
    text.lines()
        .any(|line| !line.trim().is_empty() && !is_comment(line.trim()))
}

fn risk(audit: &Audit, finding: &Finding, known: &str) -> String {
    let known = Some(known.to_owned()).filter(|risk| !risk.is_empty());
    let all = known.into_iter().chain(risks_here(audit, finding));
    all.collect::<Vec<_>>().join("; ")
}

fn of_part(host: &Host, audit: &Audit, finding: &Finding, part: &PartFinding) -> Result<Vec<Operation>, String> {
    let subject = subject(audit, finding, part);
    let filled = |text: &str| fill(text, &audit.facts, subject).map_err(|unknown| unknown.text);
    let writes = finding.rule.remedy.write.iter();
    let writes = writes.map(|write| Ok((filled(&write.to)?, filled(&write.value)?)));
    let writes = writes.collect::<Result<Vec<_>, String>>()?.into_iter();
    let mut operations: Vec<Operation> = writes.map(|(path, value)| Operation::write(path, value)).collect();
    if let Some(action) = &finding.rule.remedy.action {
        operations.extend(actions::operations(action, host.reader(), &audit.facts, subject)?);
    }
    Ok(operations)
}

/// Subject of a finding's part; `None`: the machine as a whole.
fn subject<'a>(audit: &'a Audit, finding: &Finding, part: &PartFinding) -> Option<&'a Subject> {
    let mut parts = finding
        .rule
        .each
        .map_or(&[][..], |class| audit.facts.parts(class))
        .iter();
    parts.find(|known| known.name == part.part)
}
