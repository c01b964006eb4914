//! Scenarios as TOML.

use super::{Expect, Scenario};
use crate::WaveformError;
use crate::library;
use crate::network;
use crate::synth::{self, Synth};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    what: String,
    fault: Option<String>,
    expect: FileExpect,
    waveform: Option<synth::File>,
    network: Option<network::File>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileExpect {
    trip: bool,
    within: Option<synth::Duration>,
}

/// Longest disturbance: its samples are in memory twice.
pub(crate) const LONGEST_NS: u64 = 60_000_000_000;

impl Scenario {
    /// Reads the text of the scenario `name`; errors call it `origin`.
    ///
    /// # Errors
    /// A wrong key or value, with line and key.
    pub fn parse(text: &str, name: &str, origin: &str) -> Result<Self, WaveformError> {
        library::parse(text, name, origin, Self::of)
    }

    pub(super) fn of(file: File, name: &str) -> Result<Self, WaveformError> {
        let signal = match (file.waveform, file.network) {
            (Some(waveform), None) => Synth::from(waveform),
            (None, Some(network)) => network.signal()?,
            _ => {
                return Err(WaveformError::setting(
                    "give the signal as [waveform] or as [network], one of them",
                ));
            }
        };
        let synth = synth::checked(signal)?;
        let fault = fault(&synth, file.fault)?;
        let expect = match (file.expect.trip, file.expect.within) {
            (true, within) => Expect::Trip {
                soonest_ns: None,
                within_ns: within.map(|within| within.0),
            },
            (false, None) => Expect::NoTrip,
            (false, Some(_)) => {
                return Err(WaveformError::setting(
                    "expect.within: there is no trip to wait for: leave it out",
                ));
            }
        };
        Ok(Self {
            name: name.to_owned(),
            what: file.what,
            synth,
            fault,
            expect,
        })
    }
}

/// The name of the state with which the fault begins, once the states are such that a test set can use them.
fn fault(synth: &Synth, named: Option<String>) -> Result<String, WaveformError> {
    let refuse = |problem: &str| Err(WaveformError::setting(problem));
    let (Some(first), Some(last)) = (synth.states.first(), synth.states.last()) else {
        return refuse("no state: give the disturbance as [[waveform.state]] or [[network.fault]]");
    };
    if synth.repeat_every_ns.is_some() {
        return refuse("waveform.repeat_every: the test set repeats the scenario: leave it out");
    }
    let Some(last_ns) = last.duration_ns else {
        return refuse("waveform: the last state has no duration: the relay has to be let go before the next shot");
    };
    let lasts = synth.states.iter().filter_map(|state| state.duration_ns).max();
    if last.at_ns.unwrap_or(0).saturating_add(last_ns).max(lasts.unwrap_or(0)) > LONGEST_NS {
        return refuse("waveform: the states last longer than a minute: make them shorter");
    }
    let name = named.unwrap_or_else(|| first.name.clone());
    match synth.states.iter().filter(|state| state.name == name).count() {
        1 => Ok(name),
        0 => refuse(&format!("fault: no state is called `{name}`")),
        _ => refuse(&format!(
            "fault: several states are called `{name}`: give each its own name"
        )),
    }
}
