//! Settings of a distance zone.

use serde::Deserialize;

use crate::complex::Complex;
use crate::direction::Mode;
use crate::error::{Check, SettingError};
use crate::function::Source;

/// The polarising voltage of a mho circle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MhoPolarising {
    /// 0.8 of the positive-sequence voltage plus 0.2 of the voltage before the fault: works for close faults, and expands with the impedance of the
    /// source. The weights are our choice.
    #[default]
    Memory,
    /// The loop's own voltage: a circle through the origin.
    OwnVoltage,
}

/// The shape of a zone in the plane of the loop impedance.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Shape {
    /// A circle with the reach as its diameter.
    Mho {
        /// The polarising voltage.
        polarising: MhoPolarising,
    },
    /// A parallelogram along the line, limited by two directional rays.
    Quadrilateral {
        /// Resistive reach of phase loops to both sides of the line, in ohm of the loop, 0.01 to 1000.
        phase_resistance_ohm: f64,
        /// Resistive reach of earth loops, in ohm of the loop, 0.01 to 1000.
        earth_resistance_ohm: f64,
        /// Angle by which the zone extends below the R axis, in degrees, 5 to 45 (ArgDir).
        below_deg: f64,
        /// Angle of the zone's other ray from the R axis, in degrees, 90 to 140 (ArgNegRes).
        beyond_deg: f64,
    },
}

impl Default for Shape {
    fn default() -> Self {
        Self::Mho {
            polarising: MhoPolarising::Memory,
        }
    }
}

/// The load area of the plane: never in a zone.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LoadEncroachment {
    /// Minimum resistance of the load in ohm, 0.05 to 3000.
    pub resistance_ohm: f64,
    /// Angle of load to both sides of the R axis in degrees, 5 to 60.
    pub angle_deg: f64,
}

/// Settings of PDIS (21), one zone. Impedances are primary ohm.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PdisSettings {
    /// Source of currents and voltages.
    pub source: Source,
    /// Number of the zone, 1 to 5.
    pub zone: u32,
    /// Shape of the zone.
    pub shape: Shape,
    /// The direction in which it operates.
    pub mode: Mode,
    /// Reach in ohm of positive sequence, 0.01 to 1000.
    pub reach_ohm: f64,
    /// Angle of the line in degrees, 30 to 90.
    pub line_deg: f64,
    /// Magnitude of the residual compensation `K0 = (Z0 - Z1) / (3 Z1)`, 0 to 4.
    pub k0: f64,
    /// Angle of the residual compensation in degrees, -180 to 180.
    pub k0_deg: f64,
    /// Delay of phase loops in ms, 0 to 60 000.
    pub phase_delay_ms: f64,
    /// Delay of earth loops in ms, 0 to 60 000.
    pub earth_delay_ms: f64,
    /// True if earth loops trip.
    pub earth_loops: bool,
    /// Minimum current of a loop in x In, 0.05 to 4; loops with less are ignored.
    pub least_current: f64,
    /// Consecutive runs of the task in the zone before it operates, 1 to 20.
    pub confirmations: u32,
    /// Time for which the voltage before the fault is kept, in ms, 0 to 5000; 200 ms at most on a line without current and voltage.
    pub memory_ms: f64,
    /// The load area; `None`: no area is excluded.
    pub load: Option<LoadEncroachment>,
    /// True if a power swing that the stream's supervision finds blocks the zone.
    pub swing_block: bool,
    /// True if the zone reaches less far while a current transformer is saturated; a zone with a delay of 100 ms or more keeps its reach.
    pub saturation: bool,
}

impl Default for PdisSettings {
    /// Zone 1, a mho of 3.2 ohm at 75 degrees, K0 0.67 at -7.5 degrees, no delay.
    fn default() -> Self {
        Self {
            source: Source::default(),
            zone: 1,
            shape: Shape::default(),
            mode: Mode::Forward,
            reach_ohm: 3.2,
            line_deg: 75.0,
            k0: 0.67,
            k0_deg: -7.5,
            phase_delay_ms: 0.0,
            earth_delay_ms: 0.0,
            earth_loops: true,
            least_current: 0.2,
            confirmations: 2,
            memory_ms: 2000.0,
            load: None,
            swing_block: true,
            saturation: true,
        }
    }
}

impl PdisSettings {
    /// Checks that the settings lie in their ranges.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn check(&self) -> Result<(), SettingError> {
        let check = Check("PDIS");
        check.range("zone", f64::from(self.zone), "", 1.0..=5.0)?;
        check.range("reach-ohm", self.reach_ohm, "ohm", 0.01..=1000.0)?;
        check.range("line-deg", self.line_deg, "degrees", 30.0..=90.0)?;
        check.range("k0", self.k0, "", 0.0..=4.0)?;
        check.range("k0-deg", self.k0_deg, "degrees", -180.0..=180.0)?;
        check.range("phase-delay-ms", self.phase_delay_ms, "ms", 0.0..=60_000.0)?;
        check.range("earth-delay-ms", self.earth_delay_ms, "ms", 0.0..=60_000.0)?;
        check.range("least-current", self.least_current, "x In", 0.05..=4.0)?;
        check.range("confirmations", f64::from(self.confirmations), "tasks", 1.0..=20.0)?;
        check.range("memory-ms", self.memory_ms, "ms", 0.0..=5000.0)?;
        if let Shape::Quadrilateral {
            phase_resistance_ohm,
            earth_resistance_ohm,
            below_deg,
            beyond_deg,
        } = self.shape
        {
            check.range("phase-resistance-ohm", phase_resistance_ohm, "ohm", 0.01..=1000.0)?;
            check.range("earth-resistance-ohm", earth_resistance_ohm, "ohm", 0.01..=1000.0)?;
            check.range("below-deg", below_deg, "degrees", 5.0..=45.0)?;
            check.range("beyond-deg", beyond_deg, "degrees", 90.0..=140.0)?;
        }
        if let Some(load) = self.load {
            check.range("load.resistance-ohm", load.resistance_ohm, "ohm", 0.05..=3000.0)?;
            check.range("load.angle-deg", load.angle_deg, "degrees", 5.0..=60.0)?;
        }
        Ok(())
    }

    /// The reach as an impedance, ohm.
    #[must_use]
    pub fn reach(&self) -> Complex {
        Complex::degrees(self.reach_ohm, self.line_deg)
    }

    /// The residual compensation.
    #[must_use]
    pub fn compensation(&self) -> Complex {
        Complex::degrees(self.k0, self.k0_deg)
    }
}

/// Checks that the zones of one relay are consistent: of zones in one direction, a higher one must reach further.
///
/// # Errors
/// Two zones that are inconsistent.
pub fn check_zones(zones: &[PdisSettings]) -> Result<(), SettingError> {
    for one in zones {
        for other in zones {
            let in_order = one.zone >= other.zone || one.mode != other.mode || one.reach_ohm < other.reach_ohm;
            Check("PDIS").together(in_order, || {
                format!(
                    "zone {} reaches {} ohm and zone {} only {} ohm: raise reach-ohm of zone {}",
                    one.zone, one.reach_ohm, other.zone, other.reach_ohm, other.zone
                )
            })?;
        }
    }
    Ok(())
}
