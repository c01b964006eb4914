//! Direction of each phase.

use serde::Deserialize;

use super::Mode;
use super::memory::VoltageMemory;
use crate::complex::Complex;
use crate::error::{Check, SettingError};
use crate::function::Direction;
use crate::measure::{Measured, Sequence};
use crate::rated::Rated;

/// The voltage that a phase current is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Polarising {
    /// The voltage of the two other phases: U_BC for I_A (90-degree connection).
    #[default]
    Quadrature,
    /// The positive sequence, rotated to the angles of U_BC, U_CA, U_AB in a healthy system.
    PositiveSequence,
}

/// Behaviour of a phase whose direction cannot be determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undecided {
    /// Does not operate.
    #[default]
    Hold,
    /// Operates without direction.
    Release,
}

/// Settings of RDIR for phase currents (67).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PhaseDirectionSettings {
    /// The direction in which it operates.
    pub mode: Mode,
    /// The polarising voltage.
    pub polarising: Polarising,
    /// Characteristic angle in degrees, -95 to 95: lead of the current of a forward fault over U_BC.
    pub characteristic_deg: f64,
    /// Half of the operating sector in degrees, 60 to 90.
    pub sector_deg: f64,
    /// Least current in x In, 0.01 to 1.
    pub least_current: f64,
    /// Least polarising voltage in x rated, 0.005 to 0.5; below it the remembered voltage is used.
    pub least_voltage: f64,
    /// Time for which the voltage before the fault is kept, in ms, 0 to 5000.
    pub memory_ms: f64,
    /// Behaviour of a phase whose direction cannot be determined.
    pub undecided: Undecided,
}

impl Default for PhaseDirectionSettings {
    /// Forward, 90-degree connection at +45, sector of 85 degrees to both sides, memory of 2 s (our reference, 3.10).
    fn default() -> Self {
        Self {
            mode: Mode::Forward,
            polarising: Polarising::Quadrature,
            characteristic_deg: 45.0,
            sector_deg: 85.0,
            least_current: 0.05,
            least_voltage: 0.02,
            memory_ms: 2000.0,
            undecided: Undecided::Hold,
        }
    }
}

/// The directional element of phase currents.
#[derive(Debug, Clone)]
pub struct PhaseDirection {
    settings: PhaseDirectionSettings,
    turn: Complex,
    /// Cosine of half the sector.
    cosine: f64,
    least_a: f64,
    least_v: f64,
    memory: VoltageMemory,
}

impl PhaseDirection {
    /// The element with these settings.
    ///
    /// # Errors
    /// A setting outside its range.
    pub fn new(settings: PhaseDirectionSettings, rated: &Rated) -> Result<Self, SettingError> {
        let check = Check("RDIR");
        check.range(
            "characteristic-deg",
            settings.characteristic_deg,
            "degrees",
            -95.0..=95.0,
        )?;
        check.range("sector-deg", settings.sector_deg, "degrees", 60.0..=90.0)?;
        check.range("least-current", settings.least_current, "x In", 0.01..=1.0)?;
        check.range("least-voltage", settings.least_voltage, "x Un", 0.005..=0.5)?;
        check.range("memory-ms", settings.memory_ms, "ms", 0.0..=5000.0)?;
        Ok(Self {
            turn: Complex::degrees(1.0, settings.characteristic_deg),
            cosine: settings.sector_deg.to_radians().cos(),
            least_a: settings.least_current * rated.current_a,
            least_v: settings.least_voltage * rated.voltage_v,
            memory: VoltageMemory::new(settings.memory_ms, rated),
            settings,
        })
    }

    /// Direction of each phase, and the phases that may operate.
    pub fn step(&mut self, current: &Measured, voltage: &Measured) -> ([Direction; 3], [bool; 3]) {
        let positive = voltage.voltage_sequence.positive;
        self.memory.step(voltage.at, positive);
        let [ab, bc, ca] = voltage.phase_to_phase();
        let polarising = match self.settings.polarising {
            Polarising::Quadrature => [bc, ca, ab],
            Polarising::PositiveSequence => quadrature(positive),
        };
        let remembered = self.memory.remembered(voltage.at).map(quadrature);
        let mut directions = [Direction::Unknown; 3];
        for (phase, direction) in directions.iter_mut().enumerate() {
            let mut against = polarising[phase];
            if !against.is_at_least(self.least_v) {
                let Some(remembered) = remembered else { continue };
                against = remembered[phase];
            }
            *direction = self.of(current.current[phase], against);
        }
        let wanted = match self.settings.mode {
            Mode::Forward => Direction::Forward,
            Mode::Reverse => Direction::Reverse,
        };
        let release = self.settings.undecided == Undecided::Release;
        let permitted = directions.map(|each| each == wanted || release && each == Direction::Unknown);
        (directions, permitted)
    }

    /// Clears the remembered voltage.
    pub fn reset(&mut self) {
        self.memory.reset();
    }

    fn of(&self, current: Complex, polarising: Complex) -> Direction {
        if !current.is_at_least(self.least_a) {
            return Direction::Unknown;
        }
        let along = current.dot(polarising * self.turn);
        let edge = (current.norm_sqr() * polarising.norm_sqr()).sqrt() * self.cosine;
        if along >= edge {
            Direction::Forward
        } else if along <= -edge {
            Direction::Reverse
        } else {
            Direction::Unknown
        }
    }
}

/// U_BC, U_CA, U_AB of a positive-sequence voltage.
fn quadrature(positive: Complex) -> [Complex; 3] {
    let sequence = Sequence {
        positive,
        ..Sequence::default()
    };
    let [a, b, c] = sequence.phases();
    [b - c, c - a, a - b]
}
