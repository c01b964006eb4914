//! Settings for a libvirt domain as a unified diff against its definition: comments and order are kept.

mod edit;
mod merge;
#[cfg(test)]
mod tests;

use similar::TextDiff;

use super::emit::{notes, on_one_line};
use super::harm::{harm, none_left};
use audit::facts::{Class, Subject};
use audit::finding::{Finding, Outcome};
use audit::template::{fill, shown};
use audit::{Audit, definition};
use host::Host;

const KIND: &str = "libvirt";
/// Folders of the domains' definitions: stored and running.
const STORED: &str = "/etc/libvirt/qemu";
const RUNNING: &str = "/run/libvirt/qemu";

/// Diff that remedies the findings about the definition at `path`; `only` these checks, or all if it is empty. Risks and manual steps
/// precede it as lines that begin with `#`, which patch and git apply skip. Empty: nothing to change.
///
/// # Errors
/// The file cannot be read, or is not the definition of a domain.
pub fn libvirt_patch(audit: &Audit, only: &[String], path: &str) -> Result<String, String> {
    patch(audit, only, path, &definition::definition_text(path)?)
}

/// Same as [`libvirt_patch`], for a domain of the machine by its name: against its stored definition, or, for a domain that only runs, against
/// the running one, as `virsh dumpxml` shows it. `None` if neither can be read.
///
/// # Errors
/// The file does not contain the definition of a domain.
pub fn libvirt_patch_of_name(
    host: &Host,
    audit: &Audit,
    only: &[String],
    name: &str,
) -> Option<Result<String, String>> {
    let stored = host.reader().text(&format!("{STORED}/{name}.xml")).ok();
    let text = stored.or_else(|| {
        let status = host.reader().text(&format!("{RUNNING}/{name}.xml")).ok()?;
        // The status file contains the definition, among data that only libvirt needs.
        let (begin, end) = (status.find("<domain ")?, status.rfind("</domain>")?);
        Some(format!("{}\n", status.get(begin..end + "</domain>".len())?))
    })?;
    Some(patch(audit, only, &format!("{name}.xml"), &text))
}

fn patch(audit: &Audit, only: &[String], path: &str, before: &str) -> Result<String, String> {
    let name = definition::domain_name(before).map_err(|error| format!("{path}: {error}"))?;
    let part = audit.facts.parts(Class::Domain).iter().find(|part| part.name == name);
    let part = part.ok_or_else(|| format!("{path}: domain {name} was not audited"))?;
    if let Some(why) = none_left(audit) {
        return Err(format!("{path}: {why}"));
    }
    let (mut after, mut said) = (before.to_owned(), Vec::new());
    for finding in open(audit, only, &name) {
        match changed(&after, audit, finding, part) {
            Ok(text) if text == after => {}
            Ok(text) => {
                after = text;
                said.extend(risks_of(audit, finding));
            }
            Err(why) => said.push(hand_work(audit, finding, part, &why)),
        }
    }
    Ok(said.concat() + &diff(path, before, &after))
}

/// Findings about this domain that failed or warned.
fn open<'a>(audit: &'a Audit, only: &'a [String], name: &'a str) -> impl Iterator<Item = &'a Finding> {
    audit.findings.iter().filter(move |finding| {
        let asked = only.is_empty() || only.contains(&finding.rule.id);
        let of_domain = finding.rule.each == Some(Class::Domain) && finding.rule.remedy.emit.contains_key(KIND);
        let is_open = |outcome| matches!(outcome, Outcome::Fail | Outcome::Warn);
        let mut parts = finding.parts.iter();
        let is_open = parts.any(|part| part.part == name && is_open(part.outcome));
        asked && of_domain && is_open && harm(audit, finding).is_none()
    })
}

/// Findings about any domain that a fragment can remedy.
#[cfg(test)]
fn open_of_any(audit: &Audit) -> impl Iterator<Item = &Finding> {
    let domains = audit.facts.parts(Class::Domain).iter();
    domains.flat_map(|part| open(audit, &[], &part.name))
}

/// The definition with the change for one finding.
fn changed(text: &str, audit: &Audit, finding: &Finding, part: &Subject) -> Result<String, String> {
    let lines = finding.rule.remedy.emit.get(KIND).into_iter().flatten();
    let filled = lines.map(|line| fill(line, &audit.facts, Some(part)).map_err(|unknown| unknown.text));
    let fragment = filled.collect::<Result<Vec<_>, _>>()?.join("\n");
    // Placeholders in capitals, which only a person can fill.
    if fragment.contains("0xBUS") {
        return Err("only the owner of the domain knows the device".to_owned());
    }
    merge::merged(text, &fragment)
}

/// Risks, as lines that patch skips.
fn risks_of(audit: &Audit, finding: &Finding) -> Vec<String> {
    let notes = notes(audit, finding).into_iter().skip(1);
    notes.map(|risk| format!("# {}: {risk}\n", finding.rule.id)).collect()
}

fn hand_work(audit: &Audit, finding: &Finding, part: &Subject, why: &str) -> String {
    let advice = finding.rule.remedy.here(&audit.facts, Some(part));
    let how = shown(advice.how, &audit.facts, Some(part));
    on_one_line(&format!("# by hand, {}: {how} ({why})", finding.rule.id)) + "\n"
}

fn diff(path: &str, before: &str, after: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let diff = TextDiff::from_lines(before, after);
    let (old, new) = (format!("a/{name}"), format!("b/{name}"));
    diff.unified_diff().header(&old, &new).to_string()
}
