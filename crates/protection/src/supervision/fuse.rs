//! Supervision of the voltage transformers' fuses (60).
//!
//! A blown fuse takes a voltage away and leaves the currents as they are; a fault changes both. So the phasors are compared with those of two cycles
//! ago: a load that is unbalanced before and after says nothing. A fuse that was blown before the relay started shows as a negative sequence in the
//! voltages alone. The criteria are those of products (ABB SDDRFUF: delta of voltage and current; SEQRFUF: negative sequence); the times are our choice.

use serde::Deserialize;

use crate::complex::Complex;
use crate::error::{Check, SettingError};
use crate::measure::{Channels, Measured};
use crate::phases::Phases;
use crate::rated::Rated;
use crate::timing::{Delay, Pace};

/// Quarters of a cycle that are remembered: two cycles.
const SLOTS: usize = 8;

/// Share of Uph above which a voltage is healthy, and from which it is healthy again.
const HEALTHY: f64 = 0.7;

/// Cycles after a change of current in which a fall belongs to the fault: longer than the memory, so that what it holds of the fault does not mislead.
const FAULT: u64 = 4;

/// Healthy cycles in a row that end a failure.
const AGAIN: u64 = 2;

/// Time in ms for which a negative sequence in the voltages alone must last: by then any fault is cleared.
const STANDING_MS: f64 = 5000.0;

/// Settings of RFUF (60).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FuseSettings {
    /// Least fall of a phase voltage within two cycles in x Uph, 0.1 to 0.8.
    pub voltage_fall: f64,
    /// Change of a phase current in x In from which the fall is a fault, 0.05 to 1.
    pub current_change: f64,
    /// Least current in x In of any phase, 0.02 to 1: with less the line may be dead, and a fall is no blown fuse.
    pub least_current: f64,
    /// Negative sequence of the voltages in x Uph from which a fuse was blown before, 0.1 to 0.5.
    pub negative_voltage: f64,
    /// Negative sequence of the currents in x In from which it is a fault or an unbalanced load, 0.02 to 1.
    pub negative_current: f64,
}

impl Default for FuseSettings {
    /// 0.2 Uph without a change of 0.1 In; 0.05 In; 0.2 Uph without 0.1 In.
    fn default() -> Self {
        Self {
            voltage_fall: 0.2,
            current_change: 0.1,
            least_current: 0.05,
            negative_voltage: 0.2,
            negative_current: 0.1,
        }
    }
}

/// State of the fuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fuses {
    /// Phases whose voltage fell without their current: functions that use the voltages are blocked.
    pub suspected: Phases,
    /// Phases whose fuse counts as blown: the suspicion lasted a cycle.
    pub blown: Phases,
}

impl Fuses {
    /// True if functions that use the voltages must not decide.
    #[must_use]
    pub fn block(self) -> bool {
        self.suspected.any() || self.blown.any()
    }
}

/// RFUF (60), for the voltages of one stream, by its currents.
#[derive(Debug, Clone)]
pub struct FuseSupervision {
    fall_v: f64,
    healthy_v: f64,
    change_a: f64,
    least_a: f64,
    negative_v: f64,
    negative_a: f64,
    cycle: u64,
    quarter: u64,
    standing: u64,
    slots: [[Complex; 6]; SLOTS],
    oldest: usize,
    filled: usize,
    stored_at: u64,
    pace: Pace,
    suspicion: Delay,
    imbalance: Delay,
    healthy: Delay,
    /// Sample up to which a fall belongs to a fault that has shown in a current.
    fault_until: u64,
    fuses: Fuses,
}

impl FuseSupervision {
    /// The supervision with these settings.
    ///
    /// # Errors
    /// A setting outside its range.
    pub fn new(settings: FuseSettings, rated: &Rated) -> Result<Self, SettingError> {
        rated.check()?;
        let check = Check("RFUF");
        check.range("voltage-fall", settings.voltage_fall, "x Uph", 0.1..=0.8)?;
        check.range("current-change", settings.current_change, "x In", 0.05..=1.0)?;
        check.range("least-current", settings.least_current, "x In", 0.02..=1.0)?;
        check.range("negative-voltage", settings.negative_voltage, "x Uph", 0.1..=0.5)?;
        check.range("negative-current", settings.negative_current, "x In", 0.02..=1.0)?;
        let (volt, ampere) = (rated.phase_voltage_v(), rated.current_a);
        Ok(Self {
            fall_v: settings.voltage_fall * volt,
            healthy_v: HEALTHY * volt,
            change_a: settings.current_change * ampere,
            least_a: settings.least_current * ampere,
            negative_v: settings.negative_voltage * volt,
            negative_a: settings.negative_current * ampere,
            cycle: rated.samples_per_cycle(),
            quarter: rated.samples_per_cycle().div_ceil(4),
            standing: rated.samples_in_ms(STANDING_MS),
            slots: [[Complex::ZERO; 6]; SLOTS],
            oldest: 0,
            filled: 0,
            stored_at: 0,
            pace: Pace::default(),
            suspicion: Delay::default(),
            imbalance: Delay::default(),
            healthy: Delay::default(),
            fault_until: 0,
            fuses: Fuses::default(),
        })
    }

