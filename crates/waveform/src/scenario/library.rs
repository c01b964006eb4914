//! The scenarios inside the program.

use super::Scenario;
use crate::WaveformError;
use std::path::Path;

/// Names of the scenarios inside the program, with their files of `scenarios/`.
const EMBEDDED: [(&str, &str); 2] = [
    ("overcurrent", include_str!("../../../../scenarios/overcurrent.toml")),
    ("load", include_str!("../../../../scenarios/load.toml")),
];

/// Names of the scenarios inside the program.
pub const NAMES: [&str; EMBEDDED.len()] = {
    let mut names = [""; EMBEDDED.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = EMBEDDED[at].0;
        at += 1;
    }
    names
};

/// The scenario of the program that is called so, or that of a file.
///
/// # Errors
/// Neither is there, or the file has a wrong key or value.
pub fn find(name_or_path: &str) -> Result<Scenario, WaveformError> {
    if let Some((name, text)) = EMBEDDED.iter().find(|(name, _)| *name == name_or_path) {
        return Scenario::parse(text, name, name);
    }
    let path = Path::new(name_or_path);
    if path.exists() {
        return Scenario::read(path);
    }
    Err(WaveformError::setting(format!(
        "scenario \"{name_or_path}\": neither one of this program ({}) nor a file",
        NAMES.join(", ")
    )))
}
