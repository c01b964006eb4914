//! The built-in type tests.

use super::TypeTest;
use crate::WaveformError;
use crate::library::Library;

/// The files of `type-tests/` with these names.
macro_rules! files {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../../type-tests/", $name, ".toml")))),*]
    };
}

/// The built-in type tests.
static PROGRAM: Library = Library {
    what: "type test",
    files: files![
        "zone1",
        "iec-normal-inverse",
        "iec-very-inverse",
        "iec-extremely-inverse",
        "iec-long-time-inverse",
        "iec-short-time-inverse",
        "ieee-moderately-inverse",
        "ieee-very-inverse",
        "ieee-extremely-inverse",
        "pick-up",
        "reach",
        "bias",
    ],
};

/// Names of the built-in type tests.
pub fn names() -> impl Iterator<Item = &'static str> {
    PROGRAM.names()
}

/// The built-in type test with this name, or the one in a file.
///
/// # Errors
/// There is no such type test, or the file has a wrong key or value.
pub fn find(name_or_path: &str) -> Result<TypeTest, WaveformError> {
    PROGRAM.find(name_or_path, TypeTest::of)
}
