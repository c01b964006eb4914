//! The reach of a distance zone along angles of the R-X plane (after IEC 60255-121).

use super::clearing::cleared;
use super::search::{Search, SearchLine, SearchScale};
use super::{Group, PointOnWave, ShotPlace};
use crate::network::{Complex, Fault, FaultType, Network, polar};
use crate::scenario::{Expect, Selection};
use crate::synth::{State, Synth};
use model::{Cell, Characteristic};

/// Point on wave of the loop's voltage at which faults begin, in degrees: its crest.
const POINT_DEG: f64 = 90.0;

/// Part of the reach at which the reference shot is, in percent.
const REFERENCE_PERCENT: f64 = 50.0;

/// Impedance before each shot as a multiple of that of the shot, or of the border if that is more, and its duration in cycles: from there, a filter has
/// only a small jump to settle, as in a ramp.
const APPROACH: f64 = 1.3;
const APPROACH_CYCLES: f64 = 5.0;

/// The shape of the zone by its settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ReachShape {
    /// A circle with the reach as its diameter.
    Mho,
    /// A reactance line through the reach, and blinders parallel to the line at these resistances in ohm: of loops between phases, and to earth.
    Quadrilateral { phase_ohm: f64, earth_ohm: f64 },
}

/// The search.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reach {
    pub(super) frequency_hz: f64,
    /// Voltage from phase to phase in V.
    pub(super) source_v: f64,
    pub(super) source_ohm: Complex,
    pub(super) k0: Complex,
    /// The reach in positive sequence.
    pub(super) reach_ohm: Complex,
    pub(super) shape: ReachShape,
    pub(super) loops: Vec<FaultType>,
    pub(super) angles_deg: Vec<f64>,
    pub(super) scale: SearchScale,
    pub(super) checks: usize,
    pub(super) within_ns: u64,
    pub(super) lasts_ns: u64,
}

impl Reach {
    /// Distance of the border from the origin at this angle, in ohm; `None` if the zone has none there.
    pub(super) fn wanted_ohm(&self, fault: FaultType, deg: f64) -> Option<f64> {
        let unit = polar(1.0, deg);
        let ohm = match self.shape {
            ReachShape::Mho => self.reach_ohm.re * unit.re + self.reach_ohm.im * unit.im,
            ReachShape::Quadrilateral { phase_ohm, earth_ohm } => {
                let resistance = if is_earth(fault) { earth_ohm } else { phase_ohm };
                let aside = (unit.re - unit.im * self.reach_ohm.re / self.reach_ohm.im).abs();
                let upwards = if unit.im > 0.0 {
                    self.reach_ohm.im / unit.im
                } else {
                    f64::INFINITY
                };
                upwards.min(resistance / aside)
            }
        };
        (ohm.is_finite() && ohm > 0.0).then_some(ohm)
    }

    pub(super) fn search(&self) -> Search {
        let angles = 0..self.angles_deg.len();
        let lines = (0..self.loops.len()).flat_map(|group| angles.clone().map(move |angle| (group, angle)));
        Search::new(self.scale, lines.collect(), self.checks, true)
    }

    pub(super) fn groups(&self) -> Vec<Group> {
        let group = |fault: &FaultType| Group {
            label: fault.to_string(),
            what: format!(
                "{fault} faults along {} angles, the border of the zone to {} %",
                self.angles_deg.len(),
                self.scale.step_percent
            ),
            trips: true,
            stays: true,
            within_ns: Some(self.within_ns),
            selection: Selection::default(),
        };
        self.loops.iter().map(group).collect()
    }

    /// A fault in the middle of the zone, at the angle nearest to that of the reach.
    pub(super) fn surest(&self) -> ShotPlace {
        let off = |at: &usize| (self.angles_deg[*at] - self.reach_ohm.arg().to_degrees()).abs();
        let angle = (0..self.angles_deg.len()).min_by(|one, other| off(one).total_cmp(&off(other)));
        let steps = (REFERENCE_PERCENT - self.scale.least_percent) / self.scale.step_percent;
        ShotPlace {
            group: 0,
            position: steps.round() as usize,
            point: angle.unwrap_or(0),
        }
    }

    pub(super) fn shot(&self, place: ShotPlace) -> (Synth, Expect, Cell, PointOnWave) {
        let (fault, deg) = (self.loops[place.group], self.angles_deg[place.point]);
        // Every angle was checked to have a border.
        let wanted = self.wanted_ohm(fault, deg).unwrap_or(f64::NAN);
        let line = SearchLine {
            of: Characteristic::Reach,
            fault: fault.to_string(),
            along: deg,
            wanted,
            within_ns: self.within_ns,
            approach_ns: self.approach_ns(),
        };
        let (shot, expect) = self.scale.shot(line, place.position);
        let point = PointOnWave::of_loop(POINT_DEG, fault);
        let ohm = [shot.value.max(wanted) * APPROACH, shot.value].map(|ohm| polar(ohm, deg));
        (self.signal(fault, ohm, &point), expect, Cell::Edge(shot), point)
    }

    /// Duration of the state before the fault, in ns: whole cycles, so that the fault begins at the same point on wave.
    fn approach_ns(&self) -> u64 {
        (APPROACH_CYCLES / self.frequency_hz * 1e9) as u64
    }

    /// A fault whose loop measures the first and then the second of these impedances, without a decaying component.
    fn signal(&self, kind: FaultType, [before, ohm]: [Complex; 2], point: &PointOnWave) -> Synth {
        let fault = Fault {
            kind,
            position: 1.0,
            resistance_ohm: 0.0,
        };
        let state = |name: &str, ohm: Complex, duration_ns: u64| State {
            duration_ns: Some(duration_ns),
            ..State::steady(name, self.network(ohm).during(&fault))
        };
        let first = state(&kind.to_string(), ohm, self.lasts_ns);
        let mut states = vec![state("approach", before, self.approach_ns())];
        states.extend(cleared(&self.network(ohm), &fault, first, point.phase_deg()));
        Synth {
            nominal: self.network(ohm).before(),
            states,
            ..Synth::default()
        }
    }

    /// A network whose line has this impedance.
    fn network(&self, ohm: Complex) -> Network {
        let zero = self.k0 * 3.0 + 1.0;
        Network {
            frequency_hz: self.frequency_hz,
            source_v: self.source_v,
            source_ohm: [self.source_ohm, self.source_ohm * zero],
            line_ohm: [ohm, ohm * zero],
            load_a: Complex::default(),
        }
    }
}

fn is_earth(fault: FaultType) -> bool {
    matches!(fault, FaultType::Ag | FaultType::Bg | FaultType::Cg)
}
