//! TOML files that are built into the program: scenarios and type tests.

use crate::error::WaveformError;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Name and folder of a definition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// The base folder of paths in it; for a built-in text, the current folder.
    pub(crate) folder: &'a Path,
}

/// The built-in files of one kind.
pub(crate) struct Library {
    /// The kind, for messages.
    pub(crate) what: &'static str,
    /// Names and texts.
    pub(crate) files: &'static [(&'static str, &'static str)],
}

impl Library {
    /// Names of the built-in files.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.files.iter().map(|(name, _)| *name)
    }

    /// The built-in definition with this name, or the one in a file, named after the file without `.toml`. `make` builds it from its keys and origin.
    ///
    /// # Errors
    /// There is no such definition, or the file has a wrong key or value, with line and key.
    pub(crate) fn find<K: DeserializeOwned, T>(
        &self,
        name_or_path: &str,
        make: impl FnOnce(K, Origin<'_>) -> Result<T, WaveformError>,
    ) -> Result<T, WaveformError> {
        if let Some((name, text)) = self.files.iter().find(|(name, _)| *name == name_or_path) {
            return parse(text, Origin::here(name), name, make);
        }
        let path = Path::new(name_or_path);
        if !path.exists() {
            return Err(WaveformError::setting(format!(
                "{} \"{name_or_path}\": neither one of this program ({}) nor a file",
                self.what,
                self.names().collect::<Vec<_>>().join(", ")
            )));
        }
        let text = std::fs::read_to_string(path).map_err(|source| WaveformError::Unreadable {
            path: name_or_path.to_owned(),
            source,
        })?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let folder = path.parent().unwrap_or(Path::new(""));
        parse(&text, Origin { name: &name, folder }, name_or_path, make)
    }
}

impl<'a> Origin<'a> {
    /// The origin of a text without a folder.
    pub(crate) fn here(name: &'a str) -> Self {
        Self {
            name,
            folder: Path::new(""),
        }
    }
}

/// Builds a definition from the keys of a text; errors name it `called`.
///
/// # Errors
/// A wrong key or value, with line and key.
pub(crate) fn parse<K: DeserializeOwned, T>(
    text: &str,
    origin: Origin<'_>,
    called: &str,
    make: impl FnOnce(K, Origin<'_>) -> Result<T, WaveformError>,
) -> Result<T, WaveformError> {
    let refused = |problem: String| WaveformError::File {
        path: called.to_owned(),
        problem,
    };
    let keys: K = toml::from_str(text).map_err(|error| refused(error.to_string().trim_end().to_owned()))?;
    make(keys, origin).map_err(|error| refused(error.to_string()))
}
