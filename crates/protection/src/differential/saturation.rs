//! Saturated current transformers in faults outside the object.
//!
//! A current transformer needs some milliseconds of a fault current to saturate. Until then the currents of an outside fault flow through the object:
//! the restraint rises, and the differential current does not. In a fault of the object both rise at once. So the first milliseconds tell the two
//! apart, whatever the transformers do later; products detect outside faults in the same way. In each cycle a saturated transformer follows its current
//! for a time again, after it has changed its sign: while that is seen at a current beyond any load, the fault is still outside, for a second at most. The
//! margins and times are our choice.
//!
//! In a fault of the object saturation has harmonics, as inrush has. Both sides may feed an inrush, too, and its current may bend at the knee of a transformer.
//! But an inrush has a gap of a part of each cycle, in which the core is not saturated. A fault that both sides feed has none: so a differential current that
//! begins in both sides, bends within a cycle and has no gap in it is that of a fault of the object, whatever its harmonics.

use super::group::Compensation;
use crate::function::{Inputs, Waves};
use crate::knee::Knees;
use crate::measure::LONGEST_TASK_MS;
use crate::phases::Phases;
use crate::rated::Rated;

/// Change of the restraint within a cycle that begins a fault, x rated current of the object, as RMS.
const BEGINS: f64 = 0.3;

/// Time in ms after that in which restraint and differential current are compared.
const COMPARED_MS: f64 = 1.75;

/// Share of the restraint in these below which the differential current is that of a fault outside.
const THROUGH: f64 = 0.25;

/// Mean change of the current of each side into the object in that time, x rated, and the share of the smaller one in the larger, from which both sides feed a
/// fault in it.
const FEEDS: f64 = 0.1;
const BOTH: f64 = 0.25;

/// Share of the largest differential current of a cycle within which it stays in a gap, and the part of a cycle (one in so many) that a gap lasts longer than.
/// An inrush is flat for at least a third of a cycle for most fluxes. It is seldom zero there: the magnetising current of a current transformer is left. A
/// fault current with all its direct component changes by 6.7 % in a sixth of a cycle at its crest.
const GAP: f64 = 0.05;
const GAP_PART: u64 = 6;

/// Current of both sides in x rated, as RMS, below which a fault is over.
const OVER: f64 = 0.15;

/// Restraint in x rated, as RMS, from which a transformer may saturate: more than any load that lasts.
const HIGH: f64 = 1.5;

/// Time in ms in a row in which the current flows through the object, and the share of the differential current in it.
const FOLLOWS_MS: f64 = 1.25;
const FOLLOWS: f64 = 0.5;

/// Restraint in x rated, as RMS, below which it is not seen whether the current flows through.
const VISIBLE: f64 = 0.15;

/// Time in ms after which a fault that is not seen to be outside counts as one of the object.
const HOLD_MS: f64 = 50.0;

/// Time in ms after its begin at which a block ends at the latest: a fault in the object waits no longer for it, whatever flows through.
const MOST_MS: f64 = 1000.0;

/// Currents of a phase at an instant, in x rated (peak).
#[derive(Debug, Clone, Copy)]
struct Pair {
    one: f64,
    other: f64,
}

impl Pair {
    fn differential(self) -> f64 {
        (self.one + self.other).abs()
    }

    fn restraint(self) -> f64 {
        (self.one - self.other).abs() / 2.0
    }
}

/// A phase of the object.
#[derive(Debug, Clone, Copy, Default)]
struct Phase {
    /// Samples left of the comparison, and the sums over it.
    compares: u64,
    differential: f64,
    restraint: f64,
    /// Changes of both sides into the object, summed over it.
    fed: [f64; 2],
    /// First sample after the begin, or after a block of the stream.
    since: Option<u64>,
    /// True if nothing had begun for a second before it.
    was_quiet: bool,
    /// Sample of the end of a comparison that found a fault of the object fed from both sides, for a cycle.
    fed_at: Option<u64>,
    /// Sample up to which a fault that has begun is not looked for again.
    busy_until: u64,
    /// Sample of the last high restraint.
    high_at: Option<u64>,
    /// Samples in a row in which the current flowed through.
    through: u64,
    /// The fault is outside.
    is_outside: bool,
    until: u64,
    /// Sample up to which `until` may move.
    until_most: u64,
}

/// Durations in samples.
#[derive(Debug, Clone, Copy)]
struct Durations {
    cycle: u64,
    compared: u64,
    follows: u64,
    hold: u64,
    most: u64,
    /// Of the longest task.
    task: u64,
}

