//! Places: where the device under test of a bed is, when it is not in this process. The same binary runs there, and its run file comes
//! back.

#![forbid(unsafe_code)]

mod asking;
pub mod container;
pub mod cpu_list;
mod error;
pub mod far;
pub mod guest;
pub mod line;
pub mod processes;

pub use asking::{Answers, Asking, OverHost, asking, say};
pub use error::PlaceError;

use bed::{Bed, BedError, Management, Network};
use container::{Container, Containers};
use far::Far;
use guest::{Guest, GuestSpec};
use model::{EventKind, Fact};
use run::Recorder;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use tempfile::TempPath;
use units::CpuList;

/// What kind of place it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
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

impl Kind {
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

    /// Whether a container is made for it.
    pub fn has_container(self) -> bool {
        matches!(self, Self::Container | Self::ContainerInVm)
    }

    /// Whether a guest is made for it.
    pub fn is_in_guest(self) -> bool {
        matches!(self, Self::Vm | Self::ContainerInVm)
    }
}

/// A place that is up. It goes when it is dropped, with all that runs in it.
pub trait Place: Debug + Send + Sync {
    /// What kind it is.
    fn kind(&self) -> Kind;

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

    /// What is said of its clock instead of asking it for the time.
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

    /// Whether the device is in a container there.
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

    /// Whether the next command is to say what is known of the place: where all commands share one, the first of them alone.
    fn tells_inventory(&self) -> bool {
        true
    }

    /// What is to be known of everything that is measured there, such as that its time is emulated.
    fn doubts(&self) -> Vec<(EventKind, String)> {
        Vec::new()
    }

    /// Starts `triptime` there. The place adds `--out`, and has the run file brought here at the end.
    ///
    /// # Errors
    /// It could not be started.
    fn start(&self, job: &Job) -> Result<Box<dyn Away>, PlaceError>;
}

/// Where the devices under test of a plan are to be, with what is to be known to make it.
#[derive(Debug, Clone, Default)]
pub enum PlaceSpec {
    /// In this process.
    #[default]
    Native,
    /// Each in a container.
    Container(Containers),
    /// Each in a guest made like this.
    Guest(Box<GuestSpec>),
    /// The one device is this machine's port's other end, on another machine.
    Far(Arc<Far>),
}

impl PlaceSpec {
    /// Whether the devices are in this process.
    pub fn is_here(&self) -> bool {
        matches!(self, Self::Native)
    }

    /// A bed over `network` for so many devices there.
    ///
    /// # Errors
    /// As of [`Bed::over`] and [`Bed::for_guests`]; another machine is joined by a port, and by no bed that is made.
    pub fn bed(&self, network: Network, devices: usize) -> Result<Bed, BedError> {
        match self {
            Self::Native | Self::Container(_) => Bed::over(network, devices),
            Self::Guest(_) => Bed::for_guests(network, devices),
            Self::Far(far) => Err(BedError::NotAvailable(format!(
                "{}: name the port of this machine that leads there: --nic IF",
                far.describe()
            ))),
        }
    }
}

/// The places of so many devices, at their ends of `bed`, or without a network; guests have a second card on `management`, where there is
/// one. None: they are in this process.
///
/// # Errors
/// What kept one from being made.
pub fn up(
    spec: &PlaceSpec,
    (bed, management): (Option<&Bed>, Option<&Management>),
    devices: usize,
    recorder: &Recorder,
) -> Result<Vec<Arc<dyn Place>>, PlaceError> {
    let mut places: Vec<Arc<dyn Place>> = Vec::new();
    for number in 0..devices {
        let end = bed
            .filter(|bed| bed.has_devices())
            .map(|bed| bed.device(number))
            .transpose()?;
        let place: Arc<dyn Place> = match spec {
            PlaceSpec::Native => return Ok(places),
            PlaceSpec::Container(spec) => Arc::new(Container::up(spec, end)?),
            PlaceSpec::Guest(spec) => {
                let second = management.and_then(|management| management.card(number));
                Arc::new(Guest::up(spec, number, end, second.as_ref())?)
            }
            PlaceSpec::Far(far) => far.clone(),
        };
        recorder.events().write(EventKind::Note, place.describe());
        recorder.add_facts(place.facts());
        // Of all series: what is measured here is measured of the place.
        if let Some(why) = place.emulated() {
            recorder.events().write(EventKind::Emulated, why);
        }
        places.push(place);
    }
    Ok(places)
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

/// What is said of a place's clock instead of asking it for the time.
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

/// Files of a command, by name.
pub type Files = Vec<(String, String)>;

/// A command for a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The words behind `triptime`.
    pub words: Vec<String>,
    /// Files that stand in its working directory.
    pub files: Files,
}

/// A command under way in a place. It is ended when it is dropped. Its standard input and output are lines of text; standard error is
/// for people.
pub trait Away: Send {
    /// The lines that it says on standard output, until it has said all. To be taken once.
    fn lines(&mut self) -> Receiver<String>;

    /// Number that this kernel has for a thread of it; `None`: it has none, or it is not known.
    fn thread_here(&self, _there: i32) -> Option<i32> {
        None
    }

    /// Says a line to its standard input.
    ///
    /// # Errors
    /// The way there is broken.
    fn say(&mut self, line: &str) -> Result<(), PlaceError>;

    /// Whether it has ended.
    fn is_finished(&mut self) -> bool;

    /// Tells it to end, as SIGINT does; [`Away::finish`] waits for it.
    fn stop(&mut self);

    /// Waits for its end, and has its run file here.
    ///
    /// # Errors
    /// It left no run file; what it said.
    fn finish(&mut self) -> Result<Returned, PlaceError>;
}

/// What a command left.
#[derive(Debug)]
pub struct Returned {
    /// Its run file, on this machine; removed when this is dropped.
    pub run: TempPath,
    /// Its exit status.
    pub status: u8,
    /// What it said on standard error.
    pub said: String,
}
