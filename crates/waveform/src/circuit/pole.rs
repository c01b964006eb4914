//! Poles that conduct between two instants, and open at the zeros of their currents.

use super::branch::Three;
use super::matrix::Matrix;
use crate::network::FaultType;

/// Smallest resistance of a conducting path, in ohm.
const LEAST_OHM: f64 = 0.001;

/// Conductors that are connected to each other or to earth for some time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Connected {
    pub(super) node: usize,
    pub(super) kind: FaultType,
    pub(super) resistance_ohm: f64,
    pub(super) begin_s: f64,
    pub(super) end_s: f64,
}

/// State of a connection: the poles that conduct, and their currents one step before.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Poles {
    pub(super) closed: Three<bool>,
    pub(super) has_begun: bool,
    before: Three<f64>,
}

impl Poles {
    /// Poles in this state.
    pub(super) fn closed(closed: Three<bool>) -> Self {
        Self {
            closed,
            ..Self::default()
        }
    }

    /// True if no pole conducts any more.
    pub(super) fn is_over(&self) -> bool {
        self.has_begun && self.closed == [false; 3]
    }

    /// Opens the poles whose current has changed its sign; returns true if one has. With `may` false, the currents are only kept.
    pub(super) fn open(&mut self, currents: Three<f64>, may: bool) -> bool {
        let before = std::mem::replace(&mut self.before, currents);
        let mut has_opened = false;
        for phase in 0..3 {
            if may && self.closed[phase] && before[phase] * currents[phase] <= 0.0 {
                self.closed[phase] = false;
                has_opened = true;
            }
        }
        has_opened
    }
}

impl Connected {
    /// Phases that it connects.
    pub(super) fn phases(&self) -> Three<bool> {
        let name = self.kind.to_string();
        ["A", "B", "C"].map(|phase| name.contains(phase))
    }

    /// Conductances of a pole, and from the common point to earth, in S. The resistance is to earth in a fault of phases with earth, between the phases
    /// in one of two phases, otherwise in each phase.
    fn conductances(&self) -> (f64, f64) {
        let of = |ohm: f64| 1.0 / ohm.max(LEAST_OHM);
        match self.kind {
            FaultType::Ag | FaultType::Bg | FaultType::Cg => (of(self.resistance_ohm), of(0.0)),
            FaultType::Abg | FaultType::Bcg | FaultType::Cag => (of(0.0), of(self.resistance_ohm)),
            FaultType::Ab | FaultType::Bc | FaultType::Ca => (of(self.resistance_ohm / 2.0), 0.0),
            FaultType::Abc => (of(self.resistance_ohm), 0.0),
        }
    }

    /// Conductances between the phases of the node, as the closed poles connect them.
    fn between(&self, closed: Three<bool>) -> Three<Three<f64>> {
        let (pole, earth) = self.conductances();
        let poles = closed.map(|closed| if closed { pole } else { 0.0 });
        let sum = poles.iter().sum::<f64>() + earth;
        std::array::from_fn(|one| {
            std::array::from_fn(|other| {
                let own = if one == other { poles[one] } else { 0.0 };
                if sum > 0.0 {
                    own - poles[one] * poles[other] / sum
                } else {
                    0.0
                }
            })
        })
    }

    pub(super) fn stamp(&self, matrix: &mut Matrix, closed: Three<bool>) {
        for (phase, row) in self.between(closed).into_iter().enumerate() {
            for (other, value) in row.into_iter().enumerate() {
                matrix.add(3 * self.node + phase, 3 * self.node + other, value.into());
            }
        }
    }

    /// Currents of the poles at these voltages of the node.
    pub(super) fn currents(&self, closed: Three<bool>, volts: Three<f64>) -> Three<f64> {
        self.between(closed)
            .map(|row| (0..3).map(|other| row[other] * volts[other]).sum())
    }
}
