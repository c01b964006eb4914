//! A relay's file: its streams, functions, trip matrix and GOOSE outputs, in TOML (`docs/formats/relay-file.md`).
//!
//! Everything is checked when the file is read, also what only two places together make wrong: an engine that is made of a
//! [`Config`] at its own rate cannot fail.

mod cpus;
mod file;
mod functions;
mod goose;
mod inputs;
mod names;
mod order;
mod scl;
mod streams;
mod trips;
mod values;

pub use cpus::{Cpus, CpusError};
pub use file::{parse, parse_with};
pub use goose::{Attribute, Feed, GooseOutput, Signal};
pub use inputs::GooseInput;
pub(crate) use order::RESIDUALS;
pub use order::{CHANNELS, Order};

use protection::breaker::RbrfSettings;
use protection::measure::BaySettings;
use protection::supervision::{Questionable, SampleSupervision};
use protection::trip::PtrcSettings;
use protection::{FunctionSettings, Node, Rated};
use streamset::StreamSpec;
use waveform::sample::Dataset;
use wire::goose::MAX_NAME;

/// A whole relay.
#[derive(Debug, Clone)]
pub struct Config {
    /// Its name.
    pub name: String,
    /// Rated frequency in Hz.
    pub frequency_hz: f64,
    /// Samples a second of all streams.
    pub rate: u32,
    /// From one task to the next, in ns.
    pub task_ns: u64,
    /// How long a sample is waited for, in ns: the alignment delay.
    pub wait_ns: u64,
    /// Real-time priority of the live task, 1 to 98.
    pub priority: u8,
    /// Where the live tasks run.
    pub cpus: Cpus,
    /// True if simulated samples are taken (`LPHD.Sim`).
    pub simulation: bool,
    /// True if values for tests are used (mode test).
    pub in_test: bool,
    /// The streams.
    pub streams: Vec<Stream>,
    /// The booleans of other devices that it subscribes to.
    pub inputs: Vec<GooseInput>,
    /// The protection functions.
    pub functions: Vec<Instance>,
    /// The trips: which functions operate them.
    pub trips: Vec<TripMatrix>,
    /// The GOOSE control blocks it publishes.
    pub gooses: Vec<GooseOutput>,
    /// How disturbances are recorded.
    pub recording: Recording,
    /// Extra work that makes a live task as heavy as that of a product.
    pub load: TaskLoad,
}

/// A stream that the relay subscribes to.
#[derive(Debug, Clone)]
pub struct Stream {
    /// Its name in the file.
    pub name: String,
    /// How it comes.
    pub spec: StreamSpec,
    /// Its members.
    pub dataset: Dataset,
    /// The members that are the bay's channels.
    pub order: Order,
    /// Rated primary current in A and voltage in V.
    pub rated: RatedValues,
    /// How it is measured.
    pub measuring: BaySettings,
    /// When its functions are blocked.
    pub supervision: SampleSupervision,
    /// The treatment of questionable values.
    pub questionable: Questionable,
    /// A number for the clock of streams whose local clock has no identity; see [`protection::supervision::Synch`].
    pub clock: u16,
}

/// The reference of a stream's per-unit settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatedValues {
    /// Rated primary current In in A RMS.
    pub current_a: f64,
    /// Rated primary voltage Un in V RMS, phase to phase.
    pub voltage_v: f64,
}

/// An instance of a protection function.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// Its name in the file.
    pub name: String,
    /// Its settings; the sets in them are numbers of streams.
    pub settings: FunctionSettings,
    /// Class and device number.
    pub node: Node,
}

/// A row of the trip matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct TripMatrix {
    /// Its name in the file.
    pub name: String,
    /// How a trip is conditioned.
    pub settings: PtrcSettings,
    /// Class and device number.
    pub node: Node,
    /// Numbers of the functions that operate it.
    pub functions: Vec<usize>,
    /// The breaker failure function behind it; its source is the number of a stream.
    pub breaker_failure: Option<RbrfSettings>,
}

/// The contents of a disturbance record, and the largest number of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recording {
    /// Time before the trip, in ns.
    pub pre_ns: u64,
    /// Time after the last trip, in ns.
    pub post_ns: u64,
    /// Most records of a run.
    pub most: u32,
}

/// Extra work that makes a live task as heavy as that of a product; a replay needs none of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskLoad {
    /// Copies of every function that run each task, the one that trips among them.
    pub instances: u32,
    /// Memory that a task touches, in MiB.
    pub working_set_mib: u32,
    /// Time that a task computes beside its own work, in ns.
    pub busy_ns: u64,
}

/// The name of a control block with a number behind it.
#[must_use]
pub fn numbered(name: &[u8], number: u32) -> Vec<u8> {
    [name, format!("_{number}").as_bytes()].concat()
}

impl Config {
    /// Tells it from others of its kind on one network: from the second on, their number stands behind the names of their GOOSE control
    /// blocks, `gcbTrip_2`.
    ///
    /// # Errors
    /// A name that is too long with it.
    pub fn number_blocks(&mut self, number: u32) -> Result<(), String> {
        for output in self.gooses.iter_mut().filter(|_| number > 1) {
            let name = &mut output.block.message.gocb_ref;
            *name = numbered(name, number);
            if name.len() > MAX_NAME {
                let name = String::from_utf8_lossy(name);
                return Err(format!("gocb_ref {name} has more than {MAX_NAME} octets: shorten it"));
            }
        }
        Ok(())
    }

    /// Rated values of a stream, sampled at `rate` a second.
    #[must_use]
    pub fn rated(&self, stream: &Stream, rate: f64) -> Rated {
        Rated {
            current_a: stream.rated.current_a,
            voltage_v: stream.rated.voltage_v,
            frequency_hz: self.frequency_hz,
            samples_per_second: rate,
        }
    }

    /// The reference of a function's settings: current and voltage of the streams that it takes them from.
    #[must_use]
    pub fn rated_of(&self, settings: &FunctionSettings, rate: f64) -> Rated {
        let [current, voltage] = settings.sets();
        Rated {
            voltage_v: self.streams[voltage].rated.voltage_v,
            ..self.rated(&self.streams[current], rate)
        }
    }
}
