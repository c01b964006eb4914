//! The type tests inside the program.

use super::TypeTest;
use crate::WaveformError;
use std::path::Path;

/// The files of `type-tests/` that are called so.
macro_rules! files {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../../../../type-tests/", $name, ".toml")))),*]
    };
}

/// Names of the type tests inside the program, with their texts.
static EMBEDDED: &[(&str, &str)] = files![
    "zone1",
    "iec-normal-inverse",
    "iec-very-inverse",
    "iec-extremely-inverse",
];

/// Names of the type tests inside the program.
pub fn names() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|(name, _)| *name)
}

/// The type test of the program that is called so, or that of a file.
///
/// # Errors
/// Neither is there, or the file has a wrong key or value.
pub fn find(name_or_path: &str) -> Result<TypeTest, WaveformError> {
    if let Some((name, text)) = EMBEDDED.iter().find(|(name, _)| *name == name_or_path) {
        return TypeTest::parse(text, name, name);
    }
    let path = Path::new(name_or_path);
    if path.exists() {
        return TypeTest::read(path);
    }
    Err(WaveformError::setting(format!(
        "type test \"{name_or_path}\": neither one of this program ({}) nor a file",
        names().collect::<Vec<_>>().join(", ")
    )))
}
