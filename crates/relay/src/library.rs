//! Relays inside the program.

use crate::config::{Config, parse};
use crate::error::ConfigError;
use std::path::Path;

/// A relay of so many bays; `{bays}` in it stands for their range.
const BAYS: &str = include_str!("../../../relays/bays.toml");

/// How the relays inside the program are called.
pub const NAMES: &str = "bays1 to bays999";

/// A relay, and the file that it was read from.
#[derive(Debug, Clone)]
pub struct Found {
    /// The relay.
    pub config: Config,
    /// The text of its file.
    pub text: String,
}

/// The relay of the program that is called so, or that of a file.
///
/// # Errors
/// Neither is there, or the file has a wrong key or value.
pub fn find(name_or_path: &str) -> Result<Found, ConfigError> {
    let text = match bays(name_or_path) {
        Some(text) => text,
        None => read(name_or_path)?,
    };
    Ok(Found {
        config: parse(&text, name_or_path)?,
        text,
    })
}

/// `bays8`, for example.
fn bays(name: &str) -> Option<String> {
    let count: u16 = name.strip_prefix("bays")?.parse().ok()?;
    let range = format!("{{01..{count:02}}}");
    (1..=999).contains(&count).then(|| {
        BAYS.replace("{bays}", &range)
            .replacen("name = \"bays\"", &format!("name = \"{name}\""), 1)
    })
}

fn read(path: &str) -> Result<String, ConfigError> {
    let problem = |problem: String| ConfigError::File {
        file: path.to_owned(),
        problem,
    };
    if !Path::new(path).exists() {
        return Err(problem(format!("neither a relay of this program ({NAMES}) nor a file")));
    }
    std::fs::read_to_string(path).map_err(|error| problem(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn as_many_bays_as_the_name_says() {
        for count in [1, 8, 99, 999] {
            let found = find(&format!("bays{count}")).expect("a relay").config;
            assert_eq!(found.name, format!("bays{count}"));
            assert_eq!((found.streams.len(), found.functions.len()), (count, 8 * count));
            assert_eq!(found.streams[0].spec.sv_id, "MU01");
            assert_eq!(found.trips[0].functions.len(), 4 * count);
        }
    }

    #[test]
    fn what_is_not_there_is_refused_with_what_is() {
        for name in ["bays0", "bays1000", "bays", "nowhere.toml"] {
            let error = find(name).expect_err(name).to_string();
            assert!(error.contains("bays1 to bays999"), "{error}");
        }
        let error = find("/").expect_err("a folder").to_string();
        assert!(error.starts_with("/: "), "{error}");
    }
}