/// Detection of outside faults, from the samples of both sides.
#[derive(Debug, Clone)]
pub(super) struct Saturation {
    durations: Durations,
    phases: [Phase; 3],
    next: Option<u64>,
    knees: [Knees; 2],
    /// True if a transformer has bent since both sides began to feed a fault of the object.
    has_bent: bool,
    /// Sample up to which the harmonics are those of saturation.
    inside_until: u64,
    /// Samples in a row without a current on either side.
    quiet: u64,
}

impl Saturation {
    pub(super) fn new(rated: &Rated) -> Self {
        Self {
            durations: Durations {
                cycle: rated.samples_per_cycle(),
                compared: rated.samples_in_ms(COMPARED_MS).max(2),
                follows: rated.samples_in_ms(FOLLOWS_MS).max(2),
                hold: rated.samples_in_ms(HOLD_MS),
                most: rated.samples_in_ms(MOST_MS),
                task: rated.samples_in_ms(LONGEST_TASK_MS),
            },
            phases: [Phase::default(); 3],
            next: None,
            knees: [(); 2].map(|()| Knees::new(rated, 1.0)),
            has_bent: false,
            inside_until: 0,
            quiet: 0,
        }
    }

    pub(super) fn reset(&mut self) {
        self.phases = [Phase::default(); 3];
        self.next = None;
        self.knees.iter_mut().for_each(Knees::reset);
        self.has_bent = false;
        self.inside_until = 0;
        self.quiet = 0;
    }

    /// Ends the release of the harmonic block a cycle after the fault: the next current may be an inrush, as after a reclosing.
    fn rest(&mut self, now: &[Pair; 3]) {
        let over = OVER * std::f64::consts::SQRT_2;
        let is_quiet = now.iter().all(|pair| pair.one.abs().max(pair.other.abs()) < over);
        self.quiet = if is_quiet { self.quiet + 1 } else { 0 };
        if self.quiet > self.durations.cycle {
            self.inside_until = 0;
        }
    }

    /// True if the harmonics of the differential current at sample `at` are those of saturated transformers in a fault of the object.
    pub(super) fn is_inside(&self, at: u64) -> bool {
        at < self.inside_until
    }

    /// Looks for the knees of both sides at sample `number`, whose currents are in x rated.
    fn look_for_knees(&mut self, number: u64, currents: [Option<[f64; 3]>; 2]) {
        let mut bends = false;
        for (knees, samples) in self.knees.iter_mut().zip(currents) {
            match samples {
                Some(samples) => bends |= knees.look(number, samples) != [false; 3],
                None => knees.reset(),
            }
        }
        self.has_bent |= bends && self.fed_at().is_some();
    }

    /// Sample at which both sides began to feed the last phase, while a cycle of it is awaited.
    fn fed_at(&self) -> Option<u64> {
        self.phases.iter().filter_map(|phase| phase.fed_at).max()
    }

    /// Decides at sample `number`, a cycle after both sides began to feed a fault, whether its harmonics are those of saturation.
    fn decide(&mut self, number: u64, pairs: impl Fn(u64) -> Option<[Pair; 3]>) {
        let Durations { cycle, most, .. } = self.durations;
        if self.fed_at().is_none_or(|fed| number < fed.saturating_add(cycle)) {
            return;
        }
        self.phases.iter_mut().for_each(|phase| phase.fed_at = None);
        let has_bent = std::mem::take(&mut self.has_bent);
        if has_bent && is_gapless(number, cycle, pairs) {
            self.inside_until = number.saturating_add(most);
        }
    }

    /// Looks at all samples up to `at`; returns the phases with a fault outside.
    pub(super) fn step(
        &mut self,
        inputs: &Inputs<'_>,
        at: u64,
        sides: [usize; 2],
        compensations: &[Compensation; 2],
        rated_a: [f64; 2],
    ) -> Phases {
        let Some(waves) = inputs.waves else {
            return Phases::NONE;
        };
        let cycle = self.durations.cycle;
        let oldest = at.saturating_sub(self.durations.task.max(cycle) - 1);
        for number in self.next.unwrap_or(at).max(oldest)..=at {
            // The last sample may wait for the next, to be told from a spike.
            let before = number.checked_sub(1);
            let side = |side: usize| {
                let samples = waves.phase_currents(sides[side], before?)?;
                Some(samples.map(|sample| sample / rated_a[side]))
            };
            let currents = [0, 1].map(side);
            self.look_for_knees(before.unwrap_or(0), currents);
            let pairs = |number| pairs(waves, number, sides, compensations, rated_a);
            let now = pairs(number);
            now.iter().for_each(|now| self.rest(now));
            if let (Some(now), Some(before)) = (now, number.checked_sub(cycle).and_then(pairs)) {
                for (phase, (now, before)) in self.phases.iter_mut().zip(now.into_iter().zip(before)) {
                    phase.step(number, now, before, self.durations);
                }
            }
            self.decide(number, pairs);
        }
        self.next = Some(at + 1);
        Phases::of(self.phases.map(|phase| phase.is_outside && at < phase.until))
    }
}

