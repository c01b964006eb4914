//! The kernel's build configuration, where a text copy of it lies on disk.

use std::collections::BTreeMap;

use crate::error::HostError;
use crate::reader::Reader;

/// Options of the running kernel.
pub(crate) struct Config {
    /// File it was read from.
    pub(crate) path: String,
    options: BTreeMap<String, String>,
}

impl Config {
    /// Reads the first text copy that exists for the running release.
    pub(crate) fn read(reader: &Reader) -> Result<Self, HostError> {
        let release = reader.line("/proc/sys/kernel/osrelease")?;
        let places = [
            format!("/boot/config-{release}"),
            format!("/usr/lib/modules/{release}/config"),
            format!("/lib/modules/{release}/config"),
            format!("/lib/modules/{release}/build/.config"),
        ];
        for path in places {
            match reader.text(&path) {
                Ok(text) => {
                    return Ok(Self {
                        path,
                        options: parse(&text),
                    });
                }
                Err(error) if error.is_absent() => {}
                Err(error) => return Err(error),
            }
        }
        let compressed = match reader.exists("/proc/config.gz") {
            Ok(true) => "; /proc/config.gz is compressed and not read",
            Ok(false) | Err(_) => "",
        };
        Err(HostError::Undecided(format!(
            "no text copy of the kernel configuration{compressed}"
        )))
    }

    /// The value of `CONFIG_name`: `y`, `m`, a number, a text; `None` when it is not set.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }

    /// Whether `CONFIG_name=y`.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.get(name) == Some("y")
    }
}

/// Where [`Config::read`] looks.
pub(crate) const PLACES: &str = "/boot/config-*, /usr/lib/modules/*/config";

fn parse(text: &str) -> BTreeMap<String, String> {
    let assignments = text
        .lines()
        .filter_map(|line| line.strip_prefix("CONFIG_")?.split_once('='));
    assignments
        .map(|(name, value)| (name.to_owned(), value.trim().trim_matches('"').to_owned()))
        .collect()
}
