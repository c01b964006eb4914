//! Pick-up and drop-off of an overcurrent function: a ramp in steps (after IEC 60255-151).

use super::{Group, PointOnWave};
use crate::scenario::{Expect, Scenario, Selection, Wave};
use crate::synth::{Operating, State, Synth, symmetrical};
use model::{Cell, CurrentRamp, RampSignal};

/// Current of the reference shot as a multiple of the setting, and its duration in ns.
const REFERENCE_MULTIPLE: f64 = 5.0;
const REFERENCE_NS: u64 = 2_000_000_000;

/// The ramps of a test; percentages are of the setting.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PickUp {
    pub(super) frequency_hz: f64,
    /// Voltages to earth in V, which stay constant.
    pub(super) voltage_v: f64,
    pub(super) setting_a: f64,
    /// Phases of each ramp, such as `A` or `ABC`.
    pub(super) phases: Vec<String>,
    /// Declared error of the pick-up value.
    pub(super) error_percent: f64,
    pub(super) from_percent: f64,
    pub(super) to_percent: f64,
    pub(super) step_percent: f64,
    pub(super) step_ns: u64,
    /// Function of the relay whose start is watched in simulated time; `None`: all of the trip.
    pub(super) function: Option<String>,
    pub(super) signal: RampSignal,
}

impl PickUp {
    /// The ramp through these phases.
    pub(super) fn ramp(&self, phases: &str) -> CurrentRamp {
        let part = |percent: f64| self.setting_a * percent / 100.0;
        CurrentRamp {
            phases: phases.to_owned(),
            setting_a: self.setting_a,
            error_percent: self.error_percent,
            from_a: part(self.from_percent),
            step_a: part(self.step_percent),
            step_ns: self.step_ns,
            steps: self.steps(),
            signal: self.signal,
        }
    }

    /// Steps upwards.
    pub(super) fn steps(&self) -> u32 {
        ((self.to_percent - self.from_percent) / self.step_percent).round() as u32
    }

    pub(super) fn groups(&self) -> Vec<Group> {
        let group = |phases: &String| Group {
            label: phases.clone(),
            what: format!(
                "current in {phases} from {} to {} % of {} A and back, {} % each step",
                self.from_percent, self.to_percent, self.setting_a, self.step_percent
            ),
            trips: true,
            stays: false,
            within_ns: self.ramp(phases).allowed_ns().map(|[_, latest]| latest),
            selection: Selection::default(),
        };
        self.phases.iter().map(group).collect()
    }

    pub(super) fn shot(&self, group: usize) -> (Synth, Expect, Cell, PointOnWave) {
        let ramp = self.ramp(&self.phases[group]);
        let nominal = self.operating(&ramp.phases, ramp.from_a);
        let state = |step: u32| State {
            duration_ns: Some(ramp.step_ns),
            ..State::steady(
                &format!("step {}", step + 1),
                self.operating(&ramp.phases, ramp.step_current_a(step)),
            )
        };
        let synth = Synth {
            states: (0..2 * ramp.steps).map(state).collect(),
            nominal,
            ..Synth::default()
        };
        let [soonest, latest] = ramp.allowed_ns().map_or([None; 2], |both| both.map(Some));
        let expect = Expect::Trip {
            within_ns: latest,
            soonest_ns: soonest,
        };
        let point = PointOnWave::anywhere(synth.nominal.voltage_angles_deg[0]);
        (synth, expect, Cell::Ramp(ramp), point)
    }

    /// A current far above the setting, after which each of the relay's overcurrent stages operates.
    pub(super) fn reference(&self, name: &str, what: &str) -> Scenario {
        let state = State {
            duration_ns: Some(REFERENCE_NS),
            ..State::steady(
                "overcurrent",
                self.operating("ABC", REFERENCE_MULTIPLE * self.setting_a),
            )
        };
        Scenario {
            name: name.to_owned(),
            what: what.to_owned(),
            fault: state.name.clone(),
            wave: Wave::Synth(Synth {
                nominal: self.operating("ABC", 0.0),
                states: vec![state],
                ..Synth::default()
            }),
            expect: Expect::Trip {
                within_ns: None,
                soonest_ns: None,
            },
            selection: Selection::default(),
            flaw: None,
            notes: Vec::new(),
        }
    }

    fn operating(&self, phases: &str, current_a: f64) -> Operating {
        Operating {
            frequency_hz: self.frequency_hz,
            currents_a: ["A", "B", "C"].map(|phase| if phases.contains(phase) { current_a } else { 0.0 }),
            current_angles_deg: symmetrical(-30.0),
            voltages_v: [self.voltage_v; 3],
            voltage_angles_deg: symmetrical(0.0),
        }
    }
}
