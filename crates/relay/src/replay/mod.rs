//! Recorded faults, played through a relay: the same engine as live, faster than real time, and every time with the same outcome.

mod captured;
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

/// The effect of a file on a relay. Instants are ns after sample 0.
#[derive(Debug, Clone)]
pub struct Replayed {
    /// Samples a second that the relay worked at.
    pub rate: f64,
    /// Samples from the first to the last.
    pub samples: u64,
    /// When the recorder was triggered; `None` where the file does not say.
    pub trigger_ns: Option<i64>,
    /// The assignment of the file's channels to the relay's inputs.
    pub inputs: Vec<String>,
    /// Parts that were skipped, or are odd.
    pub notes: Vec<String>,
    /// The story of the replay.
    pub story: Story,
    /// How each stream came.
    pub streams: Vec<Received>,
}

impl Replayed {
    /// How long the file is, in s.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.samples as f64 / self.rate
    }
}

/// How a stream came.
#[derive(Debug, Clone, Copy)]
pub struct Received {
    /// As its supervision tells it.
    pub status: SampleStatus,
    /// The fate of its samples.
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
