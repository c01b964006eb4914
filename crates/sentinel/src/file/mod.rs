//! The file of a sentinel, in TOML: `docs/formats/sentinel.md` describes it.

use serde::Deserialize;
use std::path::PathBuf;
use units::{Refusal, refusal};

/// Most relays, streams and control blocks of one sentinel.
const MOST: usize = 64;

/// Times timeAllowedtoLive after which a control block may count as silent.
const TAL_FACTORS: std::ops::RangeInclusive<f64> = 0.1..=100.0;

/// The file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {problem}")]
pub struct FileError {
    file: String,
    problem: Refusal,
}

/// A duration: `30ms`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Allowed(pub u64);

impl TryFrom<String> for Allowed {
    type Error = Refusal;

    fn try_from(text: String) -> Result<Self, Refusal> {
        match units::parse_ns(&text) {
            Ok(0) => Err("a duration of 0".into()),
            Ok(ns) => Ok(Self(ns)),
            Err(error) => Err(Refusal::new(error)),
        }
    }
}

/// A number of octets: `64MiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
struct Octets(u64);

impl TryFrom<String> for Octets {
    type Error = Refusal;

    fn try_from(text: String) -> Result<Self, Refusal> {
        units::parse_bytes(&text).map(Self).map_err(Refusal::new)
    }
}

/// The file of a sentinel.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Its name, in metrics, messages and names of files.
    pub name: String,
    /// The interface that hears both samples and GOOSE.
    pub interface: String,
    /// The folder of its run files, captures and state.
    pub folder: PathBuf,
    /// An SCL file with names of members, and the streams and control blocks to supervise.
    pub scl: Option<PathBuf>,
    /// Only these IEDs of the SCL file are supervised; empty: all.
    #[serde(default)]
    pub ieds: Vec<String>,
    /// A stream set with streams to supervise.
    pub set: Option<PathBuf>,
    /// How long a stream may take to come for the first time.
    #[serde(default = "ten_seconds")]
    pub first: Allowed,
    /// The CPU of the thread that receives.
    pub cpu: Option<u32>,
    /// Its real-time priority; none is an ordinary thread.
    pub priority: Option<u8>,
    /// The relays.
    #[serde(default, rename = "relay")]
    pub relays: Vec<RelayKeys>,
    /// The streams.
    #[serde(default, rename = "stream")]
    pub streams: Vec<StreamKeys>,
    /// The control blocks.
    #[serde(default, rename = "goose")]
    pub blocks: Vec<BlockKeys>,
    /// The frames that are kept.
    #[serde(default)]
    pub ring: RingKeys,
    /// The run files.
    #[serde(default)]
    pub run: RunKeys,
    /// The alarms, and the places where they are told.
    #[serde(default)]
    pub alarm: AlarmKeys,
    /// Wake-ups on a spare CPU.
    pub wakeup: Option<WakeupKeys>,
}

/// A relay.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelayKeys {
    /// Its name.
    pub name: String,
    /// Its control block with the trip.
    pub goose: String,
    /// The member that is true when it trips.
    #[serde(default = "member_0")]
    pub trip: String,
    /// The member that is true when it has started.
    pub start: Option<String>,
    /// The rule by which the start of a fault is recognised; without one, the relay's own start.
    pub fault: Option<String>,
    /// svID of the stream in which faults are recognised.
    pub stream: Option<String>,
    /// Longest time from the start to the trip that is in time.
    pub within: Option<Allowed>,
    /// How long after the start a trip belongs to it.
    #[serde(default = "one_second")]
    pub deadline: Allowed,
    /// True if each start needs a trip.
    pub must_trip: Option<bool>,
    /// Frequency of the network in Hz.
    #[serde(default = "fifty")]
    pub frequency: f64,
}

/// A stream of sampled values.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamKeys {
    /// Its svID.
    #[serde(rename = "svID")]
    pub sv_id: String,
    /// Samples a second.
    pub rate: Option<u32>,
    /// Configuration revision.
    #[serde(rename = "confRev")]
    pub conf_rev: Option<u32>,
    /// Longest time from one frame to the next.
    pub within: Option<Allowed>,
}

/// A GOOSE control block.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockKeys {
    /// Its reference.
    #[serde(rename = "ref")]
    pub gocb_ref: String,
    /// Configuration revision.
    #[serde(rename = "confRev")]
    pub conf_rev: Option<u32>,
    /// Dataset reference.
    #[serde(rename = "datSet")]
    pub dat_set: Option<String>,
    /// Identifier.
    #[serde(rename = "goID")]
    pub go_id: Option<String>,
    /// Entries of the dataset.
    pub entries: Option<u32>,
    /// It is silent after so many times timeAllowedtoLive.
    #[serde(default = "one")]
    pub tal_factor: f64,
}

/// Frames around each problem.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RingKeys {
    before: Allowed,
    after: Allowed,
    memory: Octets,
    disk: Octets,
}

impl Default for RingKeys {
    fn default() -> Self {
        Self {
            before: Allowed(2_000_000_000),
            after: Allowed(2_000_000_000),
            memory: Octets(64 << 20),
            disk: Octets(1 << 30),
        }
    }
}

impl RingKeys {
    /// Time before a problem of which frames are written, in ns.
    pub fn before_ns(&self) -> u64 {
        self.before.0
    }

    /// Time after it, in ns.
    pub fn after_ns(&self) -> u64 {
        self.after.0
    }

    /// Octets of memory for frames.
    pub fn memory(&self) -> u64 {
        self.memory.0
    }

    /// Octets on disk for captures.
    pub fn disk(&self) -> u64 {
        self.disk.0
    }
}

