//! What was asked for, as it is written down.

use super::{LabError, failed};
use crate::bed::Network;
use crate::place::container::RuntimeName;
use crate::place::{Kind, PlaceError};
use serde::{Deserialize, Serialize};
use std::path::Path;
use units::CpuList;

/// Name of the file in a lab's folder.
const FILE: &str = "lab.json";

/// What a lab is to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// What joins test set and devices.
    pub network: Network,
    /// Where each device is: in a namespace alone, or in a container there.
    pub place: Kind,
    /// How many devices are side by side.
    pub devices: usize,
    /// The containers' CPUs, by the numbers of this machine; none: all.
    #[serde(serialize_with = "written", deserialize_with = "read")]
    pub cpus: CpuList,
    /// What runs the containers; `None`: the first that is installed.
    pub runtime: Option<String>,
}

fn written<S: serde::Serializer>(cpus: &CpuList, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(cpus)
}

fn read<'de, D: serde::Deserializer<'de>>(from: D) -> Result<CpuList, D::Error> {
    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
}

impl std::fmt::Display for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (devices, place) = (self.devices, self.place.name());
        let plural = if devices == 1 { "" } else { "s" };
        write!(f, "{}, {devices} device{plural} {place}", self.network.name())?;
        if let Some(runtime) = &self.runtime {
            write!(f, " of {runtime}")?;
        }
        match self.cpus.is_empty() {
            true => Ok(()),
            false => write!(f, " on CPUs {}", self.cpus),
        }
    }
}

impl Asked {
    /// What cannot stay up when this process ends, in words.
    fn check(&self) -> Result<(), LabError> {
        let refused = |text: &str| Err(LabError::Refused(text.to_owned()));
        if self.network.in_user_space() {
            return Err(LabError::Refused(format!(
                "the frames of a {} bed are forwarded by a process, which ends with the command: use veth, bridge or macvlan, or \
                 `triptime qualify networks`, which compares them all",
                self.network.name()
            )));
        }
        match self.place {
            Kind::Vm => refused(
                "a guest takes commands from the process that booted it alone, so none can stay up: use `triptime lab guest`, or \
                 `triptime qualify --place vm`",
            ),
            Kind::Native if !self.cpus.is_empty() || self.runtime.is_some() => refused(
                "--cpus and --runtime are of containers: add --place container, or name the CPUs to each command",
            ),
            _ if self.devices == 0 => refused("--devices: there is at least one"),
            _ => match self.runtime()? {
                None | Some(RuntimeName::Runc | RuntimeName::Crun) => Ok(()),
                Some(other) => Err(LabError::Refused(format!(
                    "a lab's containers are run by runc or crun, not by {}: leave --runtime out",
                    other.name()
                ))),
            },
        }
    }

    /// The same with the runtime that is to be used: what is made by one cannot be taken down by another.
    pub(super) fn resolved(&self) -> Result<Self, LabError> {
        self.check()?;
        let mut resolved = self.clone();
        if self.place == Kind::Container {
            let found = RuntimeName::find(self.runtime()?)?;
            resolved.runtime = Some(found.name().to_owned());
            resolved.check()?;
        }
        Ok(resolved)
    }

    pub(super) fn runtime(&self) -> Result<Option<RuntimeName>, PlaceError> {
        let Some(asked) = &self.runtime else { return Ok(None) };
        let found = RuntimeName::ALL.into_iter().find(|name| name.name() == asked);
        let unknown = || PlaceError::NotAvailable(format!("no container runtime is called {asked}"));
        found.map(Some).ok_or_else(unknown)
    }
}

/// What is written into a lab's folder.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) asked: Asked,
    /// Which boot of the machine it was made in.
    boot: String,
}

impl Record {
    pub(super) fn now(asked: &Asked) -> Self {
        Self {
            asked: asked.clone(),
            boot: boot(),
        }
    }

    pub(super) fn is_of_this_boot(&self) -> bool {
        self.boot == boot()
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), LabError> {
        let path = folder.join(FILE);
        let text = serde_json::to_string_pretty(self).map_err(|error| failed(&path, error.into()))?;
        std::fs::write(&path, text).map_err(|error| failed(&path, error))
    }

    /// `None`: it is not there, or cannot be read.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        serde_json::from_str(&std::fs::read_to_string(folder.join(FILE)).ok()?).ok()
    }
}

/// Which boot of the machine this is.
fn boot() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Asked, Kind, Network, Record};

    fn asked() -> Asked {
        Asked {
            network: Network::Bridge,
            place: Kind::Container,
            devices: 2,
            cpus: "1".parse().expect("a list"),
            runtime: None,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().expect("a directory");
        assert!(Record::read(folder.path()).is_none());
        Record::now(&asked()).write(folder.path()).expect("written");
        let read = Record::read(folder.path()).expect("a record");
        assert!(read.asked == asked() && read.is_of_this_boot());
        let old = Record {
            boot: "another".to_owned(),
            ..read
        };
        assert!(!old.is_of_this_boot());
    }

    #[test]
    fn what_cannot_stay_is_refused() {
        let refused = |asked: Asked| asked.check().err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(refused(asked()), "");
        let text = refused(Asked {
            network: Network::Tap,
            ..asked()
        });
        assert!(text.contains("use veth, bridge or macvlan"), "{text}");
        let text = refused(Asked {
            place: Kind::Vm,
            ..asked()
        });
        assert!(text.contains("lab guest"), "{text}");
        let text = refused(Asked {
            place: Kind::Native,
            ..asked()
        });
        assert!(text.contains("--place container"), "{text}");
        let text = refused(Asked {
            runtime: Some("lxc".to_owned()),
            ..asked()
        });
        assert!(text.contains("runc or crun"), "{text}");
    }
}
