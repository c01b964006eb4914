//! The scenarios inside the program.

use super::Scenario;
use crate::WaveformError;
use crate::library::Library;
use crate::sample::Sampling;

/// The files of `scenarios/` that are called so.
macro_rules! files {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../../scenarios/", $name, ".toml")))),*]
    };
}

/// The scenarios inside the program.
static PROGRAM: Library = Library {
    what: "scenario",
    files: files![
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
    ],
};

/// Names of the scenarios inside the program.
pub fn names() -> impl Iterator<Item = &'static str> {
    PROGRAM.names()
}

/// The scenario of the program that is called so, or that of a file, for a stream that is sampled so.
///
/// # Errors
/// Neither is there, the file has a wrong key or value, or its record cannot be played so.
pub fn find(name_or_path: &str, sampling: &Sampling) -> Result<Scenario, WaveformError> {
    PROGRAM.find(name_or_path, |file, origin| Scenario::of(file, origin, sampling))
}
