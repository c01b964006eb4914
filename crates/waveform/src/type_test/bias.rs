//! The bias characteristic of a differential function (after IEC 60255-187-1): the differential current that operates, over the restraining one.

use super::search::{Search, SearchLine, SearchScale};
use super::{Group, PointOnWave, ShotPlace};
use crate::network::FaultType;
use crate::scenario::{Expect, Selection, Wave};
use crate::synth::{Operating, State, Synth, symmetrical};
use model::{Cell, Characteristic};
use serde::Deserialize;

/// Point on wave of phase a at which the differential current begins, in degrees: its crest, always the same so that a relay decides steadily.
const POINT_DEG: f64 = 90.0;

/// Part of the differential current of a shot, or of the border if that is less, at which its approach is; and the duration of the approach in
/// cycles: from there, a filter has only a small jump to settle, as in a ramp.
const APPROACH: f64 = 1.0 / 1.1;
const APPROACH_CYCLES: f64 = 5.0;

/// The relay's restraining current, of the currents into the object at both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Restraint {
    /// Half the magnitude of their difference.
    HalfDifference,
    /// Half the sum of their magnitudes.
    HalfSum,
    /// The sum of their magnitudes.
    Sum,
    /// The larger magnitude.
    Largest,
}

/// The search.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bias {
    pub(super) frequency_hz: f64,
    /// Voltage from phase to phase in V.
    pub(super) voltage_v: f64,
    /// Rated current of the object at each side, in A.
    pub(super) rated_current_a: [f64; 2],
    /// Angle of the far side's currents before those of the near side, in degrees: the vector group of a transformer.
    pub(super) far_shift_deg: f64,
    pub(super) restraint: Restraint,
    /// Restraining and differential current of the corners of the characteristic, in x rated; between them it is straight.
    pub(super) points: Vec<[f64; 2]>,
    /// Restraining currents of the lines.
    pub(super) restraints: Vec<f64>,
    pub(super) phases: Vec<String>,
    pub(super) scale: SearchScale,
    pub(super) checks: usize,
    pub(super) within_ns: u64,
    pub(super) lasts_ns: u64,
}

impl Bias {
    /// The differential current of the characteristic at a restraining current; beyond its last corner it goes on as before it.
    pub(super) fn wanted(&self, restraint: f64) -> f64 {
        let at = self.points.iter().position(|[other, _]| *other >= restraint);
        let second = at.unwrap_or(self.points.len() - 1).max(1);
        let [[from, low], [to, high]] = [self.points[second - 1], self.points[second]];
        low + (high - low) * (restraint - from) / (to - from)
    }

    /// Currents into the object at both sides, in x rated and in one direction: negative is out of it. `None` if no two currents have this restraining
    /// and this differential current.
    pub(super) fn currents(&self, restraint: f64, differential: f64) -> Option<[f64; 2]> {
        let half = differential / 2.0;
        let through = match self.restraint {
            Restraint::HalfDifference | Restraint::HalfSum => restraint,
            Restraint::Sum => restraint / 2.0,
            Restraint::Largest => restraint - half,
        };
        let is_possible = self.restraint == Restraint::HalfDifference || through >= half;
        is_possible.then_some([half + through, half - through])
    }

    pub(super) fn search(&self) -> Search {
        let points = 0..self.restraints.len();
        let lines = (0..self.phases.len()).flat_map(|group| points.clone().map(move |point| (group, point)));
        Search::new(
            self.scale,
            lines.collect(),
            self.checks,
            Characteristic::Bias.trips_below(),
        )
    }

    pub(super) fn groups(&self) -> Vec<Group> {
        let group = |phases: &String| Group {
            label: phases.clone(),
            what: format!(
                "differential current in {phases} at {} restraining currents, its border to {} %",
                self.restraints.len(),
                self.scale.step_percent
            ),
            trips: true,
            stays: true,
            within_ns: Some(self.within_ns),
            selection: Selection::default(),
        };
        self.phases.iter().map(group).collect()
    }

    /// The largest differential current of the first line.
    pub(super) fn surest(&self) -> ShotPlace {
        ShotPlace {
            group: 0,
            position: self.scale.last(),
            point: 0,
        }
    }

    pub(super) fn shot(&self, place: ShotPlace) -> (Wave, Expect, Cell, PointOnWave) {
        let (phases, restraint) = (&self.phases[place.group], self.restraints[place.point]);
        let wanted = self.wanted(restraint);
        let line = SearchLine {
            of: Characteristic::Bias,
            fault: phases.clone(),
            along: restraint,
            wanted,
            within_ns: self.within_ns,
            approach_ns: self.approach_ns(),
        };
        let (shot, expect) = self.scale.shot(line, place.position);
        let courses = [0.0, shot.value.min(wanted) * APPROACH, shot.value].map(|differential| {
            // Every line was checked to be possible up to its end.
            self.currents(restraint, differential).unwrap_or([f64::NAN; 2])
        });
        let sides = [0, 1].map(|side| self.side(side, phases, courses.map(|currents| currents[side])));
        let point = PointOnWave::of_loop(POINT_DEG, FaultType::Abc);
        (Wave::Sides(Box::new(sides)), expect, Cell::Edge(shot), point)
    }

    /// Duration of the state before the fault, in ns.
    fn approach_ns(&self) -> u64 {
        (APPROACH_CYCLES / self.frequency_hz * 1e9) as u64
    }

    /// A side with these currents in x rated: before, in the approach and in the fault.
    fn side(&self, side: usize, phases: &str, [before, approach, fault]: [f64; 3]) -> Wave {
        let state = |name: &str, current: f64, duration_ns: u64| State {
            duration_ns: Some(duration_ns),
            ..State::steady(name, self.operating(side, phases, current))
        };
        Wave::Synth(Synth {
            nominal: self.operating(side, phases, before),
            states: vec![
                state("approach", approach, self.approach_ns()),
                state(phases, fault, self.lasts_ns),
            ],
            // The differential current ends at its zero, where it is one of both sides.
            clears: true,
            ..Synth::default()
        })
    }

    fn operating(&self, side: usize, phases: &str, current: f64) -> Operating {
        let rated_a = self.rated_current_a[side];
        let shift_deg = if side == 1 { self.far_shift_deg } else { 0.0 };
        let turned_deg = if current < 0.0 { 180.0 } else { 0.0 };
        Operating {
            frequency_hz: self.frequency_hz,
            currents_a: ["A", "B", "C"].map(|phase| match phases.contains(phase) {
                true => current.abs() * rated_a,
                false => 0.0,
            }),
            current_angles_deg: symmetrical(shift_deg + turned_deg),
            voltages_v: [self.voltage_v / 3_f64.sqrt(); 3],
            voltage_angles_deg: symmetrical(shift_deg),
        }
    }
}
