//! Power-swing block (68) for distance zones.
//!
//! While two parts of a network turn against each other, voltage and current change smoothly, and their quotient runs through the zones as if there were a
//! fault. A fault is a jump, and afterwards the quotient stands still. Both are told apart by one quantity, `W = |V dI/dt - I dV/dt|` of the positive
//! sequence: it is zero for any constant impedance, at any frequency and in any frame of reference, and for two sources behind `Z` it is
//! `E1 E2 / |Z|` times the slip in rad/s, wherever the impedance is on its way. So it needs no zones and no impedance of the network. It judges the
//! same as products do by the rate of the impedance; the quantity, the margins and the times are our choice.

use serde::Deserialize;

use crate::complex::Complex;
use crate::error::{Check, SettingError};
use crate::measure::{Channels, Measured, Swing};
use crate::rated::Rated;
use crate::timing::{Delay, Pace};

/// Parts of a cycle after which phasors are kept.
const PARTS: u64 = 8;

/// Kept phasors: more than a cycle and a half, at any task.
const SLOTS: usize = 16;

/// Cycles between rates that are compared: longer than the window, so that a jump is over.
const REFERENCE: f64 = 1.3;

/// Cycles for which the course must be smooth before it is a swing: a fault moves phasors for a window, a cycle, and the rate for a quarter more.
const CONFIRM: f64 = 1.5;

/// Largest change of W in half a cycle that is smooth, as a share of it: of its size, and of W itself. W turns with the slip. A direct component that
/// the phasors have not lost turns with the frequency of the network: then W changes its sign in half a cycle, however smoothly its size decays.
const SMOOTH: f64 = 0.35;
const TURNS: f64 = 0.6;

/// Share of Uph from which a motion may begin a swing: in a fault near by, a growing arc is a motion, too.
const BEGINS: f64 = 0.5;

/// Ratio of a rate to the one before beyond which it jumps, upwards and downwards, and the change in Uph x In per s that a jump has at least.
const JUMP: [f64; 2] = [1.5, 0.5];
const LEAST_JUMP: f64 = 6.0;

/// Rate over a whole cycle, in Uph x In per s, below which the impedance stands still.
const STILL: f64 = 1.5;

/// Time in ms for which currents must be unbalanced, or the impedance stand still.
const UNBLOCK_MS: f64 = 5.0;

/// Least negative or zero sequence, in x In, that is an imbalance.
const LEAST_UNBALANCED: f64 = 0.1;

/// Settings of RPSB (68).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SwingSettings {
    /// Least rate of a swing in Uph x In per second, 0.2 to 20: its slip in rad/s times the largest current between the two sources, halved, in x In.
    pub least_rate: f64,
    /// Least positive-sequence current in x In, 0.05 to 1.
    pub least_current: f64,
    /// Share of the negative or zero sequence in the positive sequence of the currents that shows a fault, 0.1 to 0.5.
    pub unbalance: f64,
    /// Time in ms for which the block stays after the last motion, 200 to 5000: a stable swing stands still when it turns.
    pub hold_ms: f64,
}

impl Default for SwingSettings {
    /// 0.5 Uph x In per second; 0.1 In; 20 %; 1 s.
    fn default() -> Self {
        Self {
            least_rate: 0.5,
            least_current: 0.1,
            unbalance: 0.2,
            hold_ms: 1000.0,
        }
    }
}

/// Positive sequence at an instant.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    at: u64,
    voltage: Complex,
    current: Complex,
    /// W since the phasors of a quarter of a cycle ago, in Uph x In per second.
    moves: Complex,
}

impl Slot {
    fn rate(&self) -> f64 {
        self.moves.norm()
    }
}

/// RPSB (68), by the currents and voltages of one stream.
#[derive(Debug, Clone)]
pub struct SwingSupervision {
    settings: SwingSettings,
    /// Uph x In, in VA, times seconds per sample.
    scale: f64,
    healthy_v: f64,
    least_a: f64,
    unbalanced_a: f64,
    cycle: u64,
    part: u64,
    reference: u64,
    confirm: u64,
    unblock: u64,
    hold: u64,
    slots: [Slot; SLOTS],
    newest: usize,
    filled: usize,
    pace: Pace,
    motion: Delay,
    imbalance: Delay,
    still: Delay,
    /// Sample up to which a detected swing lasts.
    until: u64,
    has_jumped: bool,
    swing: Swing,
}

impl SwingSupervision {
    /// Longest time between two steps, in rated cycles: with longer ones it is not seen that a direct component turns W.
    pub const LONGEST_TASK: f64 = 0.25;

