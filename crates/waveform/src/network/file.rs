//! Networks and their faults as keys of a scenario.

use super::{Complex, Fault, FaultType, Network, polar};
use crate::WaveformError;
use crate::synth::{Decay, Duration, State, Synth};
use serde::Deserialize;

/// A network and the faults in it, in order.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    #[serde(default = "fifty")]
    frequency_hz: f64,
    source_v: f64,
    source: Impedances,
    line: Impedances,
    #[serde(default)]
    load_a: f64,
    #[serde(default)]
    load_angle_deg: f64,
    #[serde(rename = "fault")]
    faults: Vec<FileFault>,
}

/// Resistance and reactance in ohm, positive and zero sequence.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Impedances {
    z1_ohm: [f64; 2],
    z0_ohm: [f64; 2],
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileFault {
    name: Option<String>,
    #[serde(rename = "type")]
    kind: FaultType,
    position: f64,
    #[serde(default)]
    resistance_ohm: f64,
    duration: Duration,
    #[serde(default = "all")]
    dc_percent: f64,
}

pub(crate) fn fifty() -> f64 {
    50.0
}

fn all() -> f64 {
    100.0
}

/// Largest position of a fault: in the line, or in an equal line that follows it.
const FURTHEST: f64 = 2.0;

impl File {
    /// The signal that the relay measures.
    ///
    /// # Errors
    /// Impossible values.
    pub(crate) fn signal(self) -> Result<Synth, WaveformError> {
        let network = Network {
            frequency_hz: self.frequency_hz,
            source_v: self.source_v,
            source_ohm: self.source.ohm("source")?,
            line_ohm: self.line.ohm("line")?,
            load_a: polar(self.load_a, self.load_angle_deg),
        };
        within("source_v", network.source_v, 1.0, 2e6)?;
        within("load_a", self.load_a, 0.0, 1e5)?;
        let states = self.faults.iter().map(|fault| fault.state(&network));
        Ok(Synth {
            nominal: network.before(),
            states: states.collect::<Result<_, _>>()?,
            ..Synth::default()
        })
    }
}

impl Impedances {
    pub(crate) fn ohm(self, what: &str) -> Result<[Complex; 2], WaveformError> {
        for [r, x] in [self.z1_ohm, self.z0_ohm] {
            within(&format!("{what}: resistance"), r, 0.0, 1e4)?;
            within(&format!("{what}: reactance"), x, 1e-3, 1e4)?;
        }
        Ok([self.z1_ohm, self.z0_ohm].map(|[r, x]| Complex::new(r, x)))
    }
}

impl FileFault {
    fn state(&self, network: &Network) -> Result<State, WaveformError> {
        within("fault.position", self.position, 0.0, FURTHEST)?;
        within("fault.resistance_ohm", self.resistance_ohm, 0.0, 1e4)?;
        let fault = Fault {
            kind: self.kind,
            position: self.position,
            resistance_ohm: self.resistance_ohm,
        };
        let name = self.name.clone().unwrap_or_else(|| self.kind.to_string());
        Ok(fault.state(network, &name, self.duration.0, self.dc_percent))
    }
}

impl Fault {
    /// The state of a fault with this duration, and with this share of the decaying component that makes the currents continuous.
    pub(crate) fn state(&self, network: &Network, name: &str, duration_ns: u64, dc_percent: f64) -> State {
        // Without resistance nothing decays within the time of a table.
        let time_constant_ns = network.time_constant_ns(self).clamp(1_000, 10_000_000_000);
        State {
            duration_ns: Some(duration_ns),
            decay: (dc_percent > 0.0).then_some(Decay {
                percent: dc_percent,
                time_constant_ns,
            }),
            ..State::steady(name, network.during(self))
        }
    }
}

fn within(key: &str, value: f64, least: f64, most: f64) -> Result<(), WaveformError> {
    // Written so that NaN is refused.
    if value >= least && value <= most {
        return Ok(());
    }
    Err(WaveformError::setting(format!(
        "network.{key} is {value}: use {least} to {most}"
    )))
}
