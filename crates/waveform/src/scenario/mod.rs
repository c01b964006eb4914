//! Scenarios of a test set: the signal at a relay, and the relay's required action. `docs/formats/scenario.md` has every key.

mod file;
mod library;
mod plain;
mod record;
mod simulated;
#[cfg(test)]
mod tests;
mod wave;

pub(crate) use file::LONGEST_NS;
pub use library::{find, names};
pub use record::Replayed;
pub use simulated::Simulated;
pub use wave::Wave;

use crate::WaveformError;
use crate::sample::{Flaw, Quantity, SampleTable, Sampling};
use crate::synth::Synth;

/// Part of the largest value that a flaw has to change: 1/1000, which the load of a line is beside its largest fault.
const LEAST_CHANGE: u64 = 1_000;

/// A disturbance, and the required action of a relay.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Its name, also used in the names of its series.
    pub name: String,
    /// Its description, in a sentence.
    pub what: String,
    /// The steady state and the disturbance. In a synthesised one the first state starts the disturbance, unless [`Scenario::fault`] is a later
    /// state; the last state has an end.
    pub wave: Wave,
    /// The state in which the fault starts, or the disturbance if there is no fault. A record has its own inception.
    pub fault: String,
    /// The required action of the relay.
    pub expect: Expect,
    /// Required phases and function of the trip.
    pub selection: Selection,
    /// A flaw of the samples from the begin of the fault to the end of the disturbance.
    pub flaw: Option<Flaw>,
    /// Conclusions and choices for settings that the file leaves open, a sentence each; for the user.
    pub notes: Vec<String>,
}

/// The action that a disturbance requires of a relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// The relay must trip while the states last.
    Trip {
        /// Required operate time in ns from the first faulted sample; `None` if there is no requirement.
        within_ns: Option<u64>,
        /// A trip before this time, in ns from the first faulted sample, is too early; `None` if no trip is too early.
        soonest_ns: Option<u64>,
    },
    /// The relay must not trip.
    NoTrip,
    /// Either is correct, because the case is close to a border.
    Either,
}

/// The phases and the relay function that a fault concerns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// Phases a, b, c; `None` if any phases are accepted.
    pub phases: Option<[bool; 3]>,
    /// Its zone or function, by the names of members given to the test set; `None` if any may trip.
    pub function: Option<String>,
}

/// The samples of a scenario for one shot.
#[derive(Debug, Clone)]
pub struct Shot {
    /// The signal of these samples.
    pub wave: Wave,
    /// Its samples: first the steady state, then the disturbance, then the steady state forever. Those of two sides are beside each other.
    pub table: SampleTable,
    /// The first sample of the fault.
    pub fault: u64,
    /// The first sample after the last state of the disturbance.
    pub end: u64,
    /// Largest change of a value by the flaw, in LSB; 0 without a flaw.
    pub flaw_change: u32,
}

impl Scenario {
    /// True if the relay must trip.
    pub fn wants_trip(&self) -> bool {
        matches!(self.expect, Expect::Trip { .. })
    }

    /// The samples of one shot, whose states start after `lead` samples of the steady state; a record can only start once per cycle, and so starts at
    /// the next suitable sample. Its phase is `shift_deg` at the first sample; `number` gives each shot different noise.
    ///
    /// # Errors
    /// A signal that these samples cannot hold, or that is not finite; a flaw that changes nothing.
    pub fn shot(&self, sampling: &Sampling, lead: u64, shift_deg: f64, number: u64) -> Result<Shot, WaveformError> {
        let mut shot = self.shot_of(&self.wave, sampling, lead, (shift_deg, number))?;
        self.check_values(&shot.table)?;
        if let Some(flaw) = self.flaw {
            let largest = shot.table.largest(flaw.quantity(), &sampling.dataset);
            shot.flaw_change = shot.table.spoil(flaw, shot.fault..shot.end, &sampling.dataset, number);
            self.check_flaw(flaw, shot.flaw_change, largest)?;
        }
        Ok(shot)
    }

