//! `[reach]` of a type test's file.

use super::file::{all_within, different, lasts, within};
use super::reach::{Reach, ReachShape};
use super::search::SearchScale;
use crate::WaveformError;
use crate::network::{FaultType, fifty, polar};
use crate::synth::Duration;
use serde::Deserialize;

/// Lowest and highest value of a search, in percent of the border by the settings.
const LEAST_PERCENT: f64 = 10.0;
const MOST_PERCENT: f64 = 200.0;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileReach {
    #[serde(default = "fifty")]
    frequency_hz: f64,
    source_v: f64,
    source_ohm: f64,
    source_angle_deg: f64,
    k0: f64,
    #[serde(default)]
    k0_deg: f64,
    reach_ohm: f64,
    angle_deg: f64,
    quadrilateral: Option<FileBlinders>,
    loops: Vec<FaultType>,
    angles_deg: Vec<f64>,
    error_percent: f64,
    resolution_percent: f64,
    within: Duration,
    lasts: Duration,
}

/// Resistive reach of a quadrilateral zone.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileBlinders {
    phase_ohm: f64,
    earth_ohm: f64,
}

impl FileReach {
    /// A search with this many shots on each side of a border at the end.
    pub(super) fn checked(self, checks: usize) -> Result<Reach, WaveformError> {
        within("reach.frequency_hz", self.frequency_hz, 15.0, 70.0)?;
        within("reach.source_v", self.source_v, 1.0, 2e6)?;
        within("reach.source_ohm", self.source_ohm, 0.001, 1_000.0)?;
        within("reach.source_angle_deg", self.source_angle_deg, 30.0, 90.0)?;
        within("reach.k0", self.k0, 0.0, 5.0)?;
        within("reach.k0_deg", self.k0_deg, -180.0, 180.0)?;
        within("reach.reach_ohm", self.reach_ohm, 0.01, 1_000.0)?;
        within("reach.angle_deg", self.angle_deg, 10.0, 90.0)?;
        within("reach.error_percent", self.error_percent, 0.1, 50.0)?;
        within(
            "reach.resolution_percent",
            self.resolution_percent,
            0.05,
            self.error_percent,
        )?;
        all_within("reach.angles_deg", &self.angles_deg, -90.0, 180.0)?;
        different("reach.loops", &self.loops)?;
        lasts("reach.lasts", self.lasts.0)?;
        if self.within.0 > self.lasts.0 {
            return Err(WaveformError::setting("reach.within: longer than the fault lasts"));
        }
        let test = Reach {
            frequency_hz: self.frequency_hz,
            source_v: self.source_v,
            source_ohm: polar(self.source_ohm, self.source_angle_deg),
            k0: polar(self.k0, self.k0_deg),
            reach_ohm: polar(self.reach_ohm, self.angle_deg),
            shape: shape(self.quadrilateral.as_ref())?,
            loops: self.loops,
            angles_deg: self.angles_deg,
            scale: SearchScale {
                least_percent: LEAST_PERCENT,
                most_percent: MOST_PERCENT,
                step_percent: self.resolution_percent,
                error_percent: self.error_percent,
            },
            checks,
            within_ns: self.within.0,
            lasts_ns: self.lasts.0,
        };
        has_borders(&test)?;
        Ok(test)
    }
}

fn shape(blinders: Option<&FileBlinders>) -> Result<ReachShape, WaveformError> {
    let Some(&FileBlinders { phase_ohm, earth_ohm }) = blinders else {
        return Ok(ReachShape::Mho);
    };
    within("reach.quadrilateral.phase_ohm", phase_ohm, 0.01, 1_000.0)?;
    within("reach.quadrilateral.earth_ohm", earth_ohm, 0.01, 1_000.0)?;
    Ok(ReachShape::Quadrilateral { phase_ohm, earth_ohm })
}

/// Refuses angles at which the zone has no border, or one so near to the origin that a fault there has no voltage.
fn has_borders(test: &Reach) -> Result<(), WaveformError> {
    let least = test.reach_ohm.norm() / 20.0;
    for fault in &test.loops {
        for deg in &test.angles_deg {
            if test.wanted_ohm(*fault, *deg).is_none_or(|ohm| ohm < least) {
                return Err(WaveformError::setting(format!(
                    "reach.angles_deg has {deg}: the zone of {fault} faults has no border there, or one of less than {least:.3} ohm: leave it out"
                )));
            }
        }
    }
    Ok(())
}
