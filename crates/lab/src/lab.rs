//! An existing lab: how to run a command at each end, and which part of the lab is missing.

use super::forwarder::Forwarder;
use super::names::{LabName, name_of, path_of};
use super::record::{Asked, LabRecord};
use super::{LabError, PROGRAM, ports};
use bed::device_end as device;
use bed::{Network, TEST_SET_IF};
use place::container::HeldContainer;
use place::guest::held;
use place::{PlaceError, PlaceKind};
use std::path::PathBuf;
use sys::netns::NetNs;

/// An existing lab and its state.
#[derive(Debug)]
pub struct Lab {
    /// Its name.
    pub name: LabName,
    /// Settings of the lab; `None` if its record is lost.
    pub asked: Option<Asked>,
    /// The missing part; `None` if the lab is complete.
    pub stale: Option<String>,
    pub(super) folder: PathBuf,
}

impl Lab {
    /// The ends for display: name, interface, and the command line that runs a command there, without the command itself.
    pub fn ends(&self) -> Vec<(String, String, String)> {
        let Some(asked) = &self.asked else { return Vec::new() };
        let named = asked.named_ends();
        let by_namespace = |end: &str| match named.iter().any(|name| name == end) {
            true => format!("nsenter --net={} {PROGRAM}", path_of(&self.name, end).display()),
            // The device is the port itself, without a namespace.
            false => PROGRAM.to_owned(),
        };
        let test_set = match &asked.nic[..] {
            [] => Some(TEST_SET_IF),
            [port, _] => Some(port.as_str()),
            _ => None,
        };
        let test_set = test_set.map(|interface| ("test set".to_owned(), interface.to_owned(), by_namespace("ts")));
        let mut ends: Vec<_> = test_set.into_iter().collect();
        for number in 0..asked.devices {
            let end = device(number);
            let (interface, way) = match asked.place {
                PlaceKind::Container => match self.held(&end, asked) {
                    Ok(held) => (asked.interface(number), held.way_in()),
                    Err(_) => (asked.interface(number), by_namespace(&end)),
                },
                PlaceKind::Vm => {
                    let known = self.guest(number).known();
                    let interface = known.map_or_else(|| "?".to_owned(), |known| known.interface);
                    (interface, format!("{PROGRAM} lab run {} --device {number}", self.name))
                }
                PlaceKind::Native | PlaceKind::Far | PlaceKind::ContainerInVm => {
                    (asked.interface(number), by_namespace(&end))
                }
            };
            ends.push((format!("device {number}"), interface, way));
        }
        ends
    }

    /// Forwarder in it, in words; `None`: the kernel forwards.
    pub fn forwarder(&self) -> Option<String> {
        let asked = self.asked.as_ref().filter(|asked| asked.takes_forwarder())?;
        let forwarder = Forwarder::of(&self.name, &self.folder);
        let process = forwarder.process()?;
        Some(match asked.network {
            Network::OpenVswitch => format!(
                "Open vSwitch, process {process} and its children; OVS_RUNDIR={} ovs-vsctl show",
                forwarder.files().display()
            ),
            _ => format!("a thread of process {process}"),
        })
    }

    /// Description of each guest; empty if the devices are not guests.
    pub fn guests(&self) -> Vec<String> {
        let guests = self.asked.iter().filter(|asked| asked.place == PlaceKind::Vm);
        let numbers = guests.flat_map(|asked| 0..asked.devices);
        let known = |number| {
            let guest = self.guest(number);
            let known = guest.known()?;
            let processes = guest.processes().iter().map(u32::to_string).collect::<Vec<_>>();
            let placed = known
                .placed
                .map(|placed| format!("; virtual CPUs: {placed}"))
                .unwrap_or_default();
            Some(format!(
                "{}; {}{placed}; up in {:.1} s; process {}",
                known.what,
                known.processor,
                known.boot_ms as f64 / 1e3,
                processes.join(", ")
            ))
        };
        numbers.filter_map(known).collect()
    }

    /// The guest at this device.
    ///
    /// # Errors
    /// The lab is not up, its devices are not guests, or there is no such device.
    pub fn guest_at(&self, number: usize) -> Result<held::HeldGuest, LabError> {
        let refused = |why: String| Err(LabError::Refused(format!("{}: {why}", self.name)));
        match (&self.stale, &self.asked) {
            (Some(why), _) => refused(why.clone()),
            (None, Some(asked)) if asked.place != PlaceKind::Vm => {
                refused("its devices are not guests: `triptime lab list` shows how to run a command at them".to_owned())
            }
            (None, Some(asked)) if number >= asked.devices => {
                refused(format!("it has {} devices, and no number {number}", asked.devices))
            }
            _ => Ok(self.guest(number)),
        }
    }

    pub(super) fn guest(&self, number: usize) -> held::HeldGuest {
        let end = device(number);
        held::HeldGuest::at(&self.folder.join(&end), &name_of(&self.name, &end))
    }

    pub(super) fn held(&self, end: &str, asked: &Asked) -> Result<HeldContainer, PlaceError> {
        HeldContainer::at(&self.folder.join(end), asked.runtime()?, &name_of(&self.name, end))
    }
}

/// Describes a missing part of a lab that was made since this machine last booted.
pub(super) fn missing(lab: &Lab, record: &LabRecord) -> Option<String> {
    let asked = &record.asked;
    let is_named = |end: &String| NetNs::is_pinned(&path_of(&lab.name, end));
    if let Some(end) = asked.named_ends().iter().find(|end| !is_named(end)) {
        return Some(format!(
            "{} is not a network namespace",
            path_of(&lab.name, end).display()
        ));
    }
    if let Some(why) = ports::missing(asked) {
        return Some(why);
    }
    if asked.takes_forwarder()
        && let Some(why) = Forwarder::of(&lab.name, &lab.folder).missing(asked)
    {
        return Some(why);
    }
    not_running(lab, asked).or_else(|| match &record.parts {
        Some(parts) => parts.missing(&lab.name, asked),
        None => Some("making it did not finish".to_owned()),
    })
}

/// Describes a container or guest that does not run.
fn not_running(lab: &Lab, asked: &Asked) -> Option<String> {
    let runs = |number: usize| match asked.place {
        PlaceKind::Container => lab.held(&device(number), asked).is_ok_and(|held| held.is_up()),
        PlaceKind::Vm => lab.guest(number).is_up(),
        _ => true,
    };
    let what = if asked.place == PlaceKind::Vm {
        "guest"
    } else {
        "container"
    };
    let gone = (0..asked.devices).find(|number| !runs(*number))?;
    Some(format!("the {what} {} does not run", name_of(&lab.name, &device(gone))))
}
