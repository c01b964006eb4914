//! Macvlans: only the kernel's answer, not `/sys`, distinguishes them from other pairs.

use toml::{Table, Value as Toml};

use super::answer::only_live;
use super::place::Upon;
use crate::value::Unknown;
use host::error::HostError;
use host::nic::interface::InterfaceKind;
use host::reader::Reader;

/// Macvlans of the network namespace, by name.
pub(in crate::gather) struct Macvlans(Result<Table, Unknown>);

/// Settings of the macvlans on one interface: the last setting applies to all of them.
#[derive(Clone, Copy)]
pub(super) struct Settings {
    pub(super) queued_above: Option<f64>,
    pub(super) queue_frames: Option<u32>,
}

impl Macvlans {
    pub(in crate::gather) fn read(reader: &Reader) -> Self {
        let text = reader.answer("macvlans", || {
            let all = sys::link::macvlans().map_err(|error| HostError::Undecided(error.to_string()))?;
            Ok(write(&all))
        });
        let table = text.map_err(only_live).and_then(|text| {
            let parsed = text.parse::<Table>();
            parsed.map_err(|error| Unknown::unclear(format!("the recorded answer on macvlans: {error}")))
        });
        Self(table)
    }

    /// True if an interface is a macvlan.
    pub(in crate::gather) fn has(&self, name: &str) -> Result<bool, Unknown> {
        let all = self.0.as_ref().map_err(Clone::clone)?;
        Ok(all.contains_key(name))
    }

    /// Macvlans among the interfaces. Without an answer, an interface without a kind may be one.
    pub(super) fn among(&self, upon: &[Upon]) -> Result<Vec<String>, Unknown> {
        let mut found = Vec::new();
        for (name, kind) in upon {
            let is_one = match kind {
                InterfaceKind::Macvlan => true,
                InterfaceKind::Paired | InterfaceKind::Virtual => self.has(name)?,
                _ => false,
            };
            if is_one {
                found.push(name.clone());
            }
        }
        Ok(found)
    }

    pub(super) fn settings(&self, names: &[String]) -> Result<Settings, Unknown> {
        let all = self.0.as_ref().map_err(Clone::clone)?;
        let number = |name: &String, key: &str| all.get(name)?.get(key)?.as_integer();
        if let Some(missing) = names.iter().find(|name| !all.contains_key(name.as_str())) {
            return Err(Unknown::unclear(format!("nothing is known about macvlan {missing}")));
        }
        let above = names.iter().filter_map(|name| number(name, "queued-above")).min();
        let frames = names.iter().filter_map(|name| number(name, "queue-frames")).min();
        Ok(Settings {
            queued_above: above.map(|above| above as f64),
            queue_frames: frames.and_then(|frames| u32::try_from(frames).ok()),
        })
    }
}

fn write(all: &[sys::link::Macvlan]) -> String {
    let one = |macvlan: &sys::link::Macvlan| {
        let entries = [
            ("queued-above", macvlan.queued_above.map(i64::from)),
            ("queue-frames", macvlan.queue_frames.map(i64::from)),
        ];
        let known = entries
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), Toml::Integer(value?))));
        (macvlan.name.clone(), Toml::Table(known.collect()))
    };
    // An empty table would be an empty text, which a recorded tree must distinguish from a missing answer.
    format!("# macvlans\n{}", all.iter().map(one).collect::<Table>())
}
