//! What is one TOML file each, and ships with the program: scenarios and type tests.

use crate::error::WaveformError;
use serde::de::DeserializeOwned;
use std::path::Path;

/// The files of one kind inside the program.
pub(crate) struct Library {
    /// What one of them is.
    pub(crate) what: &'static str,
    /// Names and texts.
    pub(crate) files: &'static [(&'static str, &'static str)],
}

impl Library {
    /// Names of those inside the program.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.files.iter().map(|(name, _)| *name)
    }

    /// The one of the program that is called so, or that of a file, which is called as the file, without `.toml`. `make` makes it of its
    /// name and its keys.
    ///
    /// # Errors
    /// Neither is there, or the file has a wrong key or value, with line and key.
    pub(crate) fn find<K: DeserializeOwned, T>(
        &self,
        name_or_path: &str,
        make: impl FnOnce(K, &str) -> Result<T, WaveformError>,
    ) -> Result<T, WaveformError> {
        if let Some((name, text)) = self.files.iter().find(|(name, _)| *name == name_or_path) {
            return parse(text, name, name, make);
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
        parse(&text, &name, name_or_path, make)
    }
}

/// Makes `name` of the keys of a text; errors call it `origin`.
///
/// # Errors
/// A wrong key or value, with line and key.
pub(crate) fn parse<K: DeserializeOwned, T>(
    text: &str,
    name: &str,
    origin: &str,
    make: impl FnOnce(K, &str) -> Result<T, WaveformError>,
) -> Result<T, WaveformError> {
    let refused = |problem: String| WaveformError::File {
        path: origin.to_owned(),
        problem,
    };
    let keys: K = toml::from_str(text).map_err(|error| refused(error.to_string().trim_end().to_owned()))?;
    make(keys, name).map_err(|error| refused(error.to_string()))
}
