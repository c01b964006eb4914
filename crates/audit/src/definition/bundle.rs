//! Output of an ESXi host's commands, one after the other in one file, each after a line `$ COMMAND`. Lines before the first command, or
//! after `$ notes`, are facts that no command of the host prints.
//!
//! A line is `Key: value`, as `esxcli` prints it, or `key = value`, with or without a comma and quotes, as `vim-cmd` does.
//! Other lines (brackets, titles) are skipped.

use std::collections::BTreeMap;
use std::path::Path;

use super::text;

/// Name of the notes: facts in the words of this file format.
const NOTES: &str = "notes";

/// Keys of the notes. An unknown key is an error, because a typing mistake would otherwise silently lose a fact.
const WORDS: [&str; 11] = [
    "drs",
    "ha",
    "vsan",
    "cpu-reserved-mhz",
    "cpu-capacity-mhz",
    "memory-reserved-mb",
    "memory-capacity-mb",
    "bios-p-states",
    "bios-energy-efficient-turbo",
    "bios-c-states",
    "bios-vt-d",
];

/// The output of the host's commands.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Bundle {
    /// Values by command and key, both in lower case. The first value of a key counts: nested objects repeat keys further down.
    values: BTreeMap<(String, String), String>,
}

impl Bundle {
    /// # Errors
    /// Returns the file, and the error in it.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        Self::parse(&text(path)?).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// # Errors
    /// No line has a value, or a note has an unknown key.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut bundle = Self::default();
        let mut command = NOTES.to_owned();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if let Some(named) = line.strip_prefix('$') {
                command = named.trim().to_ascii_lowercase();
            } else if let Some((key, value)) = pair(line) {
                if command == NOTES && !WORDS.contains(&key.as_str()) {
                    let known = WORDS.join(", ");
                    return Err(format!("line {number}: \"{key}\" is not a key of the notes: {known}"));
                }
                bundle.values.entry((command.clone(), key)).or_insert(value);
            }
        }
        if bundle.values.is_empty() {
            return Err("no line has the form key: value or key = value".to_owned());
        }
        Ok(bundle)
    }

    /// Value that the command ending in `command` prints for `key`; a note if `command` is `notes`.
    pub(crate) fn get(&self, command: &str, key: &str) -> Option<&str> {
        let mut of_key = self.values.iter().filter(|((_, known), _)| known == key);
        of_key
            .find(|((of, _), _)| of.ends_with(command))
            .map(|(_, value)| value.as_str())
    }
}

fn pair(line: &str) -> Option<(String, String)> {
    if line.starts_with('#') {
        return None;
    }
    let place = line.find(['=', ':'])?;
    let (key, value) = (line[..place].trim(), line[place + 1..].trim());
    let value = value.trim_end_matches(',').trim_matches('"').trim();
    let is_plain = !key.is_empty() && !value.is_empty() && !key.contains(['(', '[', '{']);
    is_plain.then(|| (key.to_ascii_lowercase(), value.to_owned()))
}
