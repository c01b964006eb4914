//! The two ends of a `sampled-values` step.

use super::beds::Way;
use super::step::SampledValuesStep;
use probes::publish::{PublishConfig, StreamConfig, Waveform};
use probes::subscribe::{ClockRelation, SubscribeConfig};
use std::sync::Arc;

/// The test set's sender spins for the last part of each period, so that the publisher is not what is measured.
const SPIN_AHEAD_NS: u64 = 60_000;

/// What the test set is told. Over one of several networks its streams are called after that network.
pub(super) fn publisher(step: &SampledValuesStep, way: &Way, cpu: Option<u32>) -> PublishConfig {
    let usual = StreamConfig::default();
    let stream = StreamConfig {
        sv_id: match way.network() {
            Some(_) => format!("{}-{}", way.label, usual.sv_id),
            None => usual.sv_id.clone(),
        },
        rate: step.rate,
        asdus: step.asdus,
        waveform: Arc::new(Waveform::new(step.rate)),
        ..usual
    };
    PublishConfig {
        streams: (0..step.streams).map(|number| stream.numbered(number)).collect(),
        duration_ns: Some(step.duration.0),
        policy: step.policy.0,
        cpu,
        // A thread that forwards has the same CPUs: it would not run meanwhile.
        spin_ahead_ns: if way.in_user_space() { 0 } else { SPIN_AHEAD_NS },
        ..PublishConfig::default()
    }
}

/// What the device under test is told about the streams that `publisher` sends.
pub(super) fn subscriber(publisher: &PublishConfig) -> SubscribeConfig {
    SubscribeConfig {
        rate: publisher.streams.first().map(|stream| stream.rate),
        max_streams: u16::try_from(publisher.streams.len()).unwrap_or(u16::MAX),
        clock: ClockRelation::SameHost,
        policy: publisher.policy,
        ..SubscribeConfig::default()
    }
}
