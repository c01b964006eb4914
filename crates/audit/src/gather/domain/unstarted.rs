//! Limits in the units of slices that systemd has not started yet: they apply as soon as the guest starts in them.

use crate::value::Unknown;
use host::reader::Reader;
use units::CpuList;

/// Folders of units; the first one that has a name wins (systemd.unit(5)). `systemctl set-property` writes into the first two.
const FOLDERS: [&str; 8] = [
    "/etc/systemd/system.control",
    "/run/systemd/system.control",
    "/run/systemd/transient",
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];

/// Limits of a slice, as its unit states them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Limits {
    /// CPUs of `AllowedCPUs=`.
    pub(super) cpus: Option<CpuList>,
    /// Value of `CPUQuota=`.
    pub(super) quota: Option<String>,
}

impl Limits {
    /// Reads the unit with this name and its drop-ins. A slice needs neither.
    pub(super) fn of(reader: &Reader, unit: &str) -> Result<Self, Unknown> {
        let mut limits = Self::default();
        for path in files(reader, unit) {
            let text = reader
                .text(&path)
                .map_err(|error| Unknown::unclear(error.to_string()))?;
            text.lines().try_for_each(|line| limits.take(line, &path))?;
        }
        Ok(limits)
    }

    /// A list of CPUs grows with each line; an empty one begins again.
    fn take(&mut self, line: &str, path: &str) -> Result<(), Unknown> {
        let Some((key, value)) = line.split_once('=') else {
            return Ok(());
        };
        match (key.trim(), value.trim()) {
            ("AllowedCPUs", "") => self.cpus = None,
            ("AllowedCPUs", value) => {
                // systemd takes blanks, commas and ranges.
                let list = value.split_whitespace().collect::<Vec<_>>().join(",");
                let wrong = || Unknown::unclear(format!("{path}: AllowedCPUs={value} is no list of CPUs"));
                let more: CpuList = list.parse().map_err(|_| wrong())?;
                let before = self.cpus.take().unwrap_or_default();
                self.cpus = Some(before.iter().chain(more.iter()).collect());
            }
            ("CPUQuota", value) => self.quota = (!value.is_empty()).then(|| value.to_owned()),
            _ => {}
        }
        Ok(())
    }
}

/// The unit, then its drop-ins by name.
fn files(reader: &Reader, unit: &str) -> Vec<String> {
    let units = FOLDERS.iter().map(|folder| format!("{folder}/{unit}"));
    let mut files: Vec<String> = units
        .filter(|path| reader.exists(path).unwrap_or(true))
        .take(1)
        .collect();
    let mut drop_ins: Vec<(String, String)> = Vec::new();
    let families = families(unit);
    let folders = families
        .iter()
        .flat_map(|names| FOLDERS.map(|folder| format!("{folder}/{names}.d")));
    for folder in folders {
        let names = reader.names(&folder, |name| name.ends_with(".conf"));
        for name in names.unwrap_or_default() {
            if !drop_ins.iter().any(|(known, _)| *known == name) {
                let path = format!("{folder}/{name}");
                drop_ins.push((name, path));
            }
        }
    }
    drop_ins.sort();
    files.extend(drop_ins.into_iter().map(|(_, path)| path));
    files
}

/// Names whose drop-ins a unit has, the closest first: `machine-rt.slice`, `machine-.slice`, `slice`.
fn families(unit: &str) -> Vec<String> {
    let (stem, kind) = unit.rsplit_once('.').unwrap_or((unit, "slice"));
    let mut names = vec![unit.to_owned()];
    let dashes = stem
        .match_indices('-')
        .map(|(at, _)| format!("{}-.{kind}", &stem[..at]));
    names.extend(dashes.collect::<Vec<_>>().into_iter().rev());
    names.push(kind.to_owned());
    names
}
