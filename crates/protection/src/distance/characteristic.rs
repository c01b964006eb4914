//! Whether a loop impedance lies in a zone.

use super::loops::{Loop, Loops};
use super::settings::{LoadEncroachment, MhoPolarising, PdisSettings, Shape};
use crate::complex::Complex;
use crate::direction::Mode;

/// How much further a loop that has started reaches: the reset ratio of distance zones.
const RESET: f64 = 1.05;

/// Polarising voltage of one instant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Polarising {
    /// Positive sequence with that of before the fault, V of phase A; `None` if too low.
    pub(super) voltage: Option<Complex>,
    /// Least loop voltage that has an angle of its own, V.
    pub(super) least_v: f64,
}

/// Whether `each` lies in the zone; `started`: whether it did in the task before.
pub(super) fn inside(
    settings: &PdisSettings,
    loops: &Loops,
    each: Loop,
    polarising: Polarising,
    started: bool,
) -> bool {
    let Some(impedance) = loops.impedance(each) else {
        return false;
    };
    let sign = match settings.mode {
        Mode::Forward => 1.0,
        Mode::Reverse => -1.0,
    };
    let reach = settings.reach() * if started { RESET } else { 1.0 };
    let current = loops.current(each) * sign;
    let impedance = impedance * sign;
    if settings.load.is_some_and(|load| is_load(load, impedance)) {
        return false;
    }
    let memory = polarising.voltage.map(|voltage| each.polarised(voltage));
    let own = loops.voltage(each);
    let own_has_angle = own.norm() >= polarising.least_v;
    match settings.shape {
        Shape::Mho { polarising: kind } => {
            let against = match kind {
                MhoPolarising::OwnVoltage if own_has_angle => Some(own),
                MhoPolarising::OwnVoltage | MhoPolarising::Memory => memory,
            };
            against.is_some_and(|against| (reach * current - own).dot(against) >= 0.0)
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
            let aside = impedance.re - impedance.im * reach.re / reach.im;
            let within = impedance.im <= reach.im && aside.abs() <= resistance * if started { RESET } else { 1.0 };
            let against = memory.or(own_has_angle.then_some(own));
            let directed = against.is_some_and(|against| {
                let angle = (against * current.conj()).arg_degrees();
                -below_deg < angle && angle < beyond_deg
            });
            within && directed
        }
    }
}

/// Whether an impedance lies where load does, in either direction.
fn is_load(load: LoadEncroachment, impedance: Complex) -> bool {
    let angle = impedance.im.atan2(impedance.re.abs()).to_degrees();
    impedance.re.abs() > load.resistance_ohm && angle.abs() < load.angle_deg
}
