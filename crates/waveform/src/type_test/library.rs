//! The type tests inside the program.

use super::TypeTest;
use crate::WaveformError;
use crate::library::Library;

/// The files of `type-tests/` that are called so.
macro_rules! files {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../../type-tests/", $name, ".toml")))),*]
    };
}

/// The type tests inside the program.
static PROGRAM: Library = Library {
    what: "type test",
    files: files![
        "zone1",
        "iec-normal-inverse",
        "iec-very-inverse",
        "iec-extremely-inverse",
    ],
};

/// Names of the type tests inside the program.
pub fn names() -> impl Iterator<Item = &'static str> {
    PROGRAM.names()
}

/// The type test of the program that is called so, or that of a file.
///
/// # Errors
/// Neither is there, or the file has a wrong key or value.
pub fn find(name_or_path: &str) -> Result<TypeTest, WaveformError> {
    PROGRAM.find(name_or_path, TypeTest::of)
}
