//! Beds that stay up for manual measurements: their namespaces have names, and each device can be in a container or a guest.
//!
//! The settings of a lab are written into its folder before anything is made, and every part is named after the lab. So everything that a killed `up`
//! left can be found and taken down.

#![forbid(unsafe_code)]

mod forwarder;
mod lab;
mod names;
mod parts;
mod ports;
mod record;

pub use forwarder::forward;
pub use lab::Lab;
pub use names::LabName;
pub use record::Asked;

use bed::device_end as device;
use bed::{Bed, BedError, EndInterface, named, tap_of_guest};
use place::container::{Containers, HeldContainer};
use place::guest::GuestSpec;
use place::{PlaceError, PlaceKind};

use forwarder::Forwarder;
use names::{name_of, namespaces_of, path_of};
use parts::Parts;
use record::LabRecord;
use rustix::fs::{FlockOperation, flock};
use std::fs::{File, create_dir_all, read_dir, remove_dir_all};
use std::io;
use std::path::{Path, PathBuf};
use sys::SysError;
use sys::netns::NetNs;

/// Folder of the labs' records; it is empty after a reboot where `/run` is in memory.
const FOLDER: &str = "/run/triptime/labs";

/// Folder of the named namespaces, as `ip netns` uses it.
const NAMESPACES: &str = "/run/netns";

/// Name of the program on the command line, for commands that run at an end.
const PROGRAM: &str = "triptime";

/// Number of devices to look for when the record of the lab is lost.
const MOST_DEVICES: usize = 16;

/// Reasons why a lab could not be made, inspected or taken down.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The request is impossible.
    #[error("{0}")]
    Refused(String),
    /// Error of the bed.
    #[error(transparent)]
    Bed(#[from] BedError),
    /// Error of the kernel.
    #[error(transparent)]
    Sys(#[from] SysError),
    /// Error of a container or guest.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// Error of a file.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// Name of the file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

/// The labs of this machine. As long as a value of this type exists, no other process changes them.
#[derive(Debug)]
pub struct Labs {
    folder: PathBuf,
    _lock: File,
}

impl Labs {
    /// Waits until no other process makes or takes down a lab.
    ///
    /// # Errors
    /// The folder cannot be made or locked.
    pub fn lock() -> Result<Self, LabError> {
        let folder = PathBuf::from(FOLDER);
        create_dir_all(&folder).map_err(|error| failed(&folder, error))?;
        let path = Path::new("/run/triptime/labs.lock");
        let lock = File::create(path).map_err(|error| failed(path, error))?;
        flock(&lock, FlockOperation::LockExclusive).map_err(|errno| failed(path, errno.into()))?;
        Ok(Self { folder, _lock: lock })
    }

    /// Makes a lab, or finds a running one with the same settings; the answer is true if it was already up. Leftovers of a lab with that name are
    /// removed first.
    ///
    /// # Errors
    /// A lab of this name is up with other settings, or it cannot be made; then nothing of it remains.
    pub fn up(&self, name: &LabName, asked: &Asked, program: Option<PathBuf>) -> Result<(Lab, bool), LabError> {
        let asked = &asked.resolved()?;
        let (this, others): (Vec<Lab>, Vec<Lab>) = self.list()?.into_iter().partition(|lab| lab.name == *name);
        if let Some(lab) = this.into_iter().next() {
            match (&lab.stale, &lab.asked) {
                (None, Some(is)) if is == asked => return Ok((lab, true)),
                (None, Some(is)) => {
                    return Err(LabError::Refused(format!(
                        "the lab {name} is up with other settings ({is}): `triptime lab down {name}` first, or give another name"
                    )));
                }
                _ => self.down(name)?,
            }
        }
        check_ports(asked, &others)?;
        let made = self.make(name, asked, program).and_then(|()| self.made(name));
        if made.is_err() {
            // The first error explains the failure; leftovers that cannot be removed are listed as stale.
            let _ = self.down(name);
        }
        made.map(|lab| (lab, false))
    }

    /// The lab of this name, which was just made.
    fn made(&self, name: &LabName) -> Result<Lab, LabError> {
        let lab = self.look(name);
        match &lab.stale {
            Some(why) => Err(BedError::NotAvailable(format!("{name} was made, but is not complete: {why}")).into()),
            None => Ok(lab),
        }
    }

    fn make(&self, name: &LabName, asked: &Asked, program: Option<PathBuf>) -> Result<(), LabError> {
        let folder = self.folder.join(name.as_str());
        create_dir_all(&folder).map_err(|error| failed(&folder, error))?;
        LabRecord::now(asked).write(&folder)?;
        let namespaces = Path::new(NAMESPACES);
        create_dir_all(namespaces).map_err(|error| failed(namespaces, error))?;
        let devices = join(name, asked, &folder)?;
        match (asked.place, &asked.guest) {
            (PlaceKind::Vm, Some(guest)) => self.boot(name, guest, &devices)?,
            (PlaceKind::Container, _) => self.contain(name, asked, program)?,
            _ => {}
        }
        LabRecord::now(asked).with(Parts::of(name, asked)?).write(&folder)
    }

    /// Boots a guest at each device, one after another.
    fn boot(&self, name: &LabName, spec: &GuestSpec, devices: &[EndInterface]) -> Result<(), LabError> {
        let lab = self.look(name);
        for (number, end) in devices.iter().enumerate() {
            lab.guest(number).start(spec, number, end.device()?)?;
        }
        Ok(())
    }

    /// Starts a container at each device.
    fn contain(&self, name: &LabName, asked: &Asked, program: Option<PathBuf>) -> Result<(), LabError> {
        let folder = self.folder.join(name.as_str());
        let containers = Containers {
            program,
            cpus: asked.cpus.clone(),
            // Half of the real-time budget is left for measurements on the host.
            side_by_side: 2 * asked.devices as u64,
            runtime: asked.runtime()?,
        };
        for number in 0..asked.devices {
            let end = device(number);
            let (id, path) = (name_of(name, &end), path_of(name, &end));
            let namespace = (!asked.is_on_port()).then_some(path.as_path());
            HeldContainer::start(&containers, &folder.join(&end), namespace, &id)?;
        }
        Ok(())
    }

    /// The lab of this name.
    ///
    /// # Errors
    /// There is no lab of this name.
    pub fn find(&self, name: &LabName) -> Result<Lab, LabError> {
        let found = self.list()?.into_iter().find(|lab| lab.name == *name);
        found.ok_or_else(|| no_lab(name))
    }

    /// All labs by name, with the missing part of each.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn list(&self) -> Result<Vec<Lab>, LabError> {
        let entries = read_dir(&self.folder).map_err(|error| failed(&self.folder, error))?;
        let mut found: Vec<LabName> = entries
            .flatten()
            .filter_map(|entry| LabName::parse(entry.file_name().to_str()?).ok())
            .collect();
        found.extend(names::named_in(Path::new(NAMESPACES)));
        found.sort();
        found.dedup();
        Ok(found.iter().map(|name| self.look(name)).collect())
    }

    fn look(&self, name: &LabName) -> Lab {
        let folder = self.folder.join(name.as_str());
        let record = LabRecord::read(&folder);
        let mut lab = Lab {
            name: name.clone(),
            asked: record.as_ref().map(|record| record.asked.clone()),
            stale: None,
            folder,
        };
        lab.stale = match &record {
            None => Some("its record is gone, its namespaces are there".to_owned()),
            Some(record) if !record.is_of_this_boot() => Some("the machine was started again since".to_owned()),
            Some(record) => lab::missing(&lab, record),
        };
        lab
    }

    /// Takes a lab down, as far as it exists: containers, guests, forwarder, namespaces with all their interfaces, and its folder.
    ///
    /// # Errors
    /// There is no such lab, or a part of it could not be removed.
    pub fn down(&self, name: &LabName) -> Result<(), LabError> {
        let folder = self.folder.join(name.as_str());
        let namespaces = namespaces_of(Path::new(NAMESPACES), name);
        if namespaces.is_empty() && !folder.exists() {
            return Err(no_lab(name));
        }
        let lab = self.look(name);
        if let Some(asked) = &lab.asked {
            ports::free(name, asked);
        }
        if let Some(asked) = lab.asked.as_ref().filter(|asked| asked.place == PlaceKind::Container) {
            for number in 0..asked.devices {
                let end = device(number);
                // If the folder does not exist, the container was never made.
                if folder.join(&end).exists() {
                    lab.held(&end, asked)?.end();
                }
            }
        }
        // A guest is found by its name alone and a container by its control groups, even if folder or record are lost.
        let devices = lab.asked.as_ref().map_or(MOST_DEVICES, |asked| asked.devices);
        for number in 0..devices {
            lab.guest(number).end();
            HeldContainer::end_named(&name_of(name, &device(number)));
        }
        Forwarder::of(name, &folder).end();
        for path in namespaces {
            NetNs::unpin(&path)?;
        }
        match remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(&folder, error)),
            _ => Ok(()),
        }
    }
}

