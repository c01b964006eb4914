//! Plays recorded faults through a relay: with the same engine as live, faster than real time, and with the same outcome every
//! time.

mod captured;
mod gaps;
mod record;
mod runner;
mod story;

pub use captured::capture;
pub use record::{Channels, record};
pub use runner::Records;
pub use story::{Row, Story, Tally};

use crate::config::Config;
use crate::engine::{Counters, Engine};
use protection::supervision::SampleStatus;

/// Result of playing a file through a relay. Instants are in ns after sample 0.
#[derive(Debug, Clone)]
pub struct Replayed {
    /// Samples a second at which the relay worked.
    pub rate: f64,
    /// Number of samples from the first to the last.
    pub samples: u64,
    /// Instant of the recorder's trigger; `None` if the file has none.
    pub trigger_ns: Option<i64>,
    /// The assignment of the file's channels to the relay's inputs.
    pub inputs: Vec<String>,
    /// Notes on parts that were skipped or are unusual.
    pub notes: Vec<String>,
    /// Events of the replay.
    pub story: Story,
    /// State of each stream.
    pub streams: Vec<Received>,
}

impl Replayed {
    /// Length of the file, in s.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.samples as f64 / self.rate
    }
}

/// State of a stream.
#[derive(Debug, Clone, Copy)]
pub struct Received {
    /// Status from its supervision.
    pub status: SampleStatus,
    /// Counts of its samples.
    pub counters: Counters,
}

fn received(config: &Config, engine: &Engine) -> Vec<Received> {
    let one = |stream: usize| {
        Some(Received {
            status: *engine.status(stream)?,
            counters: *engine.counters(stream)?,
        })
    };
    (0..config.streams.len()).filter_map(one).collect()
}
