//! Symmetrical components and imbalance.

use crate::function::{Inputs, Node, Source};
use crate::measure::{Blocks, Channels, Sequence};

/// MSQI: the symmetrical components of one instant, and the imbalance of the phases.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Msqi {
    /// Currents in A (`SeqA`).
    pub current: Sequence,
    /// Voltages in V (`SeqV`).
    pub voltage: Sequence,
    /// `I2 / I1` (`ImbNgA`); `None` at zero current.
    pub current_imbalance: Option<f64>,
    /// `U2 / U1` (`ImbNgV`); `None` at zero voltage.
    pub voltage_imbalance: Option<f64>,
    /// `U0 / U1` (`ImbZroV`); `None` at zero voltage.
    pub zero_voltage_imbalance: Option<f64>,
}

impl Msqi {
    /// The name of the logical node.
    pub const NODE: Node = Node {
        class: "MSQI",
        ansi: "",
    };

    /// The components of the sets that `source` names.
    ///
    /// # Errors
    /// Reasons why the sets cannot be used.
    pub fn of(inputs: &Inputs<'_>, source: Source) -> Result<Self, Blocks> {
        let (current, voltage) = source.both(inputs, Channels::PHASE_CURRENTS, Channels::PHASE_VOLTAGES)?;
        let (current, voltage) = (current.current_sequence, voltage.voltage_sequence);
        let share = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole).filter(|share| share.is_finite());
        Ok(Self {
            current_imbalance: share(current.negative.norm(), current.positive.norm()),
            voltage_imbalance: share(voltage.negative.norm(), voltage.positive.norm()),
            zero_voltage_imbalance: share(voltage.zero.norm(), voltage.positive.norm()),
            current,
            voltage,
        })
    }
}
