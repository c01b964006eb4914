//! Names from a machine or a definition, which may be any text: names that a tool could misinterpret are refused.

use audit::facts::{Facts, Subject};
use audit::value::Value;

/// Refuses a text for the tool `kind` with a name that this tool would refuse, or interpret as more than a name.
pub(super) fn check(kind: &str, text: &str, facts: &Facts, part: Option<&Subject>) -> Result<(), String> {
    let name = |fact: &str| match facts.get(part, fact) {
        Ok(Value::Text(name)) if text.contains(&format!("{{{fact}}}")) => Some(name),
        _ => None,
    };
    if let Some(nic) = name("nic").filter(|nic| !is_interface(nic)) {
        return Err(format!(
            "the interface's name {nic:?} has characters with a special meaning in configuration files, or is not a name: rename the interface"
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
    format!("{name:?} is not a valid name for {what}: rename it")
}

/// True for a name without special meaning in a udev rule, a unit, a shell command or a playbook. The kernel allows more (dev_valid_name of
/// Linux 6.12 refuses `/`, `:`, spaces and 16 bytes or more), and a tree can contain anything.
fn is_interface(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-@".contains(c);
    let is_name = (1..16).contains(&name.len()) && ![".", ".."].contains(&name);
    is_name && !name.starts_with('-') && name.chars().all(is_plain)
}

/// True for a valid service key (compose-spec, schema/compose-spec.json: patternProperties of services).
fn is_service(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

/// True for a label of RFC 1123, as Kubernetes checks it (apimachinery 1.31, pkg/util/validation/validation.go, IsDNS1123Label).
fn is_label(name: &str) -> bool {
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (1..64).contains(&name.len())
        && name.starts_with(is_end)
        && name.ends_with(is_end)
        && name.chars().all(|c| is_end(c) || c == '-')
}

/// True for labels separated by dots (the same file, IsDNS1123Subdomain).
fn is_subdomain(name: &str) -> bool {
    name.len() < 254 && name.split('.').all(is_label)
}

/// Text without characters that end a line, control a terminal, or are invisible.
pub(crate) fn on_one_line(text: &str) -> String {
    text.replace(units::foreign::is_unfit, " ")
}
