//! Finds a relay by its name or its file.

use crate::error::ProbeError;
use ::relay::Config;
use ::relay::config::parse_with;
use ::relay::library::{NAMES, file};
use std::path::Path;
use units::Refuse;

/// A relay, with the text of its file.
#[derive(Debug, Clone)]
pub struct Found {
    /// The relay.
    pub config: Config,
    /// The text of its file.
    pub text: String,
}

/// Finds the built-in relay with this name, or reads that of a file.
///
/// # Errors
/// There is no such relay or file, or the file has a wrong key or value.
pub fn find(name_or_path: &str) -> Result<Found, ProbeError> {
    let text = match file(name_or_path) {
        Some(text) => text,
        None => read(name_or_path)?,
    };
    // As everywhere, files named in a file are searched next to it.
    let folder = Path::new(name_or_path).parent().unwrap_or(Path::new(""));
    let mut beside = |file: &str| {
        let path = folder.join(file);
        std::fs::read(&path).refused_of(path.display())
    };
    let config = parse_with(&text, name_or_path, &mut beside).map_err(|error| ProbeError::Usage(error.to_string()))?;
    Ok(Found { config, text })
}

fn read(path: &str) -> Result<String, ProbeError> {
    let refused = |problem: String| ProbeError::Usage(format!("{path}: {problem}"));
    if !Path::new(path).exists() {
        return Err(refused(format!("neither a relay of this program ({NAMES}) nor a file")));
    }
    std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn what_is_not_there_is_refused_with_what_is() {
        assert!(find("bays8").is_ok());
        let error = find("nowhere.toml").expect_err("no file").to_string();
        assert!(error.contains("bays1 to bays999"), "{error}");
        let error = find("/").expect_err("a folder").to_string();
        assert!(error.starts_with("/: "), "{error}");
    }
}
