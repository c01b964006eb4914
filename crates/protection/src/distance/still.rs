//! Loops that stand still during a power swing.

use super::loops::{Loop, Loops};
use crate::rated::Rated;

/// Kept instants, and parts of a cycle between them: more than a cycle, at any task.
const SLOTS: usize = 12;
const PARTS: u64 = 8;

/// Rate `|V dI/dt - I dV/dt|` in Uph x In per s below which an earth loop stands still; a loop of two phases has three times the rate.
const STILL: f64 = 1.5;

/// Change of the impedance in a cycle, as a share of it, below which a loop stands still.
const LITTLE: f64 = 0.015;

/// Loops of the last cycle. A fault holds the impedance of its loop; in the others the swing goes on, and may be in the zone.
#[derive(Debug, Clone)]
pub(super) struct Stillness {
    /// Uph x In in VA, times seconds per sample.
    scale: f64,
    cycle: u64,
    part: u64,
    slots: [Option<(u64, Loops)>; SLOTS],
    newest: usize,
}

impl Stillness {
    pub(super) fn new(rated: &Rated) -> Self {
        Self {
            scale: rated.samples_per_second / (rated.phase_voltage_v() * rated.current_a),
            cycle: rated.samples_per_cycle(),
            part: rated.samples_per_cycle().div_ceil(PARTS),
            slots: [None; SLOTS],
            newest: 0,
        }
    }

    pub(super) fn forget(&mut self) {
        self.slots = [None; SLOTS];
    }

    /// Keeps the loops of sample `at`.
    pub(super) fn keep(&mut self, at: u64, loops: &Loops) {
        if self.slots[self.newest].is_none_or(|(last, _)| at.saturating_sub(last) >= self.part) {
            self.newest = (self.newest + 1) % SLOTS;
            self.slots[self.newest] = Some((at, *loops));
        }
    }

    /// True if the impedance of a loop at sample `at` is that of a cycle ago.
    pub(super) fn is_still(&self, at: u64, loops: &Loops, each: Loop) -> bool {
        let since = |(then, _): &(u64, Loops)| at.saturating_sub(*then);
        let old = self.slots.iter().flatten().filter(|slot| since(slot) >= self.cycle);
        let Some((then, before)) = old.min_by_key(|slot| since(slot)) else {
            return false;
        };
        let change = (before.voltage(each) * loops.current(each) - before.current(each) * loops.voltage(each)).norm();
        let rate = change * self.scale / at.saturating_sub(*then) as f64;
        let still = if each.is_earth() { STILL } else { 3.0 * STILL };
        rate <= still || change <= LITTLE * loops.voltage(each).norm() * loops.current(each).norm()
    }
}
