//! A running place and its properties.

use crate::away::{Away, Job};
use crate::error::PlaceError;
use model::{EventKind, Fact};
use std::fmt::Debug;
use units::CpuList;

/// Kinds of places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PlaceKind {
    /// In this process, in a network namespace of the bed.
    #[default]
    Native,
    /// A container of an OCI runtime.
    Container,
    /// A guest.
    Vm,
    /// A container in a guest.
    #[serde(rename = "container-in-vm")]
    ContainerInVm,
    /// Another machine. Plans cannot name the machine, so no plan can ask for it.
    #[serde(skip_deserializing)]
    Far,
}

impl PlaceKind {
    /// The kinds that a plan can name.
    pub const OF_PLANS: [Self; 4] = [Self::Native, Self::Container, Self::Vm, Self::ContainerInVm];

    /// The kind with this name, of those that a plan can name.
    pub fn named(name: &str) -> Option<Self> {
        Self::OF_PLANS.into_iter().find(|kind| kind.name() == name)
    }

    /// Its name in plans, settings and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Container => "container",
            Self::Vm => "vm",
            Self::ContainerInVm => "container-in-vm",
            Self::Far => "far machine",
        }
    }

    /// True if this kind makes a container.
    pub fn has_container(self) -> bool {
        matches!(self, Self::Container | Self::ContainerInVm)
    }

    /// True if this kind makes a guest.
    pub fn is_in_guest(self) -> bool {
        matches!(self, Self::Vm | Self::ContainerInVm)
    }
}

/// A running place. Dropping it removes it with everything that runs in it.
pub trait Place: Debug + Send + Sync {
    /// Kind of the place.
    fn kind(&self) -> PlaceKind;

    /// The place in one line, for the report: `container: runc 1.1.5, ...`.
    fn describe(&self) -> &str;

    /// Name of the device's interface inside the place.
    fn interface(&self) -> &str;

    /// Address of that interface.
    fn mac(&self) -> [u8; 6];

    /// The CPUs of the place by its own numbers; `None` if it uses the numbers of this machine.
    fn cpus(&self) -> Option<CpuList>;

    /// The judged CPUs of the place, by its own numbers: all except the first, which does housekeeping. `None`: the CPUs of the plan.
    fn judged(&self) -> Option<CpuList> {
        let own = self.cpus()?;
        let judged: CpuList = own.iter().skip(1).collect();
        Some(if judged.is_empty() { own } else { judged })
    }

    /// A statement about its clock that replaces measuring the offset.
    fn stated_clock(&self) -> Option<StatedClock> {
        None
    }

    /// Offset of its clock from this machine's, measured now.
    ///
    /// # Errors
    /// The place could not be asked.
    fn clock(&self) -> Result<ClockOffset, PlaceError>;

    /// Settings of the runtime or hypervisor for this place, which follow recommendations for protection applications.
    fn facts(&self) -> Vec<Fact>;

    /// The device's network card and its connection to this machine; `None` if the place made none.
    fn card(&self) -> Option<String> {
        None
    }

    /// True if the device is in a container there.
    fn has_container(&self) -> bool {
        false
    }

    /// The thread that runs a virtual CPU of the place; `None` if there is none, or if it is not pinned to a CPU.
    fn vcpu(&self, _cpu: u32) -> Option<Vcpu> {
        None
    }

    /// Reason why timing in and of the place is no evidence; `None` if it is.
    fn emulated(&self) -> Option<String> {
        None
    }

    /// True if the next command should report the inventory of the place. If all commands share one inventory, only the first does.
    fn tells_inventory(&self) -> bool {
        true
    }

    /// Doubts about all measurements in the place, such as emulated time.
    fn doubts(&self) -> Vec<(EventKind, String)> {
        Vec::new()
    }

    /// Starts `triptime` in the place. The place adds `--out`, and fetches the run file at the end.
    ///
    /// # Errors
    /// The command could not be started.
    fn start(&self, job: &Job) -> Result<Box<dyn Away>, PlaceError>;
}

/// Offset of a place's `CLOCK_REALTIME` from this machine's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockOffset {
    /// The place's time minus this machine's, in ns.
    pub offset_ns: i64,
    /// Uncertainty of the offset, in ns; 0 if both read the same clock.
    pub uncertainty_ns: u64,
}

impl ClockOffset {
    /// Offset of a place that reads the same clock.
    pub const SAME: Self = Self {
        offset_ns: 0,
        uncertainty_ns: 0,
    };

    /// Largest possible difference of the two clocks, in ns.
    pub fn apart_ns(self) -> u64 {
        self.offset_ns.unsigned_abs().saturating_add(self.uncertainty_ns)
    }
}

/// A user's statement about a place's clock, which replaces measuring the offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatedClock {
    /// Both clocks follow PTP, and agree within this many ns.
    Within(u64),
    /// Nothing is known, so there are no one-way figures.
    Unknown,
}

/// A thread of this machine that runs a virtual CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vcpu {
    /// Its number.
    pub thread: i32,
    /// The CPU that it is pinned to.
    pub cpu: u32,
}
