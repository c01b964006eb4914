//! Places: where the device under test of a bed is, when it is not in this process. The same binary runs there, and its run file comes
//! back.

mod error;

pub use error::PlaceError;

use model::Fact;
use std::fmt::Debug;
use tempfile::TempPath;
use units::CpuList;

/// What kind of place it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// This process, in a network namespace of the bed.
    Native,
    /// A container of an OCI runtime.
    Container,
    /// A guest.
    Vm,
}

impl Kind {
    /// Its name in plans, settings and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Container => "container",
            Self::Vm => "vm",
        }
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

    /// How its clock stands to this machine's now.
    ///
    /// # Errors
    /// It could not be asked.
    fn clock(&self) -> Result<ClockOffset, PlaceError>;

    /// How it was made: settings of the runtime or of the hypervisor, as recommended for an application of the same kind.
    fn facts(&self) -> Vec<Fact>;

    /// Starts `triptime` there with these words behind it. The place adds where the run file goes, and how to tell that it is ready.
    ///
    /// # Errors
    /// It could not be started.
    fn start(&self, words: &[String]) -> Result<Box<dyn Away>, PlaceError>;
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
}

/// A command under way in a place. It is ended when it is dropped.
pub trait Away: Send {
    /// Whether it measures, sends or receives by now.
    ///
    /// # Errors
    /// It ended before; what it said.
    fn is_ready(&mut self) -> Result<bool, PlaceError>;

    /// Whether it has ended.
    fn is_finished(&mut self) -> bool;

    /// Tells it to end, as a signal does; [`Away::finish`] waits for it.
    fn stop(&mut self);

    /// Waits for its end, and has its run file here.
    ///
    /// # Errors
    /// It left no run file; what it said.
    fn finish(self: Box<Self>) -> Result<Returned, PlaceError>;
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
