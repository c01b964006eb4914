//! Description of a run for its keeper.

use crate::progress::Limits;
use session::detach::unit_name;
use session::room::Need;
use session::roster::{Entry, Way};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Commands whose windows are due by the clock. All others wait for what somebody else sends.
const PACED: [&str; 4] = ["qualify", "wakeup", "noise", "capacity"];

/// A run, before it starts.
pub(crate) struct KeeperSpec<'a> {
    pub(crate) command: &'a str,
    /// The plan's name.
    pub(crate) plan: Option<&'a str>,
    pub(crate) file: &'a Path,
    pub(crate) window_ns: u64,
    /// How long it measures, if it has an end.
    pub(crate) lasts_ns: Option<u64>,
    /// Room that it is expected to need, as far as that is known.
    pub(crate) need: Option<Need>,
    pub(crate) limits: Limits,
    /// How it was started, unless by somebody who waits for it.
    pub(crate) detached: Option<Detached>,
    /// It may fill the disk.
    pub(crate) force: bool,
    /// True if windows are due by the clock, not when others send.
    pub(crate) is_paced: bool,
}

impl KeeperSpec<'_> {
    /// True if the windows of a command are due by the clock.
    pub(crate) fn is_paced(command: &str) -> bool {
        PACED.contains(&command)
    }

    /// First entry that is written down of it.
    pub(super) fn entry(&self, way: Way) -> Entry {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let file = absolute(self.file).to_string_lossy().into_owned();
        let mut entry = Entry::new(self.command, &file, sys::clock::realtime().as_ns());
        entry.plan = self.plan.map(str::to_owned);
        entry.way = way;
        entry.window_ns = self.window_ns;
        entry.expected = self.need.map(|need| need.expected());
        entry.at_most = self.need.map(|need| need.most());
        if let Some(detached) = &self.detached {
            entry.log = Some(absolute(&log_of(self.file)).to_string_lossy().into_owned());
            entry.unit = (way != Way::Session).then(|| unit_name(&detached.name));
        }
        entry
    }
}

/// Where the output of a detached run goes: beside its file.
pub(crate) fn log_of(file: &Path) -> PathBuf {
    file.with_extension("log")
}

/// How a detached run was started, and its name: `session:substation`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Detached {
    pub(crate) way: Way,
    pub(crate) name: String,
}

/// The words for the ways.
const WAYS: [(&str, Way); 3] = [
    ("session", Way::Session),
    ("unit", Way::Unit),
    ("lasting-unit", Way::LastingUnit),
];

impl FromStr for Detached {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let split = text.split_once(':');
        let known = split.and_then(|(word, name)| {
            let (_, way) = WAYS.iter().find(|(known, _)| *known == word)?;
            Some((*way, name.to_owned()))
        });
        let (way, name) = known.ok_or("not WAY:NAME; this option is written by `qualify --detach` alone")?;
        Ok(Self { way, name })
    }
}

impl std::fmt::Display for Detached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = WAYS
            .iter()
            .find(|(_, way)| *way == self.way)
            .map_or("session", |(word, _)| word);
        write!(f, "{word}:{}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::{Detached, Way};

    #[test]
    fn what_is_written_is_read_again() {
        for way in [Way::Session, Way::Unit, Way::LastingUnit] {
            let detached = Detached {
                way,
                name: "substation-2".into(),
            };
            assert_eq!(detached.to_string().parse(), Ok(detached));
        }
        assert!("foreground:x".parse::<Detached>().is_err() && "session".parse::<Detached>().is_err());
    }
}
