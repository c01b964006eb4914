//! A distance zone: source impedance ratio, position, fault type, point on wave (after IEC 60255-121).

use super::clearing::cleared;
use super::{Group, PointOnWave, ShotPlace};
use crate::network::{Complex, Fault, FaultType, Network, polar};
use crate::scenario::{Expect, Selection};
use crate::synth::Synth;
use model::Cell;

/// The faults of a zone's test. Positions and borders are percent of the reach.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Distance {
    pub(super) frequency_hz: f64,
    /// Voltage from phase to phase in V.
    pub(super) source_v: f64,
    /// Angle of the source's impedance in degrees, and its zero sequence as a multiple of the positive one.
    pub(super) source_deg: f64,
    pub(super) source_zero: f64,
    /// Positive and zero sequence up to the reach, in ohm.
    pub(super) reach_ohm: [Complex; 2],
    pub(super) sir: Vec<f64>,
    pub(super) positions: Vec<f64>,
    pub(super) types: Vec<FaultType>,
    pub(super) points_deg: Vec<f64>,
    /// Up to this position the relay must trip, in `within_ns`.
    pub(super) inside: f64,
    /// From this position on it must not trip.
    pub(super) beyond: f64,
    pub(super) within_ns: u64,
    pub(super) lasts_ns: u64,
}

impl Distance {
    /// Number of groups, positions and points on wave.
    pub(super) fn size(&self) -> (usize, usize, usize) {
        let groups = self.sir.len() * self.types.len();
        (groups, self.positions.len(), self.points_deg.len())
    }

    pub(super) fn groups(&self) -> Vec<Group> {
        let any = |is: &dyn Fn(f64) -> bool| self.positions.iter().any(|at| is(*at));
        let (trips, stays) = (any(&|at| at <= self.inside), any(&|at| at >= self.beyond));
        let each = self
            .sir
            .iter()
            .flat_map(|sir| self.types.iter().map(move |kind| (sir, kind)));
        let group = |(sir, kind): (&f64, &FaultType)| Group {
            label: format!("sir{sir}-{kind}"),
            what: format!(
                "{kind} faults, source impedance {sir} times that of the reach, positions and points on wave in turn"
            ),
            trips,
            stays,
            within_ns: Some(self.within_ns),
            selection: of_type(*kind),
        };
        each.map(group).collect()
    }

    /// The smallest position, at the smallest ratio.
    pub(super) fn surest(&self) -> ShotPlace {
        let least = |values: &[f64]| {
            let order = (0..values.len()).min_by(|one, other| values[*one].total_cmp(&values[*other]));
            order.unwrap_or(0)
        };
        // A fault at the relay itself has no voltage: the next position is more certain, if it is inside.
        let position = (0..self.positions.len())
            .filter(|at| (1.0..=self.inside).contains(&self.positions[*at]))
            .min_by(|one, other| self.positions[*one].total_cmp(&self.positions[*other]));
        ShotPlace {
            group: least(&self.sir) * self.types.len(),
            position: position.unwrap_or_else(|| least(&self.positions)),
            point: 0,
        }
    }

    pub(super) fn shot(&self, place: ShotPlace) -> (Synth, Expect, Cell, PointOnWave) {
        let (sir, kind) = (
            self.sir[place.group / self.types.len()],
            self.types[place.group % self.types.len()],
        );
        let position = self.positions[place.position];
        let cell = Cell::Distance {
            sir,
            fault: kind.to_string(),
            position,
        };
        let point = PointOnWave::of_loop(self.points_deg[place.point], kind);
        (
            self.signal(sir, kind, position, &point),
            self.expect(position),
            cell,
            point,
        )
    }

    /// The phases that must trip.
    pub(super) fn selection(&self, place: ShotPlace) -> Selection {
        of_type(self.types[place.group % self.types.len()])
    }

    fn signal(&self, sir: f64, kind: FaultType, position: f64, point: &PointOnWave) -> Synth {
        let network = self.network(sir);
        let fault = Fault {
            kind,
            position: position / 100.0,
            resistance_ohm: 0.0,
        };
        let first = fault.state(&network, &kind.to_string(), self.lasts_ns, 100.0);
        Synth {
            nominal: network.before(),
            states: cleared(&network, &fault, first, point.phase_deg()),
            ..Synth::default()
        }
    }

    /// A network whose line is as long as the reach.
    fn network(&self, sir: f64) -> Network {
        let source = polar(sir * self.reach_ohm[0].norm(), self.source_deg);
        Network {
            frequency_hz: self.frequency_hz,
            source_v: self.source_v,
            source_ohm: [source, source * self.source_zero],
            line_ohm: self.reach_ohm,
            load_a: Complex::default(),
        }
    }

    fn expect(&self, position: f64) -> Expect {
        if position <= self.inside {
            return Expect::Trip {
                within_ns: Some(self.within_ns),
                soonest_ns: None,
            };
        }
        match position >= self.beyond {
            true => Expect::NoTrip,
            false => Expect::Either,
        }
    }
}

fn of_type(kind: FaultType) -> Selection {
    let name = kind.to_string();
    Selection {
        phases: Some(["A", "B", "C"].map(|phase| name.contains(phase))),
        function: None,
    }
}
