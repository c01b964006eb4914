//! A place that is up, and what is known of it.

use crate::away::{Away, Job};
use crate::error::PlaceError;
use model::{EventKind, Fact};
use std::fmt::Debug;
use units::CpuList;

/// Kinds of places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PlaceKind {
    /// This process, in a network namespace of the bed.
    #[default]
    Native,
    /// A container of an OCI runtime.
    Container,
    /// A guest.
    Vm,
    /// A container in a guest.
    #[serde(rename = "container-in-vm")]
    ContainerInVm,
    /// Another machine. No plan can say which, so none can ask for it.
    #[serde(skip_deserializing)]
    Far,
}

impl PlaceKind {
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

    /// True if a container is made for it.
    pub fn has_container(self) -> bool {
        matches!(self, Self::Container | Self::ContainerInVm)
    }

    /// True if a guest is made for it.
    pub fn is_in_guest(self) -> bool {
        matches!(self, Self::Vm | Self::ContainerInVm)
    }
}

/// A place that is up. It goes when it is dropped, with all that runs in it.
pub trait Place: Debug + Send + Sync {
    /// Kind of the place.
    fn kind(&self) -> PlaceKind;

    /// The place in one line, for the report: `container: runc 1.1.5, ...`.
    fn describe(&self) -> &str;

    /// The device's interface, as it is called there.
    fn interface(&self) -> &str;

    /// Address of that interface.
    fn mac(&self) -> [u8; 6];

    /// The CPUs of the place by its own numbers; `None`: it has the numbers of this machine.
    fn cpus(&self) -> Option<CpuList>;

    /// The CPUs of it that are judged, by its own numbers: all but the first, which keeps house there. `None`: those of the plan.
    fn judged(&self) -> Option<CpuList> {
        let own = self.cpus()?;
        let judged: CpuList = own.iter().skip(1).collect();
        Some(if judged.is_empty() { own } else { judged })
    }

    /// Statement about its clock, which replaces asking it for the time.
    fn stated_clock(&self) -> Option<StatedClock> {
        None
    }

    /// How its clock stands to this machine's now.
    ///
    /// # Errors
    /// It could not be asked.
    fn clock(&self) -> Result<ClockOffset, PlaceError>;

    /// How it was made: settings of the runtime or of the hypervisor, as recommended for an application of the same kind.
    fn facts(&self) -> Vec<Fact>;

    /// True if the device is in a container there.
    fn has_container(&self) -> bool {
        false
    }

    /// The thread that runs a virtual CPU of the place; `None`: it has none, or one that is not kept to a CPU.
    fn vcpu(&self, _cpu: u32) -> Option<Vcpu> {
        None
    }

    /// Why the timing of the place is no evidence, if it is none: neither what is measured there, nor what is measured of it.
    fn emulated(&self) -> Option<String> {
        None
    }

    /// True if the next command is to report the inventory of the place: where all commands share one, the first of them alone.
    fn tells_inventory(&self) -> bool {
        true
    }

    /// Doubts about everything that is measured there, such as that its time is emulated.
    fn doubts(&self) -> Vec<(EventKind, String)> {
        Vec::new()
    }

    /// Starts `triptime` there. The place adds `--out`, and has the run file brought here at the end.
    ///
    /// # Errors
    /// It could not be started.
    fn start(&self, job: &Job) -> Result<Box<dyn Away>, PlaceError>;
}

/// How a place's `CLOCK_REALTIME` stands to this machine's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockOffset {
    /// The place's time minus this machine's, in ns.
    pub offset_ns: i64,
    /// How far that may be off, in ns; 0 where both read the same clock.
    pub uncertainty_ns: u64,
}

impl ClockOffset {
    /// Of a place that reads the same clock.
    pub const SAME: Self = Self {
        offset_ns: 0,
        uncertainty_ns: 0,
    };

    /// How far the two clocks may be apart, in ns.
    pub fn apart_ns(self) -> u64 {
        self.offset_ns.unsigned_abs().saturating_add(self.uncertainty_ns)
    }
}

/// Statement about a place's clock, which replaces asking it for the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatedClock {
    /// Both follow PTP, and agree within so many ns.
    Within(u64),
    /// Nothing: no one-way figures.
    Unknown,
}

/// A thread of this machine that runs a virtual CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vcpu {
    /// Its number.
    pub thread: i32,
    /// The CPU that it is kept to.
    pub cpu: u32,
}
