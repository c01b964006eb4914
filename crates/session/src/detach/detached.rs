//! How a run in the background was started.

use crate::roster::StartKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The file next to the run file that gets the output of a detached run.
pub fn log_of(file: &Path) -> PathBuf {
    file.with_extension("log")
}

/// How a detached run was started, and its name: `session:substation`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detached {
    /// The way it was started.
    pub way: StartKind,
    /// The name that `triptime status` shows.
    pub name: String,
}

/// Words for [`StartKind`].
const WAYS: [(&str, StartKind); 3] = [
    ("session", StartKind::Session),
    ("unit", StartKind::Unit),
    ("lasting-unit", StartKind::LastingUnit),
];

impl FromStr for Detached {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let split = text.split_once(':');
        let known = split.and_then(|(word, name)| {
            let (_, way) = WAYS.iter().find(|(known, _)| *known == word)?;
            Some((*way, name.to_owned()))
        });
        let (way, name) = known.ok_or("not WAY:NAME; only `qualify --detach` writes this option")?;
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
    use super::{Detached, StartKind};

    #[test]
    fn what_is_written_is_read_again() {
        for way in [StartKind::Session, StartKind::Unit, StartKind::LastingUnit] {
            let detached = Detached {
                way,
                name: "substation-2".into(),
            };
            assert_eq!(detached.to_string().parse(), Ok(detached));
        }
        assert!("foreground:x".parse::<Detached>().is_err() && "session".parse::<Detached>().is_err());
    }
}
