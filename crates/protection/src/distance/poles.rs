//! Open poles and a dead line, for zones whose voltages are those of the line.
//!
//! When a loaded line is opened, currents and voltages leave the window pole by pole within some milliseconds, and their ratio can pass through a zone.
//! So loops of an open pole are not measured.

use crate::measure::Measured;
use crate::phases::Phases;
use crate::rated::Rated;

/// Current in x In (as a peak) below which a sample is none, at most, and as a share of the least current of a loop: of two phases, each carries half of it.
/// And the part of a cycle (one in so many) for which there is none while a pole is open. So the zero of a current that a loop measures is no open pole;
/// one with its whole direct component has a longer zero below 0.26 In, until that component has decayed.
const NONE: f64 = 0.05;
const NONE_OF_LOOP: f64 = 0.25;
const OPEN_PART: u64 = 5;

/// Current in x In (as a peak) above which a fault was there in the cycle before. A saturated transformer shows none for a part of the cycle, so the pole
/// then counts as open after a whole cycle.
const FAULT: f64 = 2.5;

/// Voltage in x Uph below which a phase is dead, and time in ms after which the voltage before is forgotten: that of PSOF, which then is ready.
const DEAD: f64 = 0.2;
const FORGETS_MS: f64 = 200.0;

/// A pole: samples without current, and the last sample with the current of a fault.
#[derive(Debug, Clone, Copy, Default)]
struct Pole {
    silent: u64,
    fault_at: Option<u64>,
}

/// The poles of one bay.
#[derive(Debug, Clone)]
pub(super) struct Poles {
    none_a: f64,
    fault_a: f64,
    dead_v: f64,
    open: u64,
    cycle: u64,
    forgets: u64,
    poles: [Pole; 3],
    dead_since: Option<u64>,
}

impl Poles {
    /// Poles of a zone whose loops carry `least_current` at least, in x In.
    pub(super) fn new(rated: &Rated, least_current: f64) -> Self {
        let peak = std::f64::consts::SQRT_2 * rated.current_a;
        Self {
            none_a: NONE.min(NONE_OF_LOOP * least_current) * peak,
            fault_a: FAULT * peak,
            dead_v: DEAD * rated.phase_voltage_v(),
            open: (rated.samples_per_cycle() / OPEN_PART).max(2),
            cycle: rated.samples_per_cycle(),
            forgets: rated.samples_in_ms(FORGETS_MS),
            poles: [Pole::default(); 3],
            dead_since: None,
        }
    }

    pub(super) fn reset(&mut self) {
        self.poles = [Pole::default(); 3];
        self.dead_since = None;
    }

    /// The phases whose pole is open at the sample of `current`, after all samples before it.
    pub(super) fn step(&mut self, current: &Measured, voltage: &Measured) -> Phases {
        let at = current.at;
        let open = Phases::of(self.poles.map(|pole| pole.is_open(at, self.open, self.cycle)));
        let has_voltage = voltage.voltage.iter().any(|each| each.is_at_least(self.dead_v));
        let is_dead = open == Phases::ABC && !has_voltage;
        self.dead_since = is_dead.then(|| self.dead_since.unwrap_or(at));
        open
    }

    /// Looks at sample `at`.
    pub(super) fn look(&mut self, at: u64, samples: [f64; 3]) {
        for (pole, sample) in self.poles.iter_mut().zip(samples) {
            pole.silent = if sample.abs() < self.none_a {
                pole.silent.saturating_add(1)
            } else {
                0
            };
            if sample.abs() > self.fault_a {
                pole.fault_at = Some(at);
            }
        }
    }

    /// True if no pole carries current and no phase has voltage.
    pub(super) fn is_dead(&self) -> bool {
        self.dead_since.is_some()
    }

    /// True if the line has been dead for so long that the voltage before says nothing of the one to come.
    pub(super) fn is_long_dead(&self, at: u64) -> bool {
        self.dead_since
            .is_some_and(|since| at.saturating_sub(since) >= self.forgets)
    }
}

impl Pole {
    fn is_open(self, at: u64, open: u64, cycle: u64) -> bool {
        let began = at.saturating_sub(self.silent);
        let after_fault = self.fault_at.is_some_and(|fault| began.saturating_sub(fault) <= cycle);
        self.silent >= if after_fault { cycle } else { open }
    }
}
