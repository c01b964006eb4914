//! The kernel's build configuration, if a copy of it can be read.

use std::collections::BTreeMap;
use std::io::Read;

use crate::error::HostError;
use crate::reader::Reader;

/// Options of the running kernel.
pub struct Config {
    /// File from which it was read.
    pub(crate) path: String,
    options: BTreeMap<String, String>,
}

impl Config {
    /// Reads the first copy for the running release: a text on disk, else the one in the kernel.
    pub fn read(reader: &Reader) -> Result<Self, HostError> {
        let release = reader.line("/proc/sys/kernel/osrelease")?;
        match Self::of(reader, &release)? {
            Some(config) => Ok(config),
            None => compressed(reader),
        }
    }

    /// Reads the first text copy that exists for the kernel of this release.
    pub(crate) fn of(reader: &Reader, release: &str) -> Result<Option<Self>, HostError> {
        let places = [
            format!("/boot/config-{release}"),
            format!("/usr/lib/modules/{release}/config"),
            format!("/lib/modules/{release}/config"),
            format!("/lib/modules/{release}/build/.config"),
        ];
        for path in places {
            match reader.text(&path) {
                // Any other text would show every option as not set.
                Ok(text) if !text.contains("CONFIG_") => {
                    return Err(HostError::unexpected(&path, "lines of CONFIG_NAME=value", &text));
                }
                Ok(text) => {
                    return Ok(Some(Self {
                        path,
                        options: parse(&text),
                    }));
                }
                Err(error) if error.is_absent() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Value of `CONFIG_name`: `y`, `m`, a number, a text; `None` if it is not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }

    /// True for `CONFIG_name=y`.
    pub fn is_on(&self, name: &str) -> bool {
        self.get(name) == Some("y")
    }
}

/// Places where [`Config::read`] looks.
pub(crate) const PLACES: &str = "/boot/config-*, /usr/lib/modules/*/config, /proc/config.gz";

/// Copy that the kernel itself may contain.
const COMPRESSED: &str = "/proc/config.gz";
/// Maximum size of that copy in bytes, compressed and unpacked: those of distributions have 80 and 300 KiB.
const MOST_BYTES: u64 = 4 << 20;

fn compressed(reader: &Reader) -> Result<Config, HostError> {
    let bytes = match reader.bytes(COMPRESSED, MOST_BYTES) {
        Err(error) if error.is_absent() => {
            return Err(HostError::Undecided("no copy of the kernel configuration".to_owned()));
        }
        bytes => bytes?,
    };
    let mut text = String::new();
    let unpacked = flate2::read::GzDecoder::new(bytes.as_slice())
        .take(MOST_BYTES)
        .read_to_string(&mut text);
    match unpacked {
        Ok(_) if text.contains("CONFIG_") => Ok(Config {
            path: COMPRESSED.to_owned(),
            options: parse(&text),
        }),
        _ => Err(HostError::Undecided(format!(
            "no text copy of the kernel configuration, and {COMPRESSED} cannot be unpacked"
        ))),
    }
}

fn parse(text: &str) -> BTreeMap<String, String> {
    let assignments = text
        .lines()
        .filter_map(|line| line.strip_prefix("CONFIG_")?.split_once('='));
    assignments
        .map(|(name, value)| (name.to_owned(), value.trim().trim_matches('"').to_owned()))
        .collect()
}