    /// The supervision with these settings.
    ///
    /// # Errors
    /// A setting outside its range.
    pub fn new(settings: SwingSettings, rated: &Rated) -> Result<Self, SettingError> {
        rated.check()?;
        let check = Check("RPSB");
        check.range("least-rate", settings.least_rate, "x Uph In / s", 0.2..=20.0)?;
        check.range("least-current", settings.least_current, "x In", 0.05..=1.0)?;
        check.range("unbalance", settings.unbalance, "", 0.1..=0.5)?;
        check.range("hold-ms", settings.hold_ms, "ms", 200.0..=5000.0)?;
        let cycles = |number: f64| (number * rated.samples_per_cycle() as f64).ceil() as u64;
        let (volt, ampere) = (rated.phase_voltage_v(), rated.current_a);
        Ok(Self {
            settings,
            scale: rated.samples_per_second / (volt * ampere),
            healthy_v: BEGINS * volt,
            least_a: settings.least_current * ampere,
            unbalanced_a: LEAST_UNBALANCED * ampere,
            cycle: rated.samples_per_cycle(),
            part: rated.samples_per_cycle().div_ceil(PARTS),
            reference: cycles(REFERENCE),
            confirm: cycles(CONFIRM),
            unblock: rated.samples_in_ms(UNBLOCK_MS),
            hold: rated.samples_in_ms(settings.hold_ms),
            slots: [Slot::default(); SLOTS],
            newest: 0,
            filled: 0,
            pace: Pace::default(),
            motion: Delay::default(),
            imbalance: Delay::default(),
            still: Delay::default(),
            until: 0,
            has_jumped: false,
            swing: Swing::default(),
        })
    }

    /// Evaluates the phasors of an instant. A set that must not be used interrupts the measurement; a detected swing lasts through it for the hold time.
    pub fn step(&mut self, set: &Measured) -> Swing {
        let needed = Channels::PHASE_CURRENTS | Channels::PHASE_VOLTAGES;
        if set.health.blocks(needed).any() {
            self.filled = 0;
            self.motion = Delay::default();
        } else {
            self.look(set);
        }
        self.swing.detected &= set.at < self.until;
        if !self.swing.detected {
            self.has_jumped = false;
        }
        let shows_fault = self.imbalance.run() >= self.unblock || self.has_jumped && self.still.run() >= self.unblock;
        self.swing.blocks = self.swing.detected && !shows_fault;
        self.swing
    }

    fn look(&mut self, set: &Measured) {
        let currents = set.current_sequence;
        let unbalanced = (self.settings.unbalance * currents.positive.norm()).max(self.unbalanced_a);
        let is_unbalanced = currents.negative.is_at_least(unbalanced) || currents.zero.is_at_least(unbalanced);
        let passed = self.pace.passed(set.at);
        self.imbalance.step(passed, is_unbalanced, self.unblock, 0);
        if self.filled == 0 || set.at.saturating_sub(self.slots[self.newest].at) >= self.part {
            self.keep(set);
            self.judge(!is_unbalanced && currents.positive.is_at_least(self.least_a));
        }
    }

    /// Keeps the phasors, with W since those of a quarter of a cycle ago.
    fn keep(&mut self, set: &Measured) {
        let mut slot = Slot {
            at: set.at,
            voltage: set.voltage_sequence.positive,
            current: set.current_sequence.positive,
            moves: Complex::ZERO,
        };
        if let Some(before) = self.since(slot.at, self.cycle / 4) {
            slot.moves = self.moves(before, &slot);
        }
        self.newest = (self.newest + 1) % SLOTS;
        self.slots[self.newest] = slot;
        self.filled = (self.filled + 1).min(SLOTS);
    }

    /// Judges the course up to the newest phasors; `can_move` is false if a motion could not be a swing.
    fn judge(&mut self, can_move: bool) {
        let now = self.slots[self.newest];
        let Some((before, reference)) = self
            .since(now.at, self.cycle / 2)
            .copied()
            .zip(self.since(now.at, self.reference).copied())
        else {
            return;
        };
        let passed = now.at - self.slots[(self.newest + SLOTS - 1) % SLOTS].at;
        let is_smooth = can_move
            && now.rate() >= self.settings.least_rate
            && (now.rate() - before.rate()).abs() <= SMOOTH * now.rate()
            && (now.moves - before.moves).norm() <= TURNS * now.rate()
            && (self.motion.run() > 0 || self.swing.detected || now.voltage.is_at_least(self.healthy_v));
        if self.motion.step(passed, is_smooth, self.confirm, 0) {
            self.swing.detected = true;
            self.has_jumped = false;
            self.until = now.at + self.hold;
        }
        let [up, down] = JUMP;
        self.has_jumped |=
            now.rate() > up * reference.rate() + LEAST_JUMP || now.rate() < down * reference.rate() - LEAST_JUMP;
        let is_still = self
            .since(now.at, self.cycle)
            .is_some_and(|before| self.moves(before, &now).norm() <= STILL);
        self.still.step(passed, is_still, self.unblock, 0);
    }

    /// `V dI/dt - I dV/dt` in Uph x In per second.
    fn moves(&self, before: &Slot, now: &Slot) -> Complex {
        let passed = now.at.saturating_sub(before.at).max(1) as f64;
        (before.voltage * now.current - before.current * now.voltage) * (self.scale / passed)
    }

    /// The slot a number of slots before the newest.
    fn back(&self, steps: usize) -> Option<&Slot> {
        (steps < self.filled).then(|| &self.slots[(self.newest + SLOTS - steps) % SLOTS])
    }

    /// The newest slot that is at least this number of samples older than `at`.
    fn since(&self, at: u64, samples: u64) -> Option<&Slot> {
        (0..self.filled)
            .filter_map(|steps| self.back(steps))
            .find(|slot| at - slot.at >= samples)
    }
}
