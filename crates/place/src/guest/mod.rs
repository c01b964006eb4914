//! Guests: virtual machines with this program as their first process.
//!
//! ```text
//! this process                               guest
//! [ Guest ]--channel (virtio port, ttyS1)--[ agent, /init ]--[ triptime WORDS ]
//!     |                                        |
//!   QEMU -------- tap in the bed ------------ eth0
//! ```
//!
//! The image has this program, the kernel modules that it needs, and a container runtime if the guest is to run containers. The agent serves requests
//! over the channel: it runs commands, sends their output and their run files, and answers with the time. A guest leaves nothing on disk, and it ends
//! when this process does.

mod accel;
pub mod agent;
mod archive;
pub mod asked;
pub(crate) mod away;
mod boot;
mod cable;
mod carried;
pub(crate) mod channel;
mod facts;
pub(crate) mod frame;
pub mod held;
mod how;
mod image;
mod joined;
mod kernel;
pub(crate) mod message;
mod modules;
pub(crate) mod peer;
mod qemu;
mod share;
mod shown;
mod spec;
mod up;

pub use archive::Archive;
pub use carried::{libraries_of, runtime_for_guest};
pub use image::{OWN_PROGRAM, make as make_image, pack as pack_image};
pub use joined::Joined;
pub use kernel::GuestKernel;
pub use modules::{Module, OF_ANY, OF_QEMU, choose as choose_modules, reads_files};
pub use shown::{domain, image_for_any, show};
pub use spec::{Accel, Channel, GuestSpec, MEMORY, VCPUS};

use super::{Away, ClockOffset, Job, Place, PlaceError, PlaceKind, Vcpu};
use away::Errand;
use bed::Card;
use message::Greeting;
use model::Fact;
use peer::Peer;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::netns::NetNs;
use units::{CpuList, format_ns};
use up::Up;

/// Name of the port over which guest and host talk.
const CHANNEL: &str = "triptime";

/// Group of the facts of a guest.
pub const GROUP: &str = "guest";

/// Checks that everything that such a guest needs is installed: its files, and QEMU.
///
/// # Errors
/// The missing part.
pub fn can_boot(spec: &GuestSpec) -> Result<(), PlaceError> {
    spec.check()?;
    choose_modules(&spec.modules, &OF_QEMU)?;
    qemu::program().map(|_| ())
}

/// The network connection of a guest's card.
#[derive(Debug)]
pub struct Cable {
    /// The namespace that the tap or macvtap is in.
    pub namespace: NetNs,
    /// Its name. A tap persists when no process has it open.
    pub interface: String,
    /// Kind of the interface: tap or macvtap.
    pub joined: Card,
    /// The card's address.
    pub mac: [u8; 6],
}

/// A running guest.
#[derive(Debug)]
pub struct Guest {
    up: Arc<Up>,
    greeting: Greeting,
    what: String,
    processor: String,
    leaves_no_cpu: bool,
    card: Option<String>,
    interface: String,
    mac: [u8; 6],
    facts: Vec<Fact>,
    /// Time from the start of QEMU to the agent's greeting.
    boot: Duration,
    /// True if its devices are in containers in it.
    contains: bool,
    /// True once a command was asked for the inventory, which takes most of the start of a command in an emulated guest.
    has_told: AtomicBool,
}

impl Guest {
    /// Time from the start of QEMU until its agent was up.
    pub fn boot_time(&self) -> Duration {
        self.boot
    }

    /// True if its processor is emulated, so that its timing is no evidence.
    pub fn is_emulated(&self) -> bool {
        !self.up.kvm
    }

    /// Processor that runs it: KVM, or an emulation and its reason.
    pub fn processor(&self) -> &str {
        &self.processor
    }

    /// Number of QEMU's process.
    pub fn process(&self) -> u32 {
        self.up.machine.process()
    }

    /// Problems of its boot: those that the guest reports, and QEMU's own threads without a CPU of their own.
    pub fn complaints(&self) -> Vec<String> {
        let shares = self.leaves_no_cpu.then(share::emulator_shares);
        self.greeting.complaints.iter().cloned().chain(shares).collect()
    }
}

impl Place for Guest {
    fn kind(&self) -> PlaceKind {
        PlaceKind::Vm
    }

    fn describe(&self) -> &str {
        &self.what
    }

    fn interface(&self) -> &str {
        &self.interface
    }

    fn mac(&self) -> [u8; 6] {
        self.mac
    }

    fn cpus(&self) -> Option<CpuList> {
        self.greeting.cpus.parse().ok()
    }

    fn clock(&self) -> Result<ClockOffset, PlaceError> {
        self.up.clock()
    }

    fn facts(&self) -> Vec<Fact> {
        let mut facts = self.facts.clone();
        let clock = self.clock().map_err(|error| error.to_string()).map(|clock| {
            let (offset, uncertainty) = (clock.offset_ns as f64, clock.uncertainty_ns as f64);
            format!("ahead by {} ± {}", format_ns(offset), format_ns(uncertainty))
        });
        facts.push(fact("clock when it was up", clock, "asked over the channel"));
        facts
    }

    fn vcpu(&self, cpu: u32) -> Option<Vcpu> {
        qemu::threads::vcpu(self.up.machine.process(), cpu)
    }

    fn card(&self) -> Option<String> {
        self.card.clone()
    }

    fn has_container(&self) -> bool {
        self.contains
    }

    fn tells_inventory(&self) -> bool {
        !self.has_told.swap(true, Ordering::Relaxed)
    }

    fn emulated(&self) -> Option<String> {
        self.is_emulated().then(|| format!("the guest is {}", self.processor))
    }

    fn start(&self, job: &Job) -> Result<Box<dyn Away>, PlaceError> {
        Ok(Box::new(Errand::start(self.up.clone(), job)?))
    }
}

fn fact(name: &str, value: Result<String, String>, source: &str) -> Fact {
    Fact {
        group: GROUP.to_owned(),
        name: name.to_owned(),
        value,
        source: source.to_owned(),
    }
}
