//! A VMware virtual machine: `key = "value"` lines of its `.vmx`, or an OVF converted to them.

use std::collections::BTreeMap;
use std::path::Path;

use super::{ovf, text};

/// A VMware virtual machine: its settings by their keys in lower case, because VMware ignores case.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Vmx {
    settings: BTreeMap<String, String>,
}

impl Vmx {
    /// Reads a `.vmx` or OVF file, and the list of snapshots next to a `.vmx`.
    ///
    /// # Errors
    /// Returns the file, the line if known, and the error.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let failed = |error: String| format!("{}: {error}", path.display());
        let text = text(path)?;
        if text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
            return ovf::parse(&text).and_then(Self::printable).map_err(failed);
        }
        let mut machine = Self::parse(&text).and_then(Self::printable).map_err(failed)?;
        machine.add_snapshots(&path.with_extension("vmsd"))?;
        Ok(machine)
    }

    /// Refuses control characters, which could affect a terminal: values are printed, and included in emitted settings.
    fn printable(self) -> Result<Self, String> {
        let is_wrong = |text: &str| text.contains(char::is_control);
        match self
            .settings
            .iter()
            .find(|(key, value)| is_wrong(key) || is_wrong(value))
        {
            Some((key, value)) => Err(format!("{key:?} = {value:?} has a control character")),
            None => Ok(self),
        }
    }

    /// # Errors
    /// A line is neither a setting nor a comment, or repeats a key.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut machine = Self::default();
        for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (key, value) = setting(line).ok_or_else(|| format!("line {number}: key = \"value\" was expected"))?;
            if machine.settings.insert(key.to_ascii_lowercase(), value).is_some() {
                return Err(format!("line {number}: {key} is set twice"));
            }
        }
        if machine.settings.is_empty() {
            return Err("no key = \"value\" line: this is not a .vmx".to_owned());
        }
        Ok(machine)
    }

    /// Snapshots by the list. It is empty or missing if there are none.
    fn add_snapshots(&mut self, path: &Path) -> Result<(), String> {
        if !path.exists() {
            return Ok(());
        }
        let text = text(path)?;
        if text.trim().is_empty() {
            return Ok(());
        }
        let snapshots = Self::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let of_snapshots = snapshots.settings.into_iter();
        self.settings
            .extend(of_snapshots.filter(|(key, _)| key.starts_with("snapshot")));
        Ok(())
    }

    pub(super) fn set(&mut self, key: &str, value: &str) {
        self.settings.insert(key.to_ascii_lowercase(), value.to_owned());
    }

    /// Setting by its key in lower case.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.settings.get(key).map(String::as_str)
    }

    /// True if a setting is TRUE.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// Numbers N for which `prefixN.present` is TRUE.
    pub(crate) fn present<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        let keys = self.settings.keys().filter(|key| self.is_true(key));
        keys.filter_map(move |key| {
            let number = key.strip_prefix(prefix)?.strip_suffix(".present")?;
            number.parse::<u32>().is_ok().then_some(number)
        })
    }

    /// Number of snapshots, by their list, else by the names of the disks: with a snapshot a disk is `NAME-000001.vmdk`.
    pub(crate) fn snapshots(&self) -> usize {
        let listed = self.get("snapshot.numsnapshots").and_then(|count| count.parse().ok());
        let disks = self.settings.iter().filter(|(key, _)| key.ends_with(".filename"));
        let on_snapshots = disks.filter(|(_, name)| is_snapshot(name)).count();
        listed.unwrap_or(0).max(on_snapshots)
    }
}

fn setting(line: &str) -> Option<(&str, String)> {
    let (key, value) = line.split_once('=')?;
    let (key, value) = (key.trim(), value.trim());
    let value = match value.strip_prefix('"') {
        Some(quoted) => quoted.strip_suffix('"')?,
        None => value,
    };
    let plain = !key.is_empty() && !key.contains(char::is_whitespace) && !value.contains('"');
    plain.then(|| (key, value.to_owned()))
}

fn is_snapshot(disk: &str) -> bool {
    let number = disk.strip_suffix(".vmdk").and_then(|name| name.rsplit_once('-'));
    number.is_some_and(|(_, number)| number.len() == 6 && number.bytes().all(|b| b.is_ascii_digit()))
}
