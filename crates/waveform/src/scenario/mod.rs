//! Scenarios of a test set: what a relay sees, and what it has to do about it. `docs/formats/scenario.md` has every key.

mod file;
mod library;
mod plain;
mod record;
#[cfg(test)]
mod tests;
mod wave;

pub(crate) use file::LONGEST_NS;
pub use library::{find, names};
pub use record::Replayed;
pub use wave::Wave;

use crate::WaveformError;
use crate::sample::{SampleTable, Sampling};
use crate::synth::Synth;

/// A disturbance, and what a relay has to do about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Its name, as in the names of its series.
    pub name: String,
    /// Its description, in a sentence.
    pub what: String,
    /// The steady state and the disturbance. Of a synthesised one the first state begins with the disturbance, unless
    /// [`Scenario::fault`] is a later one; the last has an end.
    pub wave: Wave,
    /// The state with which the fault begins, or the disturbance where there is none. A record has its own inception.
    pub fault: String,
    /// The required action of the relay.
    pub expect: Expect,
    /// Phases and function that have to trip.
    pub selection: Selection,
    /// Conclusions and choices where the file left something open, a sentence each; for a person to read.
    pub notes: Vec<String>,
}

/// The action that a disturbance requires of a relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Trip while the states last.
    Trip {
        /// Required operate time in ns, from the first faulted sample on; `None` where none is required.
        within_ns: Option<u64>,
        /// A trip before this time, in ns from the first faulted sample on, comes too soon; `None` where none does.
        soonest_ns: Option<u64>,
    },
    /// Leave it alone.
    NoTrip,
    /// Either: so near a border that both are right.
    Either,
}

/// The phases and the function of a relay that a fault is for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// Phases a, b, c; `None` where nothing is expected of them.
    pub phases: Option<[bool; 3]>,
    /// Its zone or function, as the test set is told the names of members; `None` where any may trip.
    pub function: Option<String>,
}

/// A scenario as it is published once.
#[derive(Debug, Clone)]
pub struct Shot {
    /// The signal that the samples are of.
    pub wave: Wave,
    /// Its samples: first the steady state, then the disturbance, then the steady state for ever.
    pub table: SampleTable,
    /// The first sample of the fault.
    pub fault: u64,
    /// The first sample behind the last state of the disturbance.
    pub end: u64,
}

impl Scenario {
    /// True if the relay has to trip.
    pub fn wants_trip(&self) -> bool {
        matches!(self.expect, Expect::Trip { .. })
    }

    /// The samples of one shot, whose states begin after `lead` samples of the steady state; a record begins once a cycle only, and so with
    /// the next sample that fits. Its phase is `shift_deg` at the first sample; `number` gives each shot its own noise.
    ///
    /// # Errors
    /// A signal that these samples cannot hold.
    pub fn shot(&self, sampling: &Sampling, lead: u64, shift_deg: f64, number: u64) -> Result<Shot, WaveformError> {
        match &self.wave {
            Wave::Synth(synth) => {
                let synth = after(synth, sampling, lead).shifted(shift_deg, number);
                self.synthesised(synth, sampling, lead)
            }
            Wave::Record(replayed) => replayed.shot(sampling, lead, shift_deg, number),
        }
    }

    fn synthesised(&self, synth: Synth, sampling: &Sampling, lead: u64) -> Result<Shot, WaveformError> {
        let table = synth.table(sampling)?;
        let begin = |name: &str| {
            table
                .marks()
                .iter()
                .find(|mark| mark.name == name && mark.sample >= lead)
        };
        let fault = begin(&self.fault).map(|mark| mark.sample);
        let end = table.marks().last().map(|mark| mark.sample);
        let (Some(fault), Some(end)) = (fault, end.filter(|end| *end < table.once() + table.looped())) else {
            return Err(WaveformError::setting(format!(
                "scenario {}: the state `{}` is shorter than a sample",
                self.name, self.fault
            )));
        };
        Ok(Shot {
            wave: Wave::Synth(synth),
            table,
            fault,
            end,
        })
    }
}

/// The signal with its states moved behind `lead` samples.
fn after(synth: &Synth, sampling: &Sampling, lead: u64) -> Synth {
    // Rounded down: a state begins with the first sample at or after its instant, which is number `lead` then.
    let lead_ns = u64::try_from(u128::from(lead) * 1_000_000_000 / u128::from(sampling.rate)).unwrap_or(u64::MAX);
    let mut synth = synth.clone();
    for (number, state) in synth.states.iter_mut().enumerate() {
        let at_ns = state.at_ns.or((number == 0).then_some(0));
        state.at_ns = at_ns.map(|ns| ns.saturating_add(lead_ns));
    }
    synth
}