/// The run files.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunKeys {
    window: Allowed,
    file_budget: Octets,
    disk: Octets,
}

impl Default for RunKeys {
    fn default() -> Self {
        Self {
            window: Allowed(600_000_000_000),
            file_budget: Octets(8 << 20),
            disk: Octets(2 << 30),
        }
    }
}

impl RunKeys {
    /// Length of a window, in ns.
    pub fn window_ns(&self) -> u64 {
        self.window.0
    }

    /// Octets for histograms in one run file.
    pub fn file_budget(&self) -> u64 {
        self.file_budget.0
    }

    /// Octets on disk for all run files.
    pub fn disk(&self) -> u64 {
        self.disk.0
    }
}

/// The places where an alarm is told.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AlarmKeys {
    /// A program and its arguments, started for each alarm; no shell.
    pub hook: Vec<String>,
    /// Longest time that it may take.
    pub hook_within: Allowed,
    /// True to write each alarm to standard error, with its priority for the journal.
    pub journal: bool,
    /// A file of metrics, for node_exporter's textfile collector.
    pub metrics: Option<PathBuf>,
    /// Alarms of one kind and subject that are told in an hour; the others are counted.
    pub most_an_hour: u32,
}

impl Default for AlarmKeys {
    fn default() -> Self {
        Self {
            hook: Vec::new(),
            hook_within: Allowed(10_000_000_000),
            journal: true,
            metrics: None,
            most_an_hour: 12,
        }
    }
}

/// Wake-ups of a timer on a CPU that no relay uses.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WakeupKeys {
    /// The CPU.
    pub cpu: u32,
    /// Time from one to the next.
    #[serde(default = "ten_milliseconds")]
    pub interval: Allowed,
    /// Latest one that is in time.
    pub within: Option<Allowed>,
    /// Real-time priority; none is an ordinary thread.
    pub priority: Option<u8>,
}

fn ten_seconds() -> Allowed {
    Allowed(10_000_000_000)
}

fn one_second() -> Allowed {
    Allowed(1_000_000_000)
}

fn ten_milliseconds() -> Allowed {
    Allowed(10_000_000)
}

fn member_0() -> String {
    "0".to_owned()
}

fn fifty() -> f64 {
    50.0
}

fn one() -> f64 {
    1.0
}

impl File {
    /// Reads the file; `name` is its name in errors.
    ///
    /// # Errors
    /// The first mistake, with its line or its key.
    pub fn parse(text: &str, name: &str) -> Result<Self, FileError> {
        let refused = |problem: Refusal| FileError {
            file: name.to_owned(),
            problem,
        };
        let file: Self = toml::from_str(text).map_err(|error| refused(Refusal::new(error.to_string().trim_end())))?;
        file.check().map_err(refused)?;
        Ok(file)
    }

    fn check(&self) -> Result<(), Refusal> {
        let is_word = |text: &str| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            !text.is_empty() && text.len() <= 64 && text.chars().all(is_plain) && !text.starts_with('.')
        };
        if !is_word(&self.name) {
            return Err("name: letters, digits, -, _ and . make a name".into());
        }
        if self.relays.is_empty()
            && self.streams.is_empty()
            && self.blocks.is_empty()
            && self.set.is_none()
            && self.scl.is_none()
        {
            return Err("nothing is watched: add a [[relay]], [[stream]] or [[goose]], scl, or set".into());
        }
        if self.relays.len().max(self.streams.len()).max(self.blocks.len()) > MOST {
            return Err(refusal!("more than {MOST} relays, streams or control blocks"));
        }
        self.relays.iter().try_for_each(|relay| {
            if !is_word(&relay.name) {
                return Err(refusal!("[[relay]] name: \"{}\" is no name", relay.name));
            }
            relay
                .check()
                .map_err(|problem| refusal!("[[relay]] {}: {problem}", relay.name))
        })?;
        if let Some(keys) = self.blocks.iter().find(|keys| !TAL_FACTORS.contains(&keys.tal_factor)) {
            return Err(refusal!("[[goose]] {}: tal_factor: from 0.1 to 100", keys.gocb_ref));
        }
        let twice = |names: Vec<&str>| {
            let mut names = names;
            names.sort_unstable();
            names
                .windows(2)
                .find(|pair| pair[0] == pair[1])
                .map(|pair| pair[0].to_owned())
        };
        let again = twice(self.relays.iter().map(|relay| relay.name.as_str()).collect())
            .or_else(|| twice(self.streams.iter().map(|stream| stream.sv_id.as_str()).collect()))
            .or_else(|| twice(self.blocks.iter().map(|block| block.gocb_ref.as_str()).collect()));
        match again {
            Some(name) => Err(refusal!("{name} is there twice")),
            None => Ok(()),
        }
    }
}

impl RelayKeys {
    fn check(&self) -> Result<(), Refusal> {
        if !(10.0..=100.0).contains(&self.frequency) {
            return Err("frequency: from 10 to 100 Hz".into());
        }
        if self.within.is_some_and(|within| within.0 > self.deadline.0) {
            return Err("within: longer than the deadline, after which a trip belongs to no start".into());
        }
        match (&self.fault, &self.stream, &self.start) {
            (None, _, None) => Err(
                "name how a fault is recognised (fault), or the member that is true when the relay starts (start)"
                    .into(),
            ),
            (None, Some(_), _) => Err("stream: without a fault, no sample is looked at".into()),
            (Some(fault), None, _) if !fault.starts_with("goose:") => {
                Err("stream: name the svID in which the fault is recognised".into())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
