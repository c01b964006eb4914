//! `/proc/cpuinfo`: one block of `key : value` lines per online CPU.

use std::collections::BTreeMap;

use crate::error::HostError;
use crate::reader::Reader;

pub(crate) const PATH: &str = "/proc/cpuinfo";

/// Blocks of the file, each of one CPU.
pub struct CpuInfo {
    blocks: Vec<BTreeMap<String, String>>,
}

impl CpuInfo {
    /// Reads the file.
    ///
    /// # Errors
    /// It cannot be read or lists no processor.
    pub fn read(reader: &Reader) -> Result<Self, HostError> {
        let text = reader.text(PATH)?;
        let blocks: Vec<_> = text
            .split("\n\n")
            .map(block)
            .filter(|block| !block.is_empty())
            .collect();
        if blocks.is_empty() {
            return Err(HostError::unexpected(PATH, "lines of key : value", &text));
        }
        Ok(Self { blocks })
    }

    /// Values of `key` over all CPUs, each once, in order of appearance.
    pub fn distinct(&self, key: &str) -> Result<String, HostError> {
        let mut seen: Vec<&str> = Vec::new();
        for value in self
            .blocks
            .iter()
            .filter_map(|block| block.get(key))
            .filter(|value| !value.is_empty())
        {
            if !seen.contains(&value.as_str()) {
                seen.push(value);
            }
        }
        if seen.is_empty() {
            Err(HostError::Undecided(format!("no line \"{key}\"")))
        } else {
            Ok(seen.join("; "))
        }
    }

    /// True if the first CPU has `flag`; `None` if there is no line of flags (not x86).
    pub fn has_flag(&self, flag: &str) -> Option<bool> {
        let flags = self.blocks.iter().find_map(|block| block.get("flags"))?;
        Some(flags.split_whitespace().any(|known| known == flag))
    }
}

fn block(text: &str) -> BTreeMap<String, String> {
    let pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .collect()
}
