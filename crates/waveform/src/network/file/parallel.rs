//! A parallel line as a key of a scenario.

use super::{Complex, File, Measures, within};
use crate::WaveformError;
use crate::circuit::{Circuit, Pair};
use serde::Deserialize;

/// An equal line beside this one, from the same bus to the same end, and the coupling of their zero sequences over the whole length, in ohm.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileParallel {
    z0m_ohm: [f64; 2],
}

impl File {
    /// The parallel lines, if there are two.
    pub(super) fn pair(&self, circuit: &mut Circuit, line: [Complex; 2]) -> Result<Option<Pair>, WaveformError> {
        let refused = |why: &str| Err(WaveformError::setting(why));
        let Some(parallel) = self.parallel else {
            return match self.faults.iter().any(|fault| fault.parallel) {
                true => refused("network.fault.parallel: there is no parallel line: give [network.parallel]"),
                false => Ok(None),
            };
        };
        let [r, x] = parallel.z0m_ohm;
        within("parallel.z0m_ohm: resistance", r, 0.0, 1e7)?;
        within("parallel.z0m_ohm: reactance", x, 1e-3, 1e7)?;
        let mutual = Complex::new(r, x);
        let own = line[1] - mutual;
        if own.re <= 0.0 || own.im <= 0.0 {
            return refused("network.parallel.z0m_ohm: not below line.z0_ohm: the coupling is a part of it");
        }
        self.check_ratio("parallel", [mutual, own])?;
        let Some(position) = self.faults.first().map(|fault| fault.position) else {
            return refused("network.parallel: needs a [[network.fault]]");
        };
        if self.faults.iter().any(|fault| fault.position != position) || !(0.01..=0.99).contains(&position) {
            return refused(
                "network.fault.position: with a parallel line all faults are at one position, 0.01 to 0.99",
            );
        }
        if self.closes || self.measures == Measures::Line || self.far_side.is_some() {
            return refused("network.parallel: not together with closes, measures or far_side");
        }
        Ok(Some(circuit.parallel(line, mutual, position)))
    }
}
