//! The built-in scenarios.

use super::Scenario;
use crate::WaveformError;
use crate::library::Library;
use crate::sample::Sampling;

/// The files of `scenarios/` with these names.
macro_rules! files {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../../scenarios/", $name, ".toml")))),*]
    };
}

/// The built-in scenarios.
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
        "zone1-reverse",
        "zone1-reverse-ag",
        "zone1-sir30-inside",
        "zone1-sir30-outside",
        "zone1-resistance-outside",
        "zone1-evolving",
        "zone1-evolving-from-outside",
        "zone1-cross-country",
        "zone1-mutual-inside",
        "zone1-mutual-outside",
        "switch-on-to-fault",
        "switch-on-to-line",
        "heavy-load",
        "swing-stable",
        "swing-unstable",
        "swing-fault",
        "ct-saturation-inside",
        "ct-saturation-outside",
        "differential-inside",
        "differential-inside-ag",
        "differential-outside",
        "differential-outside-saturation",
        "fuse-failure-two",
        "fuse-failure-unbalanced",
        "overcurrent-definite",
        "overcurrent-below",
        "overcurrent-normal-inverse",
        "overcurrent-very-inverse",
        "overcurrent-extremely-inverse",
        "negative-sequence",
        "negative-sequence-load",
        "directional-forward",
        "directional-reverse",
        "earth-fault-isolated",
        "earth-fault-isolated-outside",
        "earth-fault-compensated",
        "earth-fault-compensated-outside",
        "earth-fault-resistance",
        "earth-fault-resistance-outside",
        "cross-country",
        "underfrequency",
        "frequency-dip",
        "overfrequency",
        "breaker-failure",
        "breaker-opens",
    ],
};

/// Names of the built-in scenarios.
pub fn names() -> impl Iterator<Item = &'static str> {
    PROGRAM.names()
}

/// The built-in scenario with this name, or the one in a file, for a stream with this sampling.
///
/// # Errors
/// There is no such scenario, the file has a wrong key or value, or its record cannot be played.
pub fn find(name_or_path: &str, sampling: &Sampling) -> Result<Scenario, WaveformError> {
    PROGRAM.find(name_or_path, |file, origin| Scenario::of(file, origin, sampling))
}
