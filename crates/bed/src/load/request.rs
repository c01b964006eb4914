//! Loads in the user's notation: `cache`, `packets:bytes=300@2-3`, or a table of a plan.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use units::{CpuList, CpuListError};

use super::error::AmountError;
use super::settings::Settings;
use super::{CacheLoad, HackbenchLoad, LoadKind, LoadSpec, MemoryLoad, PacketLoad};

/// A requested load, possibly without CPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadRequest {
    /// Kind of load, with its settings.
    pub kind: LoadKind,
    /// The requested CPUs.
    pub cpus: Option<CpuList>,
}

/// Reasons why a text or a table of a plan is not a load.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadRequestError {
    /// Unknown kind.
    #[error("\"{kind}\" is not a load: write {}; start any other program with --load-command", names().join(", "))]
    Kind {
        /// Kind that was given.
        kind: String,
    },
    /// A kind that existed in earlier versions.
    #[error("\"{kind}\" is not a load any more: {instead}")]
    Gone {
        /// Kind that was given.
        kind: &'static str,
        /// Replacement, for the command line and for a plan.
        instead: &'static str,
    },
    /// A setting without a value.
    #[error("{load} load: \"{text}\" is not KEY=VALUE")]
    Form {
        /// The kind of load.
        load: &'static str,
        /// Text that was given.
        text: String,
    },
    /// A key the load does not have.
    #[error("{load} load has no \"{key}\": its keys are {keys}")]
    Key {
        /// The kind of load.
        load: &'static str,
        /// Key that was given.
        key: String,
        /// The keys it has.
        keys: String,
    },
    /// A key given twice.
    #[error("{load} load: {key} is given twice")]
    Twice {
        /// The kind of load.
        load: &'static str,
        /// The key.
        key: String,
    },
    /// A value that cannot be parsed.
    #[error("{load} load: {key}: {why}")]
    Value {
        /// The kind of load.
        load: &'static str,
        /// Its key.
        key: &'static str,
        /// Error in the value, and the allowed values.
        why: String,
    },
    /// An impossible amount.
    #[error(transparent)]
    Amount(#[from] AmountError),
    /// The text is not a CPU list.
    #[error("after @: {0}")]
    Cpus(CpuListError),
    /// `@` without a list.
    #[error("after @: no CPU: name at least one, or leave @ out")]
    NoCpus,
}

type Read = fn(&mut Settings) -> Result<LoadKind, LoadRequestError>;

/// The kinds that are built in, by name.
const KINDS: [(&str, Read); 4] = [
    (HackbenchLoad::NAME, |settings| {
        HackbenchLoad::read(settings).map(LoadKind::Hackbench)
    }),
    (MemoryLoad::NAME, |settings| {
        MemoryLoad::read(settings).map(LoadKind::Memory)
    }),
    (CacheLoad::NAME, |settings| {
        CacheLoad::read(settings).map(LoadKind::Cache)
    }),
    (PacketLoad::NAME, |settings| {
        PacketLoad::read(settings).map(LoadKind::Packets)
    }),
];

/// Kinds of earlier versions, and their replacements.
const GONE: [(&str, &str); 3] = [
    (
        "scheduler",
        "write hackbench:groups=10,fds=1, whose groups are pairs, or in a plan kind = \"hackbench\", groups = 10, fds = 1",
    ),
    (
        "timers",
        "write --load-command \"stress-ng --timer 1 --timer-freq 50000\", or in a plan kind = \"command\" and this as its line",
    ),
    (
        "disk",
        "write --load-command \"fio --name=disk --directory=/var/tmp --rw=write --bs=64k --size=64m --direct=1 --rate=16m \
         --time_based --runtime=1d\", or in a plan kind = \"command\" and this as its line",
    ),
];

/// Names of the built-in loads, as options and plans call them.
#[must_use]
pub fn names() -> Vec<&'static str> {
    KINDS.iter().map(|(name, _)| *name).collect()
}

impl LoadRequest {
    /// The load on its requested CPUs, otherwise on `default`.
    #[must_use]
    pub fn on(self, default: &CpuList) -> LoadSpec {
        LoadSpec {
            kind: self.kind,
            cpus: self.cpus.unwrap_or_else(|| default.clone()),
        }
    }
}

impl FromStr for LoadRequest {
    type Err = LoadRequestError;

    /// `KIND[:KEY=VALUE,...][@CPUS]`. The text after the last `@` is a CPU list; values have no comma.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (what, cpus) = match text.rsplit_once('@') {
            Some((what, cpus)) => (what, Some(some_cpus(cpus)?)),
            None => (text, None),
        };
        let (kind, settings) = match what.split_once(':') {
            Some((kind, settings)) => (kind.trim(), Some(settings)),
            None => (what.trim(), None),
        };
        let (load, read) = built_in(kind)?;
        let given = settings.map_or_else(|| Ok(BTreeMap::new()), |settings| split(load, settings))?;
        Ok(Self {
            kind: checked(read, Settings::new(load, given))?,
            cpus,
        })
    }
}

/// In the form that [`FromStr`] parses.
impl fmt::Display for LoadRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        match &self.cpus {
            Some(cpus) => write!(f, "@{cpus}"),
            None => Ok(()),
        }
    }
}

/// The load called `kind` with these values by key, from a plan or the command line; missing values are defaults.
///
/// # Errors
/// An impossible kind, key or value.
pub fn kind_from(kind: &str, values: &BTreeMap<String, String>) -> Result<LoadKind, LoadRequestError> {
    let (load, read) = built_in(kind)?;
    checked(read, Settings::new(load, values.clone()))
}

/// Parses; then refuses unknown keys and impossible amounts.
fn checked(read: Read, mut settings: Settings) -> Result<LoadKind, LoadRequestError> {
    let kind = read(&mut settings)?;
    settings.finish()?;
    kind.check()?;
    Ok(kind)
}

fn built_in(kind: &str) -> Result<(&'static str, Read), LoadRequestError> {
    let found = KINDS.iter().find(|(name, _)| *name == kind).copied();
    found.ok_or_else(|| match GONE.iter().find(|(name, _)| *name == kind) {
        Some((kind, instead)) => LoadRequestError::Gone { kind, instead },
        None => LoadRequestError::Kind { kind: kind.to_owned() },
    })
}

fn some_cpus(text: &str) -> Result<CpuList, LoadRequestError> {
    let cpus: CpuList = text.parse().map_err(LoadRequestError::Cpus)?;
    if cpus.is_empty() {
        return Err(LoadRequestError::NoCpus);
    }
    Ok(cpus)
}

fn split(load: &'static str, settings: &str) -> Result<BTreeMap<String, String>, LoadRequestError> {
    let mut given = BTreeMap::new();
    for setting in settings.split(',') {
        let (key, value) = setting.split_once('=').ok_or_else(|| LoadRequestError::Form {
            load,
            text: setting.trim().to_owned(),
        })?;
        let key = key.trim().to_owned();
        if given.contains_key(&key) {
            return Err(LoadRequestError::Twice { load, key });
        }
        given.insert(key, value.trim().to_owned());
    }
    Ok(given)
}
