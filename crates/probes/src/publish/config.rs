//! Settings of the published streams.

use super::waveform::Waveform;
use crate::nic::Stamps;
use std::sync::Arc;
use streamset::StreamSpec;
use sys::thread::Policy;

/// One stream as sent by its merging unit.
#[derive(Debug, Clone)]
pub struct StreamConfig {
    /// Name, destination and rate of the stream. Its waveform sets the contents of its samples.
    pub spec: StreamSpec,
    /// Waveform of the samples, made for this rate.
    pub waveform: Arc<Waveform>,
    /// Number of samples by which the waveform runs ahead.
    pub ahead: u32,
}

impl StreamConfig {
    /// Makes number `number` of a set of streams: see [`StreamSpec::numbered`].
    #[must_use]
    pub fn numbered(&self, number: u16) -> Self {
        Self {
            spec: self.spec.numbered(number),
            ..self.clone()
        }
    }
}

impl Default for StreamConfig {
    /// Makes a 9-2LE stream of 4800 samples a second without a number: svID `MU`.
    fn default() -> Self {
        let spec = StreamSpec {
            asdus: 1,
            ..StreamSpec::named("MU")
        };
        Self {
            waveform: Arc::new(Waveform::new(spec.rate)),
            spec,
            ahead: 0,
        }
    }
}

/// Settings of a publisher.
#[derive(Debug, Clone)]
pub struct PublishConfig {
    /// The streams. Those of one rate and number of ASDUs are due together.
    pub streams: Vec<StreamConfig>,
    /// Time before the due instant at which the thread stops sleeping and spins, in ns.
    pub spin_ahead_ns: u64,
    /// Maker of the departure stamps; the port must have been opened for it.
    pub stamps: Stamps,
    /// Duration of the publishing; `None` publishes until a stop is requested.
    pub duration_ns: Option<u64>,
    /// Scheduling policy.
    pub policy: Policy,
    /// CPU to run on.
    pub cpu: Option<u32>,
    /// Samples above this are counted as overflow and kept as spikes.
    pub threshold_ns: Option<u64>,
    /// True to keep, of every frame, the instant at which it was due and the one at which it was handed to the kernel.
    pub record: bool,
}

impl Default for PublishConfig {
    /// One 9-2LE stream of 4800 samples a second, `MU01`, at normal priority, until a stop is requested.
    fn default() -> Self {
        Self {
            streams: vec![StreamConfig::default().numbered(0)],
            spin_ahead_ns: 0,
            stamps: Stamps::Off,
            duration_ns: None,
            policy: Policy::Other,
            cpu: None,
            threshold_ns: None,
            record: false,
        }
    }
}
