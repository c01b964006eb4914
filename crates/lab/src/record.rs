//! The requested settings of a lab, and the file that holds them.

use super::parts::Parts;
use super::{LabError, failed};
use bed::Network;
use bed::{device_end, device_if};
use place::container::RuntimeName;
use place::cpu_list;
use place::guest::{GuestSpec, held};
use place::{PlaceError, PlaceKind};
use serde::{Deserialize, Serialize};
use std::path::Path;
use units::CpuList;

/// Name of the file in a lab's folder.
const FILE: &str = "lab.json";

/// Settings of a lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Network between test set and devices; unused if ports are named.
    pub network: Network,
    /// Ports of this machine that are the ends: the test set's and the device's, or the device's alone. Empty: the ends are made.
    #[serde(default)]
    pub nic: Vec<String>,
    /// Location of each device: a namespace alone, a container, or a guest.
    pub place: PlaceKind,
    /// Number of devices side by side.
    pub devices: usize,
    /// The containers' CPUs, by the numbers of this machine; empty: all.
    #[serde(with = "cpu_list")]
    pub cpus: CpuList,
    /// Runtime of the containers; `None`: the first installed one.
    pub runtime: Option<String>,
    /// Description of each guest; several guests share the CPUs of this machine that it lists.
    #[serde(default)]
    pub guest: Option<GuestSpec>,
}

impl std::fmt::Display for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (devices, place) = (self.devices, self.place.name());
        let plural = if devices == 1 { "" } else { "s" };
        match &self.nic[..] {
            [] => write!(f, "{}", self.network.name())?,
            [device] => write!(f, "port {device}, the test set on another machine")?,
            ports => write!(f, "ports {}", ports.join(" and "))?,
        }
        write!(f, ", {devices} device{plural} {place}")?;
        if let Some(runtime) = &self.runtime {
            write!(f, " of {runtime}")?;
        }
        let on = self.guest.as_ref().and_then(|guest| guest.host_cpus.as_ref());
        match on.or(Some(&self.cpus)).filter(|cpus| !cpus.is_empty()) {
            None => Ok(()),
            Some(cpus) => write!(f, " on CPUs {cpus}"),
        }
    }
}

impl Asked {
    /// The port of this machine that carries the devices, if there is one.
    pub(super) fn device_port(&self) -> Option<&str> {
        self.nic.last().map(String::as_str)
    }

    /// True if the only device is the port itself.
    pub(super) fn is_on_port(&self) -> bool {
        !self.nic.is_empty() && self.devices == 1 && self.place != PlaceKind::Vm
    }

    /// The ends with a network namespace: `ts`, `dut`, `dut1` and so on.
    pub(super) fn named_ends(&self) -> Vec<String> {
        let devices = if self.is_on_port() { 0 } else { self.devices };
        let test_set = self.nic.is_empty().then(|| "ts".to_owned());
        test_set.into_iter().chain((0..devices).map(device_end)).collect()
    }

    /// Name of this device's interface at its end; a guest's interface is named inside the guest.
    pub(super) fn interface(&self, number: usize) -> String {
        match self.device_port().filter(|_| self.is_on_port()) {
            Some(port) => port.to_owned(),
            None => device_if(number),
        }
    }

    /// True if a process must stay that forwards. A guest's own tap is opened by the process that runs the guest.
    pub(super) fn takes_forwarder(&self) -> bool {
        let is_guests_tap = self.place == PlaceKind::Vm && self.network == Network::Tap;
        self.nic.is_empty() && self.network.in_user_space() && !is_guests_tap
    }

    /// Refuses settings of a lab that could not stay up after this process ends.
    fn check(&self) -> Result<(), LabError> {
        let refused = |text: &str| Err(LabError::Refused(text.to_owned()));
        if self.nic.len() > 2 {
            return refused(
                "--nic takes two ports, the test set's and the device's: --nic eth1,eth2; or the device's alone",
            );
        }
        match (self.place, &self.guest) {
            (PlaceKind::ContainerInVm, _) => refused(
                "a container in a guest is made for one step of a plan, and ends with it: `triptime qualify PLAN --place container-in-vm`; \
                 a guest alone stays (--place vm)",
            ),
            (PlaceKind::Vm, _) if !self.cpus.is_empty() || self.runtime.is_some() => refused(
                "--cpus and --runtime are for containers only: a guest's virtual CPUs get those of this machine by --host-cpus",
            ),
            (PlaceKind::Vm, Some(_)) if self.devices == 0 => refused("--devices: use at least 1"),
            (PlaceKind::Vm, Some(guest)) => Ok(held::check_all(guest, self.devices)?),
            (PlaceKind::Vm, None) => refused("the settings of the guests are missing"),
            (_, Some(_)) => refused("--kernel and the other options of guests are only for guests: add --place vm"),
            (_, None) => self.check_others(),
        }
    }

    /// Checks the settings that apply to labs without guests.
    fn check_others(&self) -> Result<(), LabError> {
        let refused = |text: &str| Err(LabError::Refused(text.to_owned()));
        match self.place {
            PlaceKind::Native if !self.cpus.is_empty() || self.runtime.is_some() => refused(
                "--cpus and --runtime are for containers only: add --place container, or name the CPUs to each command",
            ),
            _ if self.devices == 0 => refused("--devices: use at least 1"),
            _ => match self.runtime()? {
                None | Some(RuntimeName::Runc | RuntimeName::Crun) => Ok(()),
                Some(other) => Err(LabError::Refused(format!(
                    "a lab's containers are run by runc or crun, not by {}: leave --runtime out",
                    other.name()
                ))),
            },
        }
    }

