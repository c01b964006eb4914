//! Supervision of the voltage transformers' fuses (60).
//!
//! A blown fuse takes a voltage away and leaves the currents as they are; a fault changes both. So the phasors are compared with those of two cycles
//! ago: a load that is unbalanced before and after says nothing, and one that falls with its voltage tells of a sag. A fuse that was blown before the
//! relay started shows as a negative sequence in the voltages alone. The criteria are those of products (ABB SDDRFUF: delta of voltage and current;
//! SEQRFUF: negative sequence); the times are our choice. For some seconds a fault that shows in the currents lifts the block, as in products.

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

/// Share of Uph below which a voltage is gone: three fuses at once leave nothing, a sag of the network leaves more.
const GONE: f64 = 0.2;

/// Share of the fall of a voltage, each relative to its value before, from which a current has followed it: the current of a resistance follows in full,
/// that of a fuse's load not at all.
const FOLLOWS: f64 = 0.5;

/// Least change of a current that counts as following, as a share of `current-change`.
const LEAST_FOLLOWING: f64 = 0.2;

/// Time in ms for which the memory stays through a block: longer than that of a conflict.
const KEPT_MS: f64 = 2000.0;

/// Time in ms after which currents lift the block of a blown fuse no more: a fault that was taken for a blown fuse is cleared by then.
const LIFTS_MS: f64 = 10_000.0;

/// Rise of a phase current in x In that shows a fault after a fuse has blown: more than a load brings.
const RISE: f64 = 1.0;

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
    /// Phases whose fuse counts as blown: the suspicion lasted a cycle, or a block cut it off.
    pub blown: Phases,
    /// True while the currents show a fault soon after: it lifts the block of `blown`.
    pub lifted: bool,
}

impl Fuses {
    /// True if functions that use the voltages must not decide.
    #[must_use]
    pub fn block(self) -> bool {
        self.suspected.any() || self.blown.any() && !self.lifted
    }
}

/// Magnitudes of the currents in A.
#[derive(Debug, Clone, Copy, Default)]
struct Currents {
    phases: [f64; 3],
    negative: f64,
    /// 3I0.
    residual: f64,
}

impl Currents {
    fn of(set: &Measured) -> Self {
        Self {
            phases: set.current.map(Complex::norm),
            negative: set.current_sequence.negative.norm(),
            residual: 3.0 * set.current_sequence.zero.norm(),
        }
    }
}

