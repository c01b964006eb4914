//! Rights of this process: resource limits and capabilities.

use crate::capability;
use crate::error::HostError;
use crate::fact::Sheet;
use crate::reader::Reader;
use model::Fact;

const LIMITS: &str = "/proc/self/limits";
const STATUS: &str = "/proc/self/status";

/// Limits that affect real-time work, by their names in `/proc/self/limits`.
const NAMES: [(&str, &str); 5] = [
    ("locked memory", "Max locked memory"),
    ("real-time priority", "Max realtime priority"),
    ("real-time run", "Max realtime timeout"),
    ("nice", "Max nice priority"),
    ("open files", "Max open files"),
];

/// A capability that no probe needs.
const NOT_ASKED_FOR: &str = "SYS_TIME";

pub(crate) fn facts(reader: &Reader) -> Vec<Fact> {
    let mut sheet = Sheet::new(reader, "limits");
    let limits = reader.text(LIMITS);
    for (name, line) in NAMES {
        let value = limits.as_ref().map_err(Clone::clone).and_then(|text| limit(text, line));
        sheet.add(name, LIMITS, value);
    }
    let status = reader.text(STATUS);
    let field = |name| status.as_ref().map_err(Clone::clone).and_then(|text| field(text, name));
    sheet.add("capabilities", STATUS, field("CapEff").and_then(capabilities));
    let seccomp = field("Seccomp").map(|mode| match mode {
        "0" => "off".to_owned(),
        "1" => "strict".to_owned(),
        "2" => "filter".to_owned(),
        other => other.to_owned(),
    });
    sheet.add("seccomp", STATUS, seccomp);
    sheet.finish()
}

/// `soft` and `hard` values of a line such as `Max locked memory  8388608  8388608  bytes`.
fn limit(text: &str, name: &str) -> Result<String, HostError> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name));
    let mut words = rest.unwrap_or("").split_whitespace();
    match (words.next(), words.next()) {
        (Some(soft), Some(hard)) => {
            let unit = words.next().map(|unit| format!(" {unit}")).unwrap_or_default();
            Ok(format!("{soft}, at most {hard}{unit}"))
        }
        _ => Err(HostError::Undecided(format!("no line {name}"))),
    }
}

fn field<'a>(text: &'a str, name: &str) -> Result<&'a str, HostError> {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value
        .map(str::trim)
        .ok_or_else(|| HostError::Undecided(format!("no line {name}")))
}

fn capabilities(mask: &str) -> Result<String, HostError> {
    let held = capability::of_mask(mask).ok_or_else(|| HostError::unexpected(STATUS, "a hexadecimal mask", mask))?;
    let held: Vec<&str> = held.into_iter().filter(|name| *name != NOT_ASKED_FOR).collect();
    Ok(if held.is_empty() {
        "none that triptime uses".to_owned()
    } else {
        held.join(" ")
    })
}
