//! The sensitive directional earth-fault function.

use super::neutral::{Cumulative, Floors, Neutral};
use super::peaks::Peaks;
use super::settings::{OperateCurrent, OperationMode, PsdeSettings};
use crate::complex::Complex;
use crate::direction::Mode;
use crate::error::SettingError;
use crate::function::{Direction, Function, Inputs, Node, Output};
use crate::measure::{Blocks, Channel, Channels, Measured};
use crate::phases::Phases;
use crate::rated::Rated;
use crate::timing::{Comparator, Delay, Pace};

/// Smallest harmonic phasors that are used as divisors: shares of In and Uph, our choice.
const HARMONIC_FLOOR: f64 = 0.005;

/// U0 in x Uph that counts as an earth fault while another function releases this one.
const RELEASED: f64 = 0.01;

/// The accumulated values of PSDE.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stabilised {
    /// Cumulative admittance, S: its angle is the direction.
    pub admittance: Complex,
    /// Stabilised current at the rated phase voltage, A: its real part is the resistive one. Independent of the fault's
    /// resistance.
    pub current: Complex,
}

/// PSDE (67YN): determines the direction of an earth fault from the cumulative neutral admittance of fundamental and harmonics, for any earthing of
/// the network and any kind of fault.
#[derive(Debug, Clone)]
pub struct Psde {
    settings: PsdeSettings,
    floors: Floors,
    rated_v: f64,
    rated_a: f64,
    quarter: u64,
    operate: u64,
    reset_delay: u64,
    released: bool,
    pace: Pace,
    voltage: Comparator,
    without_voltage: u64,
    since_added: u64,
    cumulative: Cumulative,
    peaks: Peaks,
    timer: Delay,
}

impl Psde {
    /// The function with these settings.
    ///
    /// # Errors
    /// A setting outside its range.
    pub fn new(settings: PsdeSettings, rated: &Rated) -> Result<Self, SettingError> {
        rated.check()?;
        settings.check()?;
        let rated_v = rated.phase_voltage_v();
        Ok(Self {
            floors: Floors {
                current_a: HARMONIC_FLOOR * rated.current_a,
                voltage_v: HARMONIC_FLOOR * rated_v,
            },
            rated_v,
            rated_a: rated.current_a,
            quarter: rated.samples_per_cycle().div_ceil(4),
            operate: rated.samples_in_ms(settings.operate_delay_ms),
            reset_delay: rated.samples_in_ms(settings.reset_delay_ms),
            settings,
            released: false,
            pace: Pace::default(),
            voltage: Comparator::default(),
            without_voltage: 0,
            since_added: 0,
            cumulative: Cumulative::default(),
            peaks: Peaks::default(),
            timer: Delay::default(),
        })
    }

    /// Sets the release: another function has detected an earth fault, so this one starts at a lower voltage (RELEASE).
    pub fn release(&mut self, released: bool) {
        self.released = released;
    }

    /// The accumulated values; `None` while there is no earth fault.
    #[must_use]
    pub fn stabilised(&self) -> Option<Stabilised> {
        let current = self.cumulative.stabilised()? * self.rated_v;
        (self.cumulative.count() > 0).then_some(Stabilised {
            admittance: self.cumulative.admittance(),
            current,
        })
    }

    /// True if there is an earth fault; clears all state when there has been none for the reset delay.
    fn is_earth_fault(&mut self, zero_v: f64, passed: u64) -> bool {
        let limit = if self.released {
            RELEASED
        } else {
            self.settings.voltage_start
        };
        let fault = self.voltage.above(zero_v, limit * self.rated_v, 0.96);
        self.without_voltage = if fault {
            0
        } else {
            self.without_voltage.saturating_add(passed)
        };
        if !fault && self.without_voltage >= self.reset_delay {
            self.forget();
        }
        fault
    }

    fn accumulate(&mut self, current: &Measured, voltage: &Measured, passed: u64) {
        self.since_added = self.since_added.saturating_add(passed);
        if self.cumulative.count() > 0 && self.since_added < self.quarter {
            return;
        }
        if let Some(found) = Neutral::of(current, voltage, self.floors, self.settings.harmonics) {
            self.since_added = 0;
            self.cumulative
                .add(found.sum, current.residual_current, voltage.residual_voltage / 3.0);
        }
    }

    fn direction(&self, admittance: Complex) -> Direction {
        let angle = admittance.arg_degrees();
        let tilt = self.settings.tilt_deg;
        if -(90.0 - tilt) < angle && angle < 90.0 + tilt {
            Direction::Forward
        } else {
            Direction::Reverse
        }
    }

    /// True if the operate current is high enough, in the set direction.
    fn is_enough(&self, found: &Stabilised) -> bool {
        let sign = match self.settings.mode {
            Mode::Forward => 1.0,
            Mode::Reverse => -1.0,
        };
        let resistive = sign * found.current.re;
        let amplitude = found.current.norm();
        let operating = match self.settings.current {
            OperateCurrent::Amplitude => amplitude,
            OperateCurrent::Resistive => resistive,
            OperateCurrent::Adaptive if (found.admittance * sign).arg_degrees() > 45.0 => amplitude,
            OperateCurrent::Adaptive => resistive,
        };
        operating > self.settings.least_current * self.rated_a
    }

    fn forget(&mut self) {
        self.since_added = 0;
        self.cumulative = Cumulative::default();
        self.peaks = Peaks::default();
        self.timer = Delay::default();
    }
}

impl Function for Psde {
    fn node(&self) -> Node {
        Node {
            class: "PSDE",
            ansi: "67YN",
        }
    }

    fn step(&mut self, inputs: &Inputs<'_>) -> Output {
        let source = self.settings.source;
        let sets = source
            .both(inputs, Channels::RESIDUAL_CURRENT, Channels::RESIDUAL_VOLTAGE)
            .and_then(|(current, voltage)| {
                let complete = !self.settings.harmonics || Neutral::has_harmonics(current, voltage);
                if complete {
                    Ok((current, voltage))
                } else {
                    Err(Blocks::MISSING)
                }
            });
        let (current, voltage) = match sets {
            Ok(sets) => sets,
            Err(blocks) => {
                self.reset();
                return Output::blocked(blocks);
            }
        };
        let passed = self.pace.passed(current.at);
        let fault = self.is_earth_fault(voltage.residual_voltage.norm() / 3.0, passed);
        let mut peaks = 0;
        if fault {
            self.accumulate(current, voltage, passed);
            let floor = self.settings.least_current * self.rated_a;
            peaks = self.peaks.step(current.rms[Channel::IN.index()], floor);
        }
        let found = self.stabilised();
        let direction = found
            .filter(|_| fault)
            .map_or(Direction::Unknown, |found| self.direction(found.admittance));
        let wanted = match self.settings.mode {
            Mode::Forward => Direction::Forward,
            Mode::Reverse => Direction::Reverse,
        };
        let started = direction == wanted && found.is_some_and(|found| self.is_enough(&found));
        let reset = match self.settings.operation {
            OperationMode::Alarming if fault => u64::MAX,
            _ => self.reset_delay,
        };
        let timed = self.timer.step(passed, started, self.operate, reset);
        let transients = self.settings.operation != OperationMode::Intermittent || peaks >= self.settings.peaks;
        Output {
            started: Phases::NEUTRAL.when(started),
            operated: Phases::NEUTRAL.when(timed && transients),
            direction,
            ..Output::default()
        }
    }

    fn reset(&mut self) {
        self.pace = Pace::default();
        self.voltage = Comparator::default();
        self.without_voltage = 0;
        self.forget();
    }
}
