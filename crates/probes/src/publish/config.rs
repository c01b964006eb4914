//! Settings of what is to be published.

use super::waveform::Waveform;
use crate::nic::Stamps;
use std::sync::Arc;
use streamset::StreamSpec;
use sys::thread::Policy;

/// One stream, as its merging unit publishes it.
#[derive(Debug, Clone)]
pub struct StreamConfig {
    /// Name of the stream, its destination and its rate. Its waveform decides the contents of its samples.
    pub spec: StreamSpec,
    /// Waveform of its samples, made for this rate.
    pub waveform: Arc<Waveform>,
    /// Samples by which its waveform runs ahead.
    pub ahead: u32,
}

impl StreamConfig {
    /// The stream as number `number` of a set: see [`StreamSpec::numbered`].
    #[must_use]
    pub fn numbered(&self, number: u16) -> Self {
        Self {
            spec: self.spec.numbered(number),
            ..self.clone()
        }
    }
}

impl Default for StreamConfig {
    /// A 9-2LE stream of 4800 samples a second without a number: svID `MU`.
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

/// Streams that are to be published, and how.
#[derive(Debug, Clone)]
pub struct PublishConfig {
    /// The streams. Those of one rate and number of ASDUs are due together.
    pub streams: Vec<StreamConfig>,
    /// Sleep until this long before the due instant, then spin.
    pub spin_ahead_ns: u64,
    /// Maker of the stamps of frames as they leave; the port must have been opened for it.
    pub stamps: Stamps,
    /// How long to publish; `None` until told to stop.
    pub duration_ns: Option<u64>,
    /// Scheduling policy.
    pub policy: Policy,
    /// CPU to run on.
    pub cpu: Option<u32>,
    /// Samples above are counted as overflow and kept as spikes.
    pub threshold_ns: Option<u64>,
}

impl Default for PublishConfig {
    /// One 9-2LE stream of 4800 samples a second, `MU01`, at normal priority, until told to stop.
    fn default() -> Self {
        Self {
            streams: vec![StreamConfig::default().numbered(0)],
            spin_ahead_ns: 0,
            stamps: Stamps::Off,
            duration_ns: None,
            policy: Policy::Other,
            cpu: None,
            threshold_ns: None,
        }
    }
}
