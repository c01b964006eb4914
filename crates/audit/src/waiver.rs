//! Findings that somebody accepted, with a reason, until a date.

use jiff::civil::Date;
use serde::Deserialize;

use super::finding::{Finding, Outcome};

/// One accepted finding.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waiver {
    /// Id of the rule.
    pub id: String,
    /// Reason for accepting it.
    pub reason: String,
    /// Person who accepted it.
    pub by: String,
    /// Last day of the acceptance.
    pub until: Date,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, rename = "waiver")]
    waivers: Vec<Waiver>,
}

/// Parses a waiver file: `[[waiver]]` tables with `id`, `reason`, `by` and `until`. Waivers that ended before `today` are left out.
///
/// # Errors
/// Returns the fault and its place, including an unknown rule or an empty reason.
pub fn read(text: &str, today: Date) -> Result<Vec<Waiver>, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    let groups = super::rule::built_in();
    for waiver in &file.waivers {
        let exists = groups
            .iter()
            .flat_map(|(_, group)| &group.rules)
            .any(|rule| rule.id == waiver.id);
        if !exists {
            return Err(format!("waiver \"{}\": no such rule", waiver.id));
        }
        if waiver.reason.trim().is_empty() || waiver.by.trim().is_empty() {
            return Err(format!("waiver \"{}\": reason and by must not be empty", waiver.id));
        }
    }
    let in_force = file.waivers.into_iter().filter(|waiver| waiver.until >= today);
    Ok(in_force.collect())
}

/// Turns an accepted finding that failed, warned or stayed unknown into `waived`.
pub(super) fn apply(finding: &mut Finding, waivers: &[Waiver]) {
    let waivable = matches!(finding.outcome, Outcome::Fail | Outcome::Warn | Outcome::Unknown);
    let Some(waiver) = waivers.iter().find(|waiver| waivable && waiver.id == finding.rule.id) else {
        return;
    };
    finding.outcome = Outcome::Waived;
    finding.waiver = Some(format!("{} (by {}, until {})", waiver.reason, waiver.by, waiver.until));
}