/// RFUF (60), for the voltages of one stream, by its currents.
#[derive(Debug, Clone)]
pub struct FuseSupervision {
    fall_v: f64,
    healthy_v: f64,
    gone_v: f64,
    change_a: f64,
    rise_a: f64,
    least_a: f64,
    negative_v: f64,
    negative_a: f64,
    cycle: u64,
    quarter: u64,
    standing: u64,
    kept: u64,
    lifts: u64,
    slots: [[Complex; 6]; SLOTS],
    oldest: usize,
    filled: usize,
    /// Phasors stored since the last block: before a full memory of them, angles from both sides of it are not compared.
    since_block: usize,
    stored_at: u64,
    /// Currents of the last usable set and, once a fuse is blown, of that time.
    currents: Currents,
    blown_at: u64,
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
            gone_v: GONE * volt,
            change_a: settings.current_change * ampere,
            rise_a: RISE * ampere,
            least_a: settings.least_current * ampere,
            negative_v: settings.negative_voltage * volt,
            negative_a: settings.negative_current * ampere,
            cycle: rated.samples_per_cycle(),
            quarter: rated.samples_per_cycle().div_ceil(4),
            standing: rated.samples_in_ms(STANDING_MS),
            kept: rated.samples_in_ms(KEPT_MS),
            lifts: rated.samples_in_ms(LIFTS_MS),
            slots: [[Complex::ZERO; 6]; SLOTS],
            oldest: 0,
            filled: 0,
            since_block: 0,
            stored_at: 0,
            currents: Currents::default(),
            blown_at: 0,
            pace: Pace::default(),
            suspicion: Delay::default(),
            imbalance: Delay::default(),
            healthy: Delay::default(),
            fault_until: 0,
            fuses: Fuses::default(),
        })
    }

    /// Evaluates the phasors of an instant. A set that must not be used makes a blown fuse of a suspicion, because nobody sees how it goes on; the memory
    /// stays for two seconds, and a standing imbalance is timed without the block.
    pub fn step(&mut self, set: &Measured) -> Fuses {
        let passed = self.pace.passed(set.at);
        if set
            .health
            .blocks(Channels::PHASE_CURRENTS | Channels::PHASE_VOLTAGES)
            .any()
        {
            self.since_block = 0;
            self.blow(set.at, self.fuses.suspected);
            if set.at.saturating_sub(self.stored_at) > self.kept {
                self.filled = 0;
            }
            return self.fuses;
        }
        if self.fuses.blown.any() {
            self.fuses.lifted = set.at.saturating_sub(self.blown_at) < self.lifts && self.shows_fault(set);
            self.recover(passed, set);
        } else {
            self.currents = Currents::of(set);
            self.look(passed, set);
        }
        self.remember(set);
        self.fuses
    }

    fn look(&mut self, passed: u64, set: &Measured) {
        let carries = set.current.iter().any(|each| each.is_at_least(self.least_a));
        let fallen = if carries { self.fallen(set) } else { Phases::NONE };
        let suspected = self.fuses.suspected | fallen;
        if self.has_current_changed(set) || self.has_load_followed(set, fallen) {
            self.fault_until = set.at + FAULT * self.cycle;
        }
        self.fuses.suspected = suspected.when(fallen.any() && set.at >= self.fault_until);
        if self.suspicion.step(passed, self.fuses.suspected.any(), self.cycle, 0) {
            self.confirm(set);
        }
        let is_imbalance = carries
            && set.voltage_sequence.negative.is_at_least(self.negative_v)
            && !set.current_sequence.negative.is_at_least(self.negative_a);
        if self.imbalance.step(passed, is_imbalance, self.standing, 0) {
            self.blow(set.at, self.low(set));
        }
    }

    /// After a cycle the window holds the fallen voltages alone. All three at a value between are a sag.
    fn confirm(&mut self, set: &Measured) {
        let is_gone = set.voltage.iter().all(|each| !each.is_at_least(self.gone_v));
        if self.fuses.suspected != Phases::ABC || is_gone {
            self.blow(set.at, self.fuses.suspected);
        } else {
            self.fuses.suspected = Phases::NONE;
            self.fault_until = set.at + FAULT * self.cycle;
        }
    }

    fn blow(&mut self, at: u64, phases: Phases) {
        if phases.any() {
            self.fuses = Fuses {
                blown: phases,
                ..Fuses::default()
            };
            self.blown_at = at;
            self.healthy = Delay::default();
            self.suspicion = Delay::default();
        }
    }

    /// True if a current has risen since the fuse blew as only a fault makes it rise.
    fn shows_fault(&self, set: &Measured) -> bool {
        let (now, then) = (Currents::of(set), self.currents);
        now.negative - then.negative >= self.negative_a
            || now.residual - then.residual >= self.negative_a
            || (0..3).any(|phase| now.phases[phase] - then.phases[phase] >= self.rise_a)
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

    /// Phases whose voltage was healthy and fell.
    fn fallen(&self, set: &Measured) -> Phases {
        let mut phases = Phases::NONE;
        let Some(before) = self.before() else {
            return phases;
        };
        for (phase, each) in Phases::EACH.into_iter().enumerate() {
            let was = before[3 + phase].norm();
            phases |= each.when(was >= self.healthy_v && set.voltage[phase].norm() < was - self.fall_v);
        }
        phases
    }

    fn has_current_changed(&self, set: &Measured) -> bool {
        (0..3).any(|phase| self.change(set, phase) >= self.change_a)
    }

    /// True if the current of a phase has changed with its voltage: a load on a network that sags.
    fn has_load_followed(&self, set: &Measured, fallen: Phases) -> bool {
        let Some(before) = self.before() else {
            return false;
        };
        (0..3).any(|phase| {
            let fall = 1.0 - set.voltage[phase].norm() / before[3 + phase].norm();
            let follows = FOLLOWS * fall * before[phase].norm();
            fallen.contains(Phases::EACH[phase])
                && self.change(set, phase) >= follows.max(LEAST_FOLLOWING * self.change_a)
        })
    }

    /// Change of a phase current in A since two cycles ago; infinite if nothing is known of then. Across a block it is that of the magnitude: over a longer
    /// time the angle turns if the frequency is not quite the reference's.
    fn change(&self, set: &Measured, phase: usize) -> f64 {
        let Some(before) = self.before() else {
            return f64::INFINITY;
        };
        let (now, before) = (set.current[phase], before[phase]);
        if self.since_block < SLOTS {
            (now.norm() - before.norm()).abs()
        } else {
            (now - before).norm()
        }
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
        self.since_block = (self.since_block + 1).min(SLOTS);
    }
}
