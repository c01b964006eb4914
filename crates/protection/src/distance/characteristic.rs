//! Decides if a loop impedance is inside a zone.

use super::loops::{Loop, Loops};
use super::settings::{MhoPolarising, PdisSettings, Shape};
use crate::complex::Complex;
use crate::direction::Mode;

/// Extension of the reach for a loop that has started: the reset ratio of distance zones.
const RESET: f64 = 1.05;

/// Polarising voltage of one instant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Polarising {
    /// Positive sequence mixed with its value before the fault, in V of phase A; `None` if too low.
    pub(super) voltage: Option<Complex>,
    /// Smallest loop voltage whose angle can be used, in V.
    pub(super) least_v: f64,
}

/// A zone in the plane of the loop impedance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Zone {
    shape: Shape,
    reach: Complex,
    /// R over X along the line.
    slope: f64,
    sign: f64,
    /// Minimum resistance of the load, ohm, and the tangent of its angle.
    load: Option<(f64, f64)>,
}

impl Zone {
    pub(super) fn new(settings: &PdisSettings) -> Self {
        let reach = settings.reach();
        Self {
            shape: settings.shape,
            slope: reach.re / reach.im,
            reach,
            sign: match settings.mode {
                Mode::Forward => 1.0,
                Mode::Reverse => -1.0,
            },
            load: settings
                .load
                .map(|load| (load.resistance_ohm, load.angle_deg.to_radians().tan())),
        }
    }

    /// True if `each` is inside the zone; `started`: true if it was inside in the previous run of
    /// the task.
    pub(super) fn contains(&self, loops: &Loops, each: Loop, polarising: Polarising, started: bool) -> bool {
        let further = if started { RESET } else { 1.0 };
        let current = loops.current(each) * self.sign;
        let memory = || polarising.voltage.map(|voltage| each.polarised(voltage));
        let own = loops.voltage(each);
        let with_angle = || Some(own).filter(|own| own.is_at_least(polarising.least_v));
        let inside = match self.shape {
            Shape::Mho { polarising } => {
                let against = match polarising {
                    MhoPolarising::OwnVoltage => with_angle().or_else(memory),
                    MhoPolarising::Memory => memory(),
                };
                against.is_some_and(|against| (self.reach * further * current - own).dot(against) >= 0.0)
            }
            Shape::Quadrilateral {
                phase_resistance_ohm,
                earth_resistance_ohm,
                below_deg,
                beyond_deg,
            } => {
                let resistance = if each.is_earth() {
                    earth_resistance_ohm
                } else {
                    phase_resistance_ohm
                };
                let within = loops.impedance(each).is_some_and(|impedance| {
                    let impedance = impedance * self.sign;
                    let aside = impedance.re - impedance.im * self.slope;
                    impedance.im <= self.reach.im * further && aside.abs() <= resistance * further
                });
                within
                    && memory().or_else(with_angle).is_some_and(|against| {
                        let angle = (against * current.conj()).arg_degrees();
                        -below_deg < angle && angle < beyond_deg
                    })
            }
        };
        inside && !self.is_load(loops, each)
    }

    /// True if a loop impedance is in the load area, in either direction.
    fn is_load(&self, loops: &Loops, each: Loop) -> bool {
        let Some((resistance, tangent)) = self.load else {
            return false;
        };
        loops.impedance(each).is_some_and(|impedance| {
            let across = impedance.re.abs();
            across > resistance && impedance.im.abs() < across * tangent
        })
    }
}
