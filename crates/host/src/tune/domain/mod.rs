//! Settings for a libvirt domain as a unified diff against its definition: comments and order stay as they are.

mod edit;
mod merge;
#[cfg(test)]
mod tests;

use similar::TextDiff;

use crate::audit::facts::{Class, Subject};
use crate::audit::finding::{Finding, Outcome};
use crate::audit::template::{fill, shown};
use crate::audit::{Audit, definition};

const KIND: &str = "libvirt";

/// The diff that puts the findings about the definition at `path` right; `only` these checks, or all when it is empty. What only a
/// person can decide stands before it, as lines that begin with `#`, which patch and git apply pass over. Empty: nothing to change.
///
/// # Errors
/// The file cannot be read, or is no definition of a domain.
pub fn libvirt_patch(audit: &Audit, only: &[String], path: &str) -> Result<String, String> {
    let before = definition::definition_text(path)?;
    let name = definition::domain_name(&before).map_err(|error| format!("{path}: {error}"))?;
    let part = audit.facts.parts(Class::Domain).iter().find(|part| part.name == name);
    let part = part.ok_or_else(|| format!("{path}: domain {name} was not audited"))?;
    let (mut after, mut by_hand) = (before.clone(), Vec::new());
    for finding in open(audit, only, &name) {
        match changed(&after, audit, finding, part) {
            Ok(text) => after = text,
            Err(why) => by_hand.push(hand_work(audit, finding, part, &why)),
        }
    }
    Ok(by_hand.concat() + &diff(path, &before, &after))
}

/// The findings about this domain that failed or warned.
fn open<'a>(audit: &'a Audit, only: &'a [String], name: &'a str) -> impl Iterator<Item = &'a Finding> {
    audit.findings.iter().filter(move |finding| {
        let asked = only.is_empty() || only.contains(&finding.rule.id);
        let of_domain = finding.rule.each == Some(Class::Domain) && finding.rule.remedy.emit.contains_key(KIND);
        let is_open = |outcome| matches!(outcome, Outcome::Fail | Outcome::Warn);
        let mut parts = finding.parts.iter();
        asked && of_domain && parts.any(|part| part.part == name && is_open(part.outcome))
    })
}

/// The findings about any domain that a fragment can put right.
#[cfg(test)]
fn open_of_any(audit: &Audit) -> impl Iterator<Item = &Finding> {
    let domains = audit.facts.parts(Class::Domain).iter();
    domains.flat_map(|part| open(audit, &[], &part.name))
}

/// The definition with what one finding asks for.
fn changed(text: &str, audit: &Audit, finding: &Finding, part: &Subject) -> Result<String, String> {
    let lines = finding.rule.remedy.emit.get(KIND).into_iter().flatten();
    let filled = lines.map(|line| fill(line, &audit.facts, Some(part)).map_err(|unknown| unknown.text));
    let fragment = filled.collect::<Result<Vec<_>, _>>()?.join("\n");
    // Places that only a person can fill, in capitals.
    if fragment.contains("0xBUS") {
        return Err("which device it is, only its owner knows".to_owned());
    }
    merge::merged(text, &fragment)
}

fn hand_work(audit: &Audit, finding: &Finding, part: &Subject, why: &str) -> String {
    let how = shown(&finding.rule.remedy.how, &audit.facts, Some(part));
    format!("# by hand, {}: {how} ({why})\n", finding.rule.id)
}

fn diff(path: &str, before: &str, after: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let diff = TextDiff::from_lines(before, after);
    let (old, new) = (format!("a/{name}"), format!("b/{name}"));
    diff.unified_diff().header(&old, &new).to_string()
}