    /// The same settings with the resolved runtime: one runtime cannot take down the containers of another.
    pub(super) fn resolved(&self) -> Result<Self, LabError> {
        self.check()?;
        let mut resolved = self.clone();
        if self.place == PlaceKind::Container {
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

/// Content of the record file in a lab's folder.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LabRecord {
    pub(super) asked: Asked,
    /// The interfaces when the lab was made; `None` if making it did not finish.
    #[serde(default)]
    pub(super) parts: Option<Parts>,
    /// Identifier of the machine's boot during which the lab was made.
    boot: String,
}

impl LabRecord {
    pub(super) fn now(asked: &Asked) -> Self {
        Self {
            asked: asked.clone(),
            boot: boot(),
            parts: None,
        }
    }

    /// The same record for a completed lab.
    pub(super) fn with(self, parts: Parts) -> Self {
        let parts = Some(parts);
        Self { parts, ..self }
    }

    pub(super) fn is_of_this_boot(&self) -> bool {
        self.boot == boot()
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), LabError> {
        let path = folder.join(FILE);
        let text = serde_json::to_string_pretty(self).map_err(|error| failed(&path, error.into()))?;
        std::fs::write(&path, text).map_err(|error| failed(&path, error))
    }

    /// `None` if the file is missing or unreadable.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        serde_json::from_str(&std::fs::read_to_string(folder.join(FILE)).ok()?).ok()
    }
}

/// Identifier of this boot of the machine.
fn boot() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use super::{Asked, CpuList, GuestSpec, LabRecord, Network, PlaceKind};

    pub(crate) fn asked() -> Asked {
        Asked {
            network: Network::Bridge,
            nic: Vec::new(),
            place: PlaceKind::Container,
            devices: 2,
            cpus: "1".parse().expect("a list"),
            runtime: None,
            guest: None,
        }
    }

    /// Two guests on CPUs 2 to 5.
    fn guests() -> Asked {
        let mut guest = GuestSpec::new("/proc/version".into(), "/proc".into());
        guest.host_cpus = Some("2-5".parse().expect("a list"));
        Asked {
            place: PlaceKind::Vm,
            cpus: CpuList::default(),
            guest: Some(guest),
            ..asked()
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().expect("a directory");
        assert!(LabRecord::read(folder.path()).is_none());
        LabRecord::now(&asked()).write(folder.path()).expect("written");
        let read = LabRecord::read(folder.path()).expect("a record");
        assert!(read.asked == asked() && read.is_of_this_boot());
        let old = LabRecord {
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
            nic: ["a", "b", "c"].map(str::to_owned).to_vec(),
            ..asked()
        });
        assert!(text.contains("two ports"), "{text}");
        let text = refused(Asked {
            guest: guests().guest,
            ..asked()
        });
        assert!(text.contains("--place vm"), "{text}");
        let text = refused(Asked {
            place: PlaceKind::Native,
            ..asked()
        });
        assert!(text.contains("--place container"), "{text}");
        let text = refused(Asked {
            runtime: Some("lxc".to_owned()),
            ..asked()
        });
        assert!(text.contains("runc or crun"), "{text}");
    }

    #[test]
    fn guests_have_their_own_networks_and_cpus() {
        let refused = |asked: Asked| asked.check().err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(refused(guests()), "");
        assert_eq!(guests().to_string(), "bridge, 2 devices vm on CPUs 2-5");
        let tap = Asked {
            network: Network::Tap,
            ..guests()
        };
        assert_eq!(refused(tap.clone()), "");
        assert!(!tap.takes_forwarder(), "QEMU holds it");
        let three = Asked { devices: 3, ..guests() };
        assert!(
            refused(three.clone()).contains("2 virtual CPUs, but 0"),
            "{}",
            refused(three)
        );
        let cpus = Asked {
            cpus: "1".parse().expect("a list"),
            ..guests()
        };
        assert!(refused(cpus.clone()).contains("--host-cpus"), "{}", refused(cpus));
        let folder = tempfile::tempdir().expect("a directory");
        LabRecord::now(&guests()).write(folder.path()).expect("written");
        assert_eq!(LabRecord::read(folder.path()).expect("a record").asked, guests());
    }

    #[test]
    fn a_port_is_an_end_as_it_is_or_what_is_made_on_it() {
        let ports = |names: &[&str], place, devices| Asked {
            nic: names.iter().map(|name| (*name).to_owned()).collect(),
            place,
            devices,
            ..asked()
        };
        let one = ports(&["eth1", "eth2"], PlaceKind::Native, 1);
        assert_eq!((one.named_ends(), one.interface(0).as_str()), (Vec::new(), "eth2"));
        assert!(
            one.to_string().starts_with("ports eth1 and eth2, 1 device native"),
            "{one}"
        );
        let two = ports(&["eth2"], PlaceKind::Container, 2);
        assert_eq!(two.named_ends(), ["dut", "dut1"]);
        assert_eq!(two.interface(1), "dut1");
        assert_eq!(ports(&["eth2"], PlaceKind::Vm, 1).named_ends(), ["dut"]);
        assert_eq!(asked().named_ends(), ["ts", "dut", "dut1"]);
    }
}
