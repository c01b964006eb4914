//! Loads as they are asked for: `KIND[:KEY=VALUE,...][@CPUS]` on the command line, a table in a plan.

use std::collections::BTreeMap;
use std::str::FromStr;

use units::CpuList;

use super::{LoadKind, LoadSpec, Over};

/// The kinds of load, with their keys and what they are unless given.
pub const KINDS: [(&str, &[(&str, &str)]); 7] = [
    ("scheduler", &[("pairs", "10"), ("bytes", "100"), ("over", "sockets")]),
    (
        "hackbench",
        &[("groups", "1"), ("fds", "20"), ("bytes", "100"), ("over", "sockets")],
    ),
    ("memory", &[("size", "64MiB"), ("threads", "1")]),
    ("cache", &[("size", "2MiB"), ("threads", "1")]),
    ("timers", &[("interval", "50us"), ("threads", "1")]),
    ("packets", &[("bytes", "64"), ("threads", "1")]),
    ("disk", &[("dir", "."), ("size", "64MiB")]),
];

/// Why a load cannot be asked for like that.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// No such kind.
    #[error("no load is called \"{0}\" (have: {list})", list = kinds())]
    Kind(String),
    /// A key this kind does not have.
    #[error("a {kind} load has no \"{key}\" (it has: {have})")]
    Key {
        /// The kind.
        kind: String,
        /// The key.
        key: String,
        /// The keys it has.
        have: String,
    },
    /// Not `KEY=VALUE`.
    #[error("\"{0}\" of a load is not KEY=VALUE")]
    Pair(String),
    /// A value that cannot be.
    #[error("{kind} load, {key}: {why}")]
    Value {
        /// The kind.
        kind: String,
        /// The key.
        key: String,
        /// What is wrong with it.
        why: String,
    },
    /// CPUs that are no list.
    #[error("\"{0}\" behind @ is not a CPU list such as 1-3,5")]
    Cpus(String),
}

fn kinds() -> String {
    KINDS.map(|(kind, _)| kind).join(", ")
}

/// A load, and where it is to run if that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadRequest {
    /// What it does.
    pub kind: LoadKind,
    /// Its CPUs.
    pub cpus: Option<CpuList>,
}

impl LoadRequest {
    /// The load on its CPUs, or on `default`.
    pub fn on(self, default: &CpuList) -> LoadSpec {
        LoadSpec {
            kind: self.kind,
            cpus: self.cpus.unwrap_or_else(|| default.clone()),
        }
    }
}

impl FromStr for LoadRequest {
    type Err = RequestError;

    fn from_str(text: &str) -> Result<Self, RequestError> {
        let (what, cpus) = match text.rsplit_once('@') {
            Some((what, list)) => {
                let cpus: CpuList = list.parse().map_err(|_| RequestError::Cpus(list.to_owned()))?;
                if cpus.is_empty() {
                    return Err(RequestError::Cpus(list.to_owned()));
                }
                (what, Some(cpus))
            }
            None => (text, None),
        };
        let (kind, pairs) = what.split_once(':').unwrap_or((what, ""));
        let pair = |pair: &str| {
            let (key, value) = pair
                .split_once('=')
                .ok_or_else(|| RequestError::Pair(pair.to_owned()))?;
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        };
        let values = pairs.split(',').filter(|pair| !pair.is_empty()).map(pair);
        let kind = kind_from(kind.trim(), &values.collect::<Result<_, _>>()?)?;
        Ok(Self { kind, cpus })
    }
}