    /// Evaluates the phasors of an instant. A set that must not be used changes nothing but clears the memory and a suspicion.
    pub fn step(&mut self, set: &Measured) -> Fuses {
        let passed = self.pace.passed(set.at);
        if set
            .health
            .blocks(Channels::PHASE_CURRENTS | Channels::PHASE_VOLTAGES)
            .any()
        {
            self.filled = 0;
            self.fuses.suspected = Phases::NONE;
            self.suspicion = Delay::default();
            self.imbalance = Delay::default();
            return self.fuses;
        }
        if self.fuses.blown.any() {
            self.recover(passed, set);
        } else {
            self.look(passed, set);
        }
        self.remember(set);
        self.fuses
    }

    fn look(&mut self, passed: u64, set: &Measured) {
        let fallen = self.fallen(set);
        let suspected = self.fuses.suspected | fallen;
        if self.has_current_changed(set) {
            self.fault_until = set.at + FAULT * self.cycle;
        }
        self.fuses.suspected = suspected.when(fallen.any() && set.at >= self.fault_until);
        let is_confirmed = self.suspicion.step(passed, self.fuses.suspected.any(), self.cycle, 0);
        let is_imbalance = set.voltage_sequence.negative.is_at_least(self.negative_v)
            && !set.current_sequence.negative.is_at_least(self.negative_a);
        let is_standing = self.imbalance.step(passed, is_imbalance, self.standing, 0);
        if is_confirmed {
            self.fuses.blown = self.fuses.suspected;
        } else if is_standing {
            self.fuses.blown = self.low(set);
        }
        if self.fuses.blown.any() {
            self.fuses.suspected = Phases::NONE;
            self.healthy = Delay::default();
        }
    }

    /// Ends a failure when all voltages have been healthy for some cycles.
    fn recover(&mut self, passed: u64, set: &Measured) {
        let are_healthy = set.voltage.iter().all(|each| each.is_at_least(self.healthy_v))
            && !set.voltage_sequence.negative.is_at_least(0.5 * self.negative_v);
        if self.healthy.step(passed, are_healthy, AGAIN * self.cycle, 0) {
            self.fuses = Fuses::default();
            self.suspicion = Delay::default();
            self.imbalance = Delay::default();
            self.filled = 0;
        }
    }

    /// Phases whose voltage was healthy and fell. Without any current the line may be dead, and no zone can operate.
    fn fallen(&self, set: &Measured) -> Phases {
        let mut phases = Phases::NONE;
        let carries = set.current.iter().any(|each| each.is_at_least(self.least_a));
        let Some(before) = self.before().filter(|_| carries) else {
            return phases;
        };
        for (phase, each) in Phases::EACH.into_iter().enumerate() {
            let was = before[3 + phase].norm();
            phases |= each.when(was >= self.healthy_v && set.voltage[phase].norm() < was - self.fall_v);
        }
        phases
    }

    fn has_current_changed(&self, set: &Measured) -> bool {
        self.before().is_none_or(|before| {
            let mut changes = set.current.iter().zip(&before[..3]);
            changes.any(|(now, before)| (*now - *before).is_at_least(self.change_a))
        })
    }

    fn low(&self, set: &Measured) -> Phases {
        let mut phases = Phases::NONE;
        for (phase, each) in Phases::EACH.into_iter().enumerate() {
            phases |= each.when(!set.voltage[phase].is_at_least(self.healthy_v));
        }
        // A wrong angle has no low voltage: then all are in doubt.
        if phases.any() { phases } else { Phases::ABC }
    }

    fn before(&self) -> Option<&[Complex; 6]> {
        (self.filled == SLOTS).then(|| &self.slots[self.oldest])
    }

    /// Keeps the phasors, every quarter of a cycle; during a suspicion those from before it stay.
    fn remember(&mut self, set: &Measured) {
        let is_due = self.filled == 0 || set.at.saturating_sub(self.stored_at) >= self.quarter;
        if !is_due || self.fuses.suspected.any() {
            return;
        }
        self.stored_at = set.at;
        let ([ia, ib, ic], [ua, ub, uc]) = (set.current, set.voltage);
        self.slots[self.oldest] = [ia, ib, ic, ua, ub, uc];
        self.oldest = (self.oldest + 1) % SLOTS;
        self.filled = (self.filled + 1).min(SLOTS);
    }
}