/// Connects the ends of a lab and names their namespaces; returns the ends of its devices.
fn join(name: &LabName, asked: &Asked, folder: &Path) -> Result<Vec<EndInterface>, LabError> {
    if let Some(port) = asked.device_port() {
        let devices = ports::devices(asked, port)?;
        pin(name, named(&devices))?;
        return Ok(devices);
    }
    if asked.takes_forwarder() {
        Forwarder::of(name, folder).start()?;
        // Only guests need the ends opened here; a container opens its namespace by name.
        let guests = if asked.place == PlaceKind::Vm { asked.devices } else { 0 };
        let tap = |number| Ok(tap_of_guest(NetNs::open(&path_of(name, &device(number)))?, number));
        return (0..guests).map(tap).collect();
    }
    let bed = match asked.place {
        PlaceKind::Vm => Bed::for_guests(asked.network, asked.devices)?,
        _ => Bed::over(asked.network, asked.devices)?,
    };
    pin(name, bed.namespaces())?;
    Ok(bed.into_devices())
}

/// Names the namespaces of ends.
fn pin<'a>(name: &LabName, ends: impl IntoIterator<Item = (String, &'a NetNs)>) -> Result<(), LabError> {
    for (end, namespace) in ends {
        namespace.pin(&path_of(name, &end))?;
    }
    Ok(())
}

/// Checks that the requested ports can be ends, and that no other lab uses them.
fn check_ports(asked: &Asked, others: &[Lab]) -> Result<(), LabError> {
    for port in &asked.nic {
        let has = |lab: &&Lab| lab.asked.as_ref().is_some_and(|other| other.nic.contains(port));
        if let Some(lab) = others.iter().find(has) {
            return Err(LabError::Refused(format!(
                "{port} is an end of the lab {name}: `triptime lab down {name}` first, or name another port",
                name = lab.name
            )));
        }
    }
    ports::check(&asked.nic)
}

fn no_lab(name: &LabName) -> LabError {
    LabError::Refused(format!(
        "there is no lab {name}: `triptime lab list` shows the existing ones"
    ))
}

fn failed(path: &Path, error: io::Error) -> LabError {
    LabError::Io {
        path: path.to_owned(),
        error,
    }
}