    fn shot_of(
        &self,
        wave: &Wave,
        sampling: &Sampling,
        lead: u64,
        (shift_deg, number): (f64, u64),
    ) -> Result<Shot, WaveformError> {
        match wave {
            Wave::Synth(synth) => {
                let synth = after(synth, sampling, lead).shifted(shift_deg, number);
                self.synthesised(synth, sampling, lead)
            }
            Wave::Record(replayed) => replayed.shot(sampling, lead, shift_deg, number),
            Wave::Simulated(simulated) => simulated.shot(sampling, lead, shift_deg),
            Wave::Sides(sides) => {
                let [near, far] = [0, 1].map(|side| self.shot_of(&sides[side], sampling, lead, (shift_deg, number)));
                near?.beside(far?)
            }
        }
    }

    /// Makes one shot on trial, so that an impossible signal is refused before anything is published. Other instants of the fault have other direct
    /// components, of up to twice the value, so half of the range has to be left.
    ///
    /// # Errors
    /// As for [`Self::shot`], and values beyond half of the range of INT32.
    pub fn trial(&self, sampling: &Sampling) -> Result<Shot, WaveformError> {
        let shot = self.shot(sampling, u64::from(sampling.rate) / 2, 0.0, 0)?;
        let quantities = [Quantity::Current, Quantity::Voltage];
        let largest = quantities.map(|quantity| shot.table.largest(quantity, &sampling.dataset));
        if largest.into_iter().any(|value| value > i32::MAX.unsigned_abs() / 2) {
            return Err(self.too_large());
        }
        Ok(shot)
    }

    /// Refuses clipped values, and those of a calculation that has no finite result; a record may lack some.
    fn check_values(&self, table: &SampleTable) -> Result<(), WaveformError> {
        let is_record = matches!(self.wave.near(), Wave::Record(_));
        if table.saturated() == 0 && (is_record || table.missing() == 0) {
            return Ok(());
        }
        Err(self.too_large())
    }

    /// Refuses a flaw whose largest change, in LSB, is too small beside this largest value of the same quantity: a relay would pass by silence.
    ///
    /// # Errors
    /// The change is less than 0.1 % of the value, or there is none.
    pub fn check_flaw(&self, flaw: Flaw, change: u32, largest: u32) -> Result<(), WaveformError> {
        if change > 0 && u64::from(change) * LEAST_CHANGE >= u64::from(largest) {
            return Ok(());
        }
        let what = match flaw.quantity() {
            Quantity::Current => "currents",
            Quantity::Voltage => "voltages",
        };
        Err(WaveformError::setting(format!(
            "scenario {}: the flaw {flaw} changes nothing: the {what} that it would change are absent or zero: use a scenario whose \
             steady state has {what}, such as one with network.load_a, and a stream that has them",
            self.name
        )))
    }

    fn too_large(&self) -> WaveformError {
        WaveformError::setting(format!(
            "scenario {}: its signal grows beyond 1000 kA or 10 MV, which sampled values cannot hold with a margin for direct \
             components: check the currents and voltages, or the impedances of the network",
            self.name
        ))
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
            flaw_change: 0,
        })
    }
}

impl Shot {
    /// The shot of both sides, of which this is the near one.
    fn beside(self, far: Self) -> Result<Self, WaveformError> {
        Ok(Self {
            table: self.table.beside(&far.table)?,
            end: self.end.max(far.end),
            wave: Wave::Sides(Box::new([self.wave, far.wave])),
            ..self
        })
    }
}

/// The signal with each state `lead` samples later; the first state begins at sample `lead`.
fn after(synth: &Synth, sampling: &Sampling, lead: u64) -> Synth {
    // Rounded down: a state starts at the first sample at or after its time, which is then number `lead`.
    let lead_ns = u64::try_from(u128::from(lead) * 1_000_000_000 / u128::from(sampling.rate)).unwrap_or(u64::MAX);
    let mut synth = synth.clone();
    for (number, state) in synth.states.iter_mut().enumerate() {
        let at_ns = state.at_ns.or((number == 0).then_some(0));
        state.at_ns = at_ns.map(|ns| ns.saturating_add(lead_ns));
    }
    synth
}
