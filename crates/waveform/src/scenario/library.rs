//! The scenarios inside the program.

use super::Scenario;
use crate::WaveformError;
use std::path::Path;

/// The files of `scenarios/` that are called so.
macro_rules! files {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../../../../scenarios/", $name, ".toml")))),*]
    };
}

/// Names of the scenarios inside the program, with their texts.
static EMBEDDED: &[(&str, &str)] = files![
    "overcurrent",
    "zone1-ag",
    "zone1-bg",
    "zone1-cg",
    "zone1-ab",
    "zone1-bc",
    "zone1-ca",
    "zone1-abg",
    "zone1-bcg",
    "zone1-cag",
    "zone1-abc",
    "zone1-resistance",
    "zone1-boundary-inside",
    "zone1-boundary-outside",
    "zone1-outside",
    "fuse-failure",
    "load",
    "inrush",
];

/// Names of the scenarios inside the program.
pub fn names() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|(name, _)| *name)
}

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
        names().collect::<Vec<_>>().join(", ")
    )))
}
