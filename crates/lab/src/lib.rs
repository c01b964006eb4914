//! Beds that stay up for measuring by hand: their namespaces have names, and a container or a guest can stand at each device.
//!
//! Settings of a lab are written into its folder before anything is made, and all that is made is called after the lab. So everything
//! that a killed `up` left is known and can be taken down.

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

/// Where labs are written down; nothing of it is there after a reboot where `/run` is in memory.
const FOLDER: &str = "/run/triptime/labs";

/// Namespaces with names, as `ip netns` knows them.
const NAMESPACES: &str = "/run/netns";

/// Program that is run at an end, as it is called on the command line.
const PROGRAM: &str = "triptime";

/// So many devices are looked for where it is not known how many there were.
const MOST_DEVICES: usize = 16;

/// Why a lab could not be made, looked at or taken down.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// It cannot be what was asked for.
    #[error("{0}")]
    Refused(String),
    /// The bed.
    #[error(transparent)]
    Bed(#[from] BedError),
    /// The kernel.
    #[error(transparent)]
    Sys(#[from] SysError),
    /// A container.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// A file.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// Its name.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// The labs of this machine. While one of these lives, no other process changes them.
#[derive(Debug)]
pub struct Labs {
    folder: PathBuf,
    _lock: File,
}

impl Labs {
    /// Waits until nobody else is making or taking down a lab.
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

    /// Makes a lab, or finds it as it was asked for; the answer says whether it was up already. Leftovers of one by that name are taken
    /// away first.
    ///
    /// # Errors
    /// It is up with other settings, or what kept it from being made: nothing of it remains then.
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
            // The first error says why; what cannot be taken away is listed as stale.
            let _ = self.down(name);
        }
        made.map(|lab| (lab, false))
    }

    /// The lab of this name, which was just made.
    fn made(&self, name: &LabName) -> Result<Lab, LabError> {
        let lab = self.look(name);
        match &lab.stale {
            Some(why) => Err(BedError::NotAvailable(format!("{name} was made, and does not stand: {why}")).into()),
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

    /// A guest at each device, one after another.
    fn boot(&self, name: &LabName, spec: &GuestSpec, devices: &[EndInterface]) -> Result<(), LabError> {
        let lab = self.look(name);
        for (number, end) in devices.iter().enumerate() {
            lab.guest(number).start(spec, number, end.device()?)?;
        }
        Ok(())
    }

    /// A container at each device.
    fn contain(&self, name: &LabName, asked: &Asked, program: Option<PathBuf>) -> Result<(), LabError> {
        let folder = self.folder.join(name.as_str());
        let containers = Containers {
            program,
            cpus: asked.cpus.clone(),
            // Half of the real-time budget stays for what is measured beside it.
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
    /// There is none.
    pub fn find(&self, name: &LabName) -> Result<Lab, LabError> {
        let found = self.list()?.into_iter().find(|lab| lab.name == *name);
        found.ok_or_else(|| no_lab(name))
    }

    /// All labs, by name, with what is missing of each.
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

    /// Takes a lab down, as far as it is there: containers, guests, what forwards, namespaces with all interfaces in them, its folder.
    ///
    /// # Errors
    /// There is no such lab, or what could not be taken away.
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
                // It was never made if its folder is not there.
                if folder.join(&end).exists() {
                    lab.held(&end, asked)?.end();
                }
            }
        }
        // A guest is known by its name alone and a container by its control groups, whatever became of folder and record.
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

/// Makes what joins the ends of a lab, and names their namespaces; gives the ends of its devices.
fn join(name: &LabName, asked: &Asked, folder: &Path) -> Result<Vec<EndInterface>, LabError> {
    if let Some(port) = asked.device_port() {
        let devices = ports::devices(asked, port)?;
        pin(name, named(&devices))?;
        return Ok(devices);
    }
    if asked.takes_forwarder() {
        Forwarder::of(name, folder).start()?;
        // Of no others it is known what is to be opened: a container takes its namespace by the name.
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

/// Checks that the ports that are asked for can be ends, and are none of other labs.
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
        "there is no lab {name}: `triptime lab list` shows those that there are"
    ))
}

fn failed(path: &Path, error: io::Error) -> LabError {
    LabError::Io {
        path: path.to_owned(),
        error,
    }
}
