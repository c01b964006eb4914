//! Scenarios as TOML.

use super::record::Keys;
use super::simulated::Simulated;
use super::{Expect, Scenario, Selection, Wave};
use crate::WaveformError;
use crate::library::{self, Origin};
use crate::network;
use crate::sample::{Flaw, Sampling};
use crate::synth::{self, Synth};
use serde::Deserialize;
use units::{Refusal, refusal};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    what: String,
    fault: Option<String>,
    flaw: Option<Flaw>,
    expect: FileExpect,
    waveform: Option<synth::File>,
    network: Option<network::File>,
    record: Option<Keys>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileExpect {
    trip: bool,
    after: Option<synth::Duration>,
    within: Option<synth::Duration>,
    phases: Option<Phases>,
    function: Option<String>,
}

impl FileExpect {
    fn checked(&self) -> Result<Expect, WaveformError> {
        let [soonest_ns, within_ns] = [self.after, self.within].map(|time| time.map(|time| time.0));
        let is_window = soonest_ns.zip(within_ns).is_none_or(|(after, within)| after < within);
        match (self.trip, soonest_ns.or(within_ns)) {
            (true, _) if is_window => Ok(Expect::Trip { within_ns, soonest_ns }),
            (true, _) => Err(WaveformError::setting(
                "expect.after: not before expect.within: exchange them",
            )),
            (false, None) => Ok(Expect::NoTrip),
            (false, Some(_)) => Err(WaveformError::setting(
                "expect.within, expect.after: there is no trip to wait for: leave them out",
            )),
        }
    }
}

/// Phases, as in "A" or "BC".
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
struct Phases([bool; 3]);

impl TryFrom<String> for Phases {
    type Error = Refusal;

    fn try_from(text: String) -> Result<Self, Refusal> {
        let phases = ["A", "B", "C"].map(|phase| text.contains(phase));
        let letters = phases.iter().filter(|has| **has).count();
        match letters == text.len() && letters > 0 {
            true => Ok(Self(phases)),
            false => Err(refusal!(
                "\"{text}\" is not possible: use A, B and C, such as \"A\" or \"BC\""
            )),
        }
    }
}

/// Longest disturbance in ns: its samples are in memory twice.
pub(crate) const LONGEST_NS: u64 = 60_000_000_000;

impl Scenario {
    /// Parses the text of the scenario `name` for a stream with this sampling; errors name it `origin`.
    ///
    /// # Errors
    /// A wrong key or value, with line and key, or a record that cannot be played in this way.
    pub fn parse(text: &str, name: &str, origin: &str, sampling: &Sampling) -> Result<Self, WaveformError> {
        library::parse(text, Origin::here(name), origin, |file, origin| {
            Self::of(file, origin, sampling)
        })
    }

    pub(super) fn of(file: File, origin: Origin<'_>, sampling: &Sampling) -> Result<Self, WaveformError> {
        let (wave, fault, notes) = match (file.waveform, file.network, file.record) {
            (Some(waveform), None, None) => synthesised(Synth::from(waveform), file.fault)?,
            (None, Some(network), None) => {
                let (wave, fault) = Simulated::of(&network, file.fault)?;
                (wave, fault, Vec::new())
            }
            (None, None, Some(_)) if file.fault.is_some() => {
                return Err(WaveformError::setting(
                    "fault: a record has no states: give the instant as record.inception",
                ));
            }
            (None, None, Some(keys)) => {
                let (replayed, notes) = keys.replayed(origin.folder, sampling)?;
                (Wave::Record(replayed), String::new(), notes)
            }
            _ => {
                return Err(WaveformError::setting(
                    "give the signal as [waveform], [network] or [record], one of them",
                ));
            }
        };
        let expect = file.expect.checked()?;
        let selection = Selection {
            phases: file.expect.phases.map(|Phases(phases)| phases),
            function: file.expect.function,
        };
        if !file.expect.trip && selection != Selection::default() {
            return Err(WaveformError::setting(
                "expect.phases, expect.function: there is no trip that could have them: leave them out",
            ));
        }
        Ok(Self {
            name: origin.name.to_owned(),
            what: file.what,
            wave,
            fault,
            expect,
            selection,
            flaw: file.flaw,
            notes,
        })
    }
}

fn synthesised(signal: Synth, fault_named: Option<String>) -> Result<(Wave, String, Vec<String>), WaveformError> {
    let signal = Synth { clears: true, ..signal };
    let synth = synth::checked(signal)?;
    let fault = fault(&synth, fault_named)?;
    Ok((Wave::Synth(synth), fault, Vec::new()))
}

/// The name of the state in which the fault starts, after checking that a test set can use the states.
fn fault(synth: &Synth, named: Option<String>) -> Result<String, WaveformError> {
    let refuse = |problem: &str| Err(WaveformError::setting(problem));
    let (Some(first), Some(last)) = (synth.states.first(), synth.states.last()) else {
        return refuse("no state: give the disturbance as [[waveform.state]] or [[network.fault]]");
    };
    if synth.repeat_every_ns.is_some() {
        return refuse("waveform.repeat_every: the test set repeats the scenario: leave it out");
    }
    let Some(last_ns) = last.duration_ns else {
        return refuse("waveform: the last state has no duration: the relay has to reset before the next shot");
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
