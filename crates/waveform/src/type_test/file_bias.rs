//! `[bias]` of a type test's file.

use super::bias::{Bias, Restraint};
use super::file::{all_within, different, lasts, within};
use super::search::SearchScale;
use crate::WaveformError;
use crate::network::fifty;
use crate::synth::Duration;
use serde::Deserialize;

/// Lowest and highest value of a search, in percent of the characteristic.
const LEAST_PERCENT: f64 = 30.0;
const MOST_PERCENT: f64 = 170.0;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileBias {
    #[serde(default = "fifty")]
    frequency_hz: f64,
    voltage_v: f64,
    rated_current_a: [f64; 2],
    #[serde(default)]
    far_shift_deg: f64,
    restraint: Restraint,
    points: Vec<[f64; 2]>,
    restraints: Vec<f64>,
    phases: Vec<String>,
    error_percent: f64,
    resolution_percent: f64,
    within: Duration,
    lasts: Duration,
}

impl FileBias {
    /// A search with this many shots on each side of a border at the end.
    pub(super) fn checked(self, checks: usize) -> Result<Bias, WaveformError> {
        within("bias.frequency_hz", self.frequency_hz, 15.0, 70.0)?;
        within("bias.voltage_v", self.voltage_v, 1.0, 2e6)?;
        for rated_a in self.rated_current_a {
            within("bias.rated_current_a", rated_a, 1.0, 5e4)?;
        }
        within("bias.far_shift_deg", self.far_shift_deg, -180.0, 180.0)?;
        within("bias.error_percent", self.error_percent, 0.1, 50.0)?;
        let resolution = self.resolution_percent;
        within("bias.resolution_percent", resolution, 0.05, self.error_percent)?;
        all_within("bias.restraints", &self.restraints, 0.01, 20.0)?;
        different("bias.phases", &self.phases)?;
        lasts("bias.lasts", self.lasts.0)?;
        let refused = |problem: &str| Err(WaveformError::setting(problem));
        if self.within.0 > self.lasts.0 {
            return refused("bias.within: longer than the current lasts");
        }
        if self
            .phases
            .iter()
            .any(|phases| !["A", "B", "C", "ABC"].contains(&phases.as_str()))
        {
            return refused("bias.phases: use A, B, C or ABC");
        }
        if self.far_shift_deg != 0.0 && self.phases.iter().any(|phases| phases != "ABC") {
            return refused("bias.far_shift_deg: a vector group mixes the phases: use phases = [\"ABC\"]");
        }
        let rise = self
            .points
            .windows(2)
            .all(|pair| pair[0][0] < pair[1][0] && pair[0][1] <= pair[1][1]);
        let positive = self.points.iter().flatten().all(|value| (0.0..=100.0).contains(value));
        if self.points.len() < 2 || !rise || !positive {
            return refused(
                "bias.points: give two corners at least, as [restraint, differential] in x rated, of which none falls behind the one before",
            );
        }
        let test = Bias {
            frequency_hz: self.frequency_hz,
            voltage_v: self.voltage_v,
            rated_current_a: self.rated_current_a,
            far_shift_deg: self.far_shift_deg,
            restraint: self.restraint,
            points: self.points,
            restraints: self.restraints,
            phases: self.phases,
            scale: SearchScale {
                least_percent: LEAST_PERCENT,
                most_percent: MOST_PERCENT,
                step_percent: resolution,
                error_percent: self.error_percent,
            },
            checks,
            within_ns: self.within.0,
            lasts_ns: self.lasts.0,
        };
        is_possible(&test)?;
        Ok(test)
    }
}

/// Refuses lines along which the characteristic has no border above zero, or on which no two currents lie.
fn is_possible(test: &Bias) -> Result<(), WaveformError> {
    for restraint in &test.restraints {
        let wanted = test.wanted(*restraint);
        if wanted < 0.01 {
            return Err(WaveformError::setting(format!(
                "bias.restraints has {restraint}: the characteristic is at {wanted:.3} x rated there: give points above 0.01"
            )));
        }
        if test.currents(*restraint, wanted * MOST_PERCENT / 100.0).is_none() {
            return Err(WaveformError::setting(format!(
                "bias.restraints has {restraint}: no two currents have this restraining current and {:.2} x rated of differential \
                 current, {MOST_PERCENT} % of the characteristic: leave it out, or make it larger",
                wanted * MOST_PERCENT / 100.0
            )));
        }
    }
    Ok(())
}
