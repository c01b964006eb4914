//! Names that come from a machine or a definition, and may be any text: those that a tool could take for something else are refused.

use audit::facts::{Facts, Subject};
use audit::value::Value;

/// Refuses a text for the tool `kind` that asks for a name which this tool would refuse, or take for more than a name.
pub(super) fn check(kind: &str, text: &str, facts: &Facts, part: Option<&Subject>) -> Result<(), String> {
    let name = |fact: &str| match facts.get(part, fact) {
        Ok(Value::Text(name)) if text.contains(&format!("{{{fact}}}")) => Some(name),
        _ => None,
    };
    if let Some(nic) = name("nic").filter(|nic| !is_interface(nic)) {
        return Err(format!(
            "the interface's name {nic:?} has characters that mean something in files of tools, or is no name: rename the interface"
        ));
    }
    let (container, pod) = (name("ctr.name"), name("pod.name"));
    let is_running = facts.get(part, "ctr.form") == Ok(Value::from("running"));
    match (container, pod) {
        (None, None) => Ok(()),
        _ if is_running => {
            Err("from inside, a container does not know its name: give its definition with --container".to_owned())
        }
        (_, Some(pod)) if !is_subdomain(&pod) => Err(refused(&pod, "a pod")),
        (Some(name), _) if kind == "kubernetes" && !is_label(&name) => Err(refused(&name, "a container of Kubernetes")),
        (Some(name), _) if kind == "compose" && !is_service(&name) => Err(refused(&name, "a service of compose")),
        _ => Ok(()),
    }
}

fn refused(name: &str, what: &str) -> String {
    format!("{name:?} is no name that {what} can have: rename it")
}

/// A name that means nothing but itself in a rule of udev, a unit, a shell's command, a playbook. The kernel allows more (dev_valid_name of
/// Linux 6.12 refuses `/`, `:`, blanks and 16 octets), and a tree can hold anything.
fn is_interface(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-@".contains(c);
    let is_name = (1..16).contains(&name.len()) && ![".", ".."].contains(&name);
    is_name && !name.starts_with('-') && name.chars().all(is_plain)
}

/// The key of a service (compose-spec, schema/compose-spec.json: patternProperties of services).
fn is_service(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

/// RFC 1123, as Kubernetes reads it (apimachinery 1.31, pkg/util/validation/validation.go, IsDNS1123Label).
fn is_label(name: &str) -> bool {
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (1..64).contains(&name.len())
        && name.starts_with(is_end)
        && name.ends_with(is_end)
        && name.chars().all(|c| is_end(c) || c == '-')
}

/// Labels with points between them (the same file, IsDNS1123Subdomain).
fn is_subdomain(name: &str) -> bool {
    name.len() < 254 && name.split('.').all(is_label)
}

/// A text without what ends a line, reaches a terminal as a command, or is not seen.
pub(crate) fn on_one_line(text: &str) -> String {
    text.replace(units::foreign::is_unfit, " ")
}