/// Currents of both sides at a sample; `None` if it is not there.
fn pairs(
    waves: &dyn Waves,
    number: u64,
    sides: [usize; 2],
    compensations: &[Compensation; 2],
    rated_a: [f64; 2],
) -> Option<[Pair; 3]> {
    let side = |side: usize| {
        let samples = waves.phase_currents(sides[side], number)?;
        Some(compensations[side].apply_to(samples.map(|sample| sample / rated_a[side])))
    };
    let (one, other) = (side(0)?, side(1)?);
    Some([0, 1, 2].map(|phase| Pair {
        one: one[phase],
        other: other[phase],
    }))
}

/// Differential current of a phase since it was last outside a band of the width of a gap.
#[derive(Debug, Clone, Copy)]
struct Band {
    low: f64,
    high: f64,
    samples: u64,
}

impl Band {
    const NONE: Self = Self {
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
        samples: 0,
    };

    fn step(&mut self, value: f64, width: f64) {
        let (low, high) = (self.low.min(value), self.high.max(value));
        *self = match high - low <= width {
            true => Self {
                low,
                high,
                samples: self.samples + 1,
            },
            false => Self {
                low: value,
                high: value,
                samples: 1,
            },
        };
    }
}

/// True if the differential current of no phase has a gap in the cycle up to sample `number`; false if one of its samples is missing.
fn is_gapless(number: u64, cycle: u64, pairs: impl Fn(u64) -> Option<[Pair; 3]>) -> bool {
    let numbers = || (number + 1).saturating_sub(cycle)..=number;
    let mut most = [0.0_f64; 3];
    for number in numbers() {
        let Some(pairs) = pairs(number) else {
            return false;
        };
        for (most, pair) in most.iter_mut().zip(pairs) {
            *most = most.max(pair.differential());
        }
    }
    // A phase without a fault has no gap, but no current either.
    let least = BEGINS * std::f64::consts::SQRT_2;
    let mut bands = [Band::NONE; 3];
    for pairs in numbers().filter_map(pairs) {
        for ((band, most), pair) in bands.iter_mut().zip(most).zip(pairs) {
            band.step(pair.one + pair.other, GAP * most);
            if most > least && band.samples * GAP_PART > cycle {
                return false;
            }
        }
    }
    true
}

impl Phase {
    fn step(&mut self, at: u64, now: Pair, before: Pair, durations: Durations) {
        let Durations { cycle, hold, most, .. } = durations;
        let peak = std::f64::consts::SQRT_2;
        let since = *self.since.get_or_insert(at);
        let change = Pair {
            one: now.one - before.one,
            other: now.other - before.other,
        };
        if change.restraint() > BEGINS * peak {
            let is_known = self.is_outside && at < self.until;
            if at >= self.busy_until && !is_known {
                (self.compares, self.differential, self.restraint) = (durations.compared, 0.0, 0.0);
                self.fed = [0.0; 2];
                self.was_quiet = at - self.busy_until.max(since) >= most;
            }
            self.busy_until = at + cycle;
        }
        if self.compares > 0 {
            self.compares -= 1;
            self.differential += change.differential();
            self.restraint += change.restraint();
            self.fed = [self.fed[0] + change.one, self.fed[1] + change.other];
            if self.compares == 0 {
                self.is_outside = self.differential < THROUGH * self.restraint;
                let [one, other] = self.fed.map(|sum| sum / durations.compared as f64);
                let least = (BOTH * one.abs().max(other.abs())).max(FEEDS);
                let is_fed = one * other > 0.0 && one.abs().min(other.abs()) > least;
                if is_fed && self.was_quiet && !self.is_outside {
                    self.fed_at = Some(at);
                }
                self.until = at + hold;
                self.until_most = at + most;
            }
        }
        let restraint = now.restraint();
        if restraint > HIGH * peak {
            self.high_at = Some(at);
        }
        let is_high = self.high_at.is_some_and(|high| at - high <= cycle);
        let flows = restraint > VISIBLE * peak && now.differential() < FOLLOWS * restraint;
        self.through = if flows { self.through + 1 } else { 0 };
        if self.through >= durations.follows && is_high && at < self.until {
            self.until = (at + hold).min(self.until_most);
        }
    }
}
