//! A relay's file: its streams, functions, trip matrix and GOOSE outputs, in TOML (`docs/formats/relay-file.md`).
//!
//! Everything is checked when the file is read, including contradictions between two places: an engine made from a [`Config`] at
//! its own rate cannot fail.

mod cpus;
mod file;
mod functions;
mod goose;
mod inputs;
mod kinds;
mod names;
mod order;
mod scl;
mod streams;
mod trips;
mod values;

pub use cpus::{Cpus, CpusError};
pub use file::{parse, parse_with};
pub use goose::{Attribute, Feed, GooseOutput, Signal, Watch};
pub use inputs::GooseInput;
pub(crate) use order::RESIDUALS;
pub use order::{CHANNELS, Order};

use crate::metering::MeteringSettings;
use crate::ptp::PtpLoss;
use protection::breaker::RbrfSettings;
use protection::measure::BaySettings;
use protection::supervision::{FuseSettings, Questionable, SampleSupervision, SwingSettings};
use protection::trip::PtrcSettings;
use protection::{FunctionSettings, Node, Rated};
use streamset::StreamSpec;
use units::{Refusal, refusal};
use waveform::sample::Dataset;
use wire::goose::MAX_NAME;

/// Settings of a relay.
#[derive(Debug, Clone)]
pub struct Config {
    /// Name of the relay.
    pub name: String,
    /// Rated frequency in Hz.
    pub frequency_hz: f64,
    /// Samples a second of all streams.
    pub rate: u32,
    /// Time from one task to the next, in ns.
    pub task_ns: u64,
    /// Longest wait for a sample, in ns: the alignment delay.
    pub wait_ns: u64,
    /// Real-time priority of the live task, 1 to 98.
    pub priority: u8,
    /// CPUs of the live tasks.
    pub cpus: Cpus,
    /// Response to the loss of the host's PTP.
    pub ptp_loss: PtpLoss,
    /// True if simulated samples are accepted (`LPHD.Sim`).
    pub simulation: bool,
    /// True if values for tests are accepted (mode test).
    pub in_test: bool,
    /// The streams.
    pub streams: Vec<Stream>,
    /// Booleans of other devices that the relay subscribes to.
    pub inputs: Vec<GooseInput>,
    /// The protection functions.
    pub functions: Vec<Instance>,
    /// The trips, each with the functions that operate it.
    pub trips: Vec<TripMatrix>,
    /// The GOOSE control blocks that the relay publishes.
    pub gooses: Vec<GooseOutput>,
    /// Settings of the disturbance records.
    pub recording: Recording,
    /// Extra work that makes a live task as heavy as that of a product.
    pub load: TaskLoad,
}

/// A stream that the relay subscribes to.
#[derive(Debug, Clone)]
pub struct Stream {
    /// Name in the file.
    pub name: String,
    /// Addresses and contents of the stream.
    pub spec: StreamSpec,
    /// Members of its dataset.
    pub dataset: Dataset,
    /// Members that are the channels of the bay.
    pub order: Order,
    /// Rated primary current in A and voltage in V.
    pub rated: RatedValues,
    /// Settings of the measurement.
    pub measuring: BaySettings,
    /// Settings of the blocking of its functions.
    pub supervision: SampleSupervision,
    /// Supervision of the fuses of its voltage transformers, if the relay has it.
    pub fuse: Option<FuseSettings>,
    /// Power-swing block of its distance zones, if the relay has it.
    pub swing: Option<SwingSettings>,
    /// Measured values that it publishes (MMXU, MSQI), if it has them.
    pub metering: Option<MeteringSettings>,
    /// The treatment of questionable values.
    pub questionable: Questionable,
    /// Number of the clock of streams whose local clock has no identity; see [`protection::measure::Synch`].
    pub clock: u16,
}

/// Rated values of a stream, for settings in per unit.
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
    /// Name in the file.
    pub name: String,
    /// Settings of the function; streams in them are given by number.
    pub settings: FunctionSettings,
    /// Class and device number.
    pub node: Node,
}

/// A row of the trip matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct TripMatrix {
    /// Name in the file.
    pub name: String,
    /// Conditioning of the trip.
    pub settings: PtrcSettings,
    /// Class and device number.
    pub node: Node,
    /// Numbers of the functions that operate the trip.
    pub functions: Vec<usize>,
    /// Breaker failure function of the trip; its source is the number of a stream.
    pub breaker_failure: Option<RbrfSettings>,
}

/// The contents of a disturbance record, and the largest number of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recording {
    /// Time before the trip, in ns.
    pub pre_ns: u64,
    /// Time after the last trip, in ns.
    pub post_ns: u64,
    /// Maximum number of records in a run.
    pub most: u32,
}

/// Extra work that makes a live task as heavy as that of a product; a replay needs none of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskLoad {
    /// Number of copies of every function that each task runs, including the one that trips.
    pub instances: u32,
    /// Size of the memory that a task touches, in MiB.
    pub working_set_mib: u32,
    /// Time that a task computes in addition to its work, in ns.
    pub busy_ns: u64,
}

/// Appends a number to the name of a control block.
#[must_use]
pub fn numbered(name: &[u8], number: u32) -> Vec<u8> {
    [name, format!("_{number}").as_bytes()].concat()
}

impl Config {
    /// Distinguishes this relay from others of its kind on one network: from the second relay on, its number is appended to the
    /// names of its GOOSE control blocks, as in `gcbTrip_2`.
    ///
    /// # Errors
    /// A name becomes too long.
    pub fn number_blocks(&mut self, number: u32) -> Result<(), Refusal> {
        for output in self.gooses.iter_mut().filter(|_| number > 1) {
            let name = &mut output.block.message.gocb_ref;
            *name = numbered(name, number);
            if name.len() > MAX_NAME {
                let name = String::from_utf8_lossy(name);
                return Err(refusal!("gocb_ref {name} has more than {MAX_NAME} octets: shorten it"));
            }
        }
        Ok(())
    }

    /// Rated values of a stream with `rate` samples a second.
    #[must_use]
    pub fn rated(&self, stream: &Stream, rate: f64) -> Rated {
        Rated {
            current_a: stream.rated.current_a,
            voltage_v: stream.rated.voltage_v,
            frequency_hz: self.frequency_hz,
            samples_per_second: rate,
        }
    }

    /// Rated current and voltage for a function's settings, from the streams that supply them.
    #[must_use]
    pub fn rated_of(&self, settings: &FunctionSettings, rate: f64) -> Rated {
        let [current, voltage] = settings.sets();
        Rated {
            voltage_v: self.streams[voltage].rated.voltage_v,
            ..self.rated(&self.streams[current], rate)
        }
    }
}
