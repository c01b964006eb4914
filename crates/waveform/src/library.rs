//! Files in TOML that ship with the program: scenarios and type tests.

use crate::error::WaveformError;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Where the text of a thing comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// The folder that paths in it begin in; of a text of the program, the current one.
    pub(crate) folder: &'a Path,
}

/// The files of one kind inside the program.
pub(crate) struct Library {
    /// The kind of thing, for messages.
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
    /// keys and where they come from.
    ///
    /// # Errors
    /// Neither is there, or the file has a wrong key or value, with line and key.
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
    /// That of a text without a folder of its own.
    pub(crate) fn here(name: &'a str) -> Self {
        Self {
            name,
            folder: Path::new(""),
        }
    }
}

/// Makes a thing of the keys of a text; errors call it `called`.
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