/// The load called `kind`, with `values` in place of what it is unless given.
///
/// # Errors
/// A kind, key or value that cannot be.
pub fn kind_from(kind: &str, values: &BTreeMap<String, String>) -> Result<LoadKind, RequestError> {
    let (_, defaults) = KINDS
        .iter()
        .find(|(name, _)| *name == kind)
        .ok_or_else(|| RequestError::Kind(kind.to_owned()))?;
    if let Some(key) = values.keys().find(|key| defaults.iter().all(|(name, _)| name != key)) {
        let have: Vec<&str> = defaults.iter().map(|(name, _)| *name).collect();
        return Err(RequestError::Key {
            kind: kind.to_owned(),
            key: key.clone(),
            have: have.join(", "),
        });
    }
    let asked = Asked { kind, values, defaults };
    Ok(match kind {
        "scheduler" => LoadKind::Scheduler {
            pairs: asked.number("pairs")?,
            message_bytes: asked.number("bytes")?,
            over: asked.over()?,
        },
        "hackbench" => LoadKind::Hackbench {
            groups: asked.number("groups")?,
            fds: asked.number("fds")?,
            message_bytes: asked.number("bytes")?,
            over: asked.over()?,
        },
        "memory" => LoadKind::Memory {
            bytes_per_thread: asked.size()?,
            threads: asked.number("threads")?,
        },
        "cache" => LoadKind::Cache {
            bytes: asked.size()?,
            threads: asked.number("threads")?,
        },
        "timers" => LoadKind::Timers {
            interval_ns: asked.value("interval", |text| {
                units::parse_ns(text).map_err(|error| error.to_string())
            })?,
            threads: asked.number("threads")?,
        },
        "packets" => LoadKind::Packets {
            frame_bytes: asked.number("bytes")?,
            threads: asked.number("threads")?,
        },
        _ => LoadKind::Disk {
            directory: asked.value("dir", |text| Ok(text.into()))?,
            bytes: asked.size()?,
        },
    })
}

/// What was asked of one load.
struct Asked<'a> {
    kind: &'a str,
    values: &'a BTreeMap<String, String>,
    defaults: &'a [(&'a str, &'a str)],
}

impl Asked<'_> {
    fn value<T>(&self, key: &str, read: impl FnOnce(&str) -> Result<T, String>) -> Result<T, RequestError> {
        let default = self
            .defaults
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, value)| *value);
        let text = self.values.get(key).map(String::as_str).or(default).unwrap_or_default();
        read(text).map_err(|why| RequestError::Value {
            kind: self.kind.to_owned(),
            key: key.to_owned(),
            why,
        })
    }

    fn number(&self, key: &str) -> Result<usize, RequestError> {
        self.value(key, |text| match text.parse() {
            Ok(number @ 1..=10_000) => Ok(number),
            _ => Err(format!("\"{text}\" is not a number from 1 to 10000")),
        })
    }

    fn size(&self) -> Result<u64, RequestError> {
        self.value("size", |text| {
            units::parse_bytes(text).map_err(|error| error.to_string())
        })
    }

    fn over(&self) -> Result<Over, RequestError> {
        self.value("over", |text| match text {
            "sockets" => Ok(Over::Sockets),
            "pipes" => Ok(Over::Pipes),
            _ => Err(format!("\"{text}\" is not sockets or pipes")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{KINDS, LoadRequest};
    use crate::load::{LoadKind, Over};

    fn request(text: &str) -> LoadRequest {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn every_kind_has_defaults_that_can_be() {
        for (kind, _) in KINDS {
            assert_eq!(request(kind).cpus, None);
        }
    }

    #[test]
    fn keys_and_cpus() {
        let asked = request("scheduler:pairs=3,over=pipes@0-1");
        let kind = LoadKind::Scheduler {
            pairs: 3,
            message_bytes: 100,
            over: Over::Pipes,
        };
        assert_eq!(
            (asked.kind, asked.cpus.map(|cpus| cpus.to_string())),
            (kind, Some("0-1".into()))
        );
        let here = "5".parse().expect("a list");
        assert_eq!(request("disk:dir=/var/tmp,size=1MiB").on(&here).cpus, here);
    }

    #[test]
    fn refusals_name_what_is_wrong_and_what_would_do() {
        for (text, words) in [
            ("chess", "have: scheduler, hackbench"),
            ("cache:pairs=3", "it has: size, threads"),
            ("cache:size", "KEY=VALUE"),
            ("cache:size=big", "size"),
            ("timers:interval=10", "250us"),
            ("scheduler:pairs=0", "1 to 10000"),
            ("scheduler:over=radio", "sockets or pipes"),
            ("cache@x", "CPU list"),
            ("cache@", "CPU list"),
        ] {
            let message = text.parse::<LoadRequest>().expect_err(text).to_string();
            assert!(message.contains(words), "{text}: {message}");
        }
    }
}
