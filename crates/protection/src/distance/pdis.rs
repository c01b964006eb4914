//! One distance zone.

use super::characteristic::{Polarising, Zone};
use super::loops::{Loop, Loops, Selection};
use super::poles::Poles;
use super::settings::PdisSettings;
use super::still::Stillness;
use crate::complex::Complex;
use crate::direction::{Mode, VoltageMemory};
use crate::error::SettingError;
use crate::function::{Direction, Function, Inputs, Node, Output, Waves};
use crate::knee::Knees;
use crate::measure::{Blocks, Channels, LONGEST_TASK_MS, Measured, Swing};
use crate::phases::Phases;
use crate::rated::Rated;
use crate::timing::{Delay, Pace};

/// Minimum current of a loop for its impedance to be computed, in x In.
const LEAST_LOOP: f64 = 0.05;

/// Minimum voltage for its angle to be computed, in x Uph.
const LEAST_VOLTAGE: f64 = 0.02;

/// Times in ms for which the selected loops must stay the same before one operates: phase loops, an earth loop. In the first milliseconds of a close
/// fault the phases are uncertain, and of a fault of two phases to earth one is seen first.
const STEADY_MS: [f64; 2] = [3.0, 5.0];

/// Time in ms for which loops in reserve must have been in the zone, with none of the preferred ones; and any loop during a power swing.
const RESERVE_MS: f64 = 10.0;

/// Time in ms in the zone from which it operates though the selection changes again and again: then in all phases.
const UNSTEADY_MS: f64 = 30.0;

/// Share of the reach up to which a loop operates while a transformer is saturated. A current that lost a part makes the impedance larger; but it is missing in
/// the sum of the phases, and the residual that it leaves makes that of another earth loop smaller, by up to a quarter with K0 of 2/3. And the delay in ms
/// from which a loop keeps its reach: it waits longer than a transformer saturates.
const SATURATED_REACH: f64 = 0.7;
const DELAYED_MS: f64 = 100.0;

/// Time in ms after a cycle from the last sample of a saturated current, until which it is in the phasors.
const SETTLES_MS: f64 = 2.0;

/// PDIS (21), one zone: operates when the impedance of a loop that measures the fault has been in the zone for the set number of task runs, and then
/// for the delay.
///
/// It does not supervise the voltage transformers: after a blown fuse it measures an impedance of zero, unless
/// [`FuseSupervision`](crate::supervision::FuseSupervision) blocks it. A power swing that enters the zone trips, unless
/// [`SwingSupervision`](crate::supervision::SwingSupervision) blocks it.
#[derive(Debug, Clone)]
pub struct Pdis {
    settings: PdisSettings,
    zone: Zone,
    compensation: Complex,
    rated_a: f64,
    /// Smallest loop current that is evaluated, in A.
    least_a: f64,
    least_v: f64,
    delays: [u64; 6],
    memory: VoltageMemory,
    pace: Pace,
    tasks: [u32; 6],
    /// Runs while any selected loop is in the zone, whichever it is.
    timer: Delay,
    /// Consecutive tasks with any selected loop in the zone.
    runs: u32,
    /// The loops that decided last, and the samples for which they have.
    selected: &'static [Loop],
    same: u64,
    /// The present sample, during a power swing.
    swinging_at: Option<u64>,
    stillness: Stillness,
    poles: Poles,
    /// Phases whose pole is open: their loops are not measured.
    open: Phases,
    knees: Knees,
    /// Sample up to which the window has a saturated current; the samples for which it has one, and those of a delayed loop.
    saturated_until: u64,
    saturates: u64,
    delayed: u64,
    /// The next sample to look at, and the samples of the longest task.
    next: Option<u64>,
    longest: u64,
    /// [`STEADY_MS`], [`RESERVE_MS`], [`UNSTEADY_MS`] in samples.
    steady: [u64; 2],
    reserve: u64,
    unsteady: u64,
}

impl Pdis {
    /// The zone with these settings.
    ///
    /// # Errors
    /// A setting outside its range.
    pub fn new(settings: PdisSettings, rated: &Rated) -> Result<Self, SettingError> {
        rated.check()?;
        settings.check()?;
        let delays = Loop::ALL.map(|each| {
            rated.samples_in_ms(if each.is_earth() {
                settings.earth_delay_ms
            } else {
                settings.phase_delay_ms
            })
        });
        Ok(Self {
            zone: Zone::new(&settings),
            compensation: settings.compensation(),
            rated_a: rated.current_a,
            least_a: settings.least_current * rated.current_a,
            least_v: LEAST_VOLTAGE * rated.phase_voltage_v(),
            delays,
            memory: VoltageMemory::new(settings.memory_ms, rated),
            poles: Poles::new(rated, settings.least_current),
            settings,
            pace: Pace::default(),
            tasks: [0; 6],
            timer: Delay::default(),
            runs: 0,
            selected: &[],
            same: 0,
            swinging_at: None,
            stillness: Stillness::new(rated),
            open: Phases::NONE,
            knees: Knees::new(rated, rated.current_a),
            saturated_until: 0,
            saturates: rated.samples_per_cycle() + rated.samples_in_ms(SETTLES_MS),
            delayed: rated.samples_in_ms(DELAYED_MS),
            next: None,
            longest: rated.samples_in_ms(LONGEST_TASK_MS),
            steady: STEADY_MS.map(|ms| rated.samples_in_ms(ms)),
            reserve: rated.samples_in_ms(RESERVE_MS),
            unsteady: rated.samples_in_ms(UNSTEADY_MS),
        })
    }

    /// The loops with this zone's settings.
    #[must_use]
    pub fn loops(&self, current: &Measured, voltage: &Measured) -> Loops {
        Loops::of(current, voltage, self.compensation, LEAST_LOOP * self.rated_a)
    }

    fn polarising(&mut self, voltage: &Measured) -> Polarising {
        let positive = voltage.voltage_sequence.positive;
        self.memory.step(voltage.at, positive);
        let mixed = match self.memory.remembered(voltage.at) {
            Some(remembered) => positive * 0.8 + remembered * 0.2,
            None => positive,
        };
        Polarising {
            voltage: Some(mixed).filter(|mixed| mixed.is_at_least(self.least_v)),
            least_v: self.least_v,
        }
    }

    /// Looks at all samples before `at`: the last one may wait for the next, to be told from a spike.
    fn look(&mut self, waves: Option<&dyn Waves>, at: u64) {
        let oldest = at.saturating_sub(self.longest);
        for number in self.next.unwrap_or(at).max(oldest)..at {
            let Some(samples) = waves.and_then(|waves| waves.phase_currents(self.settings.source.current, number))
            else {
                self.forget_samples();
                continue;
            };
            self.poles.look(number, samples);
            let bends = self.knees.look(number, samples);
            if self.settings.saturation && bends != [false; 3] {
                self.saturated_until = number.saturating_add(self.saturates);
            }
        }
        self.next = Some(at);
    }

    fn forget_samples(&mut self) {
        self.poles.reset();
        self.knees.reset();
    }

    /// A task that cannot measure. A suspected fuse may be a fault: the voltage before it and the saturation in it are needed afterwards. A transformer that
    /// is saturated before another block, such as one by lost samples, is saturated after it.
    fn wait(&mut self, inputs: &Inputs<'_>, blocks: Blocks) {
        let Some(current) = inputs.sets.get(self.settings.source.current) else {
            return self.reset();
        };
        if blocks != Blocks::FUSE {
            self.memory.reset();
        }
        self.look(inputs.waves, current.at);
        self.pace = Pace::default();
        self.same = 0;
        self.forget();
    }

    /// Clears the state when no loop is in the zone: timers reset at once.
    fn forget(&mut self) {
        self.tasks = [0; 6];
        self.timer = Delay::default();
        self.runs = 0;
    }

    /// The loops among these that are in the zone.
    fn inside(&self, some: &[Loop], loops: &Loops, polarising: Polarising, is_saturated: bool) -> [bool; 6] {
        let mut started = [false; 6];
        for each in some {
            let index = each.index();
            let is_shorter = is_saturated && self.delays[index] < self.delayed;
            let is_near = !is_shorter || self.is_near(*each, loops);
            started[index] = is_near
                && self.is_taken(*each, loops)
                && self.zone.contains(loops, *each, polarising, self.tasks[index] > 0)
                && self.is_fault(*each, loops);
        }
        started
    }

    /// True if the impedance of a loop is that of a close fault, whatever the current of a saturated transformer has lost.
    fn is_near(&self, each: Loop, loops: &Loops) -> bool {
        let most = SATURATED_REACH * self.settings.reach_ohm;
        loops
            .impedance(each)
            .is_some_and(|impedance| !impedance.is_at_least(most))
    }

    /// Counts for how long the same loops have decided. The three phase loops are those of load: they count only in the zone.
    fn count(&mut self, selected: &'static [Loop], passed: u64, in_zone: bool) {
        self.same = if selected == self.selected && (in_zone || selected.len() == 1) {
            self.same.saturating_add(passed)
        } else {
            0
        };
        self.selected = selected;
    }

    /// The swing of the streams, if it concerns this zone.
    fn swing(&mut self, current: &Measured, voltage: &Measured, loops: &Loops) -> Swing {
        let (one, other) = (current.health.swing, voltage.health.swing);
        let swing = Swing {
            detected: self.settings.swing_block && (one.detected || other.detected),
            blocks: self.settings.swing_block && (one.blocks || other.blocks),
        };
        self.swinging_at = swing.detected.then_some(current.at);
        if swing.detected {
            self.stillness.keep(current.at, loops);
        } else {
            self.stillness.forget();
        }
        swing
    }

    /// True if a loop is no loop of a swing.
    fn is_fault(&self, each: Loop, loops: &Loops) -> bool {
        self.swinging_at
            .is_none_or(|at| self.stillness.is_still(at, loops, each))
    }

    fn is_taken(&self, each: Loop, loops: &Loops) -> bool {
        (self.settings.earth_loops || !each.is_earth())
            && loops.current(each).is_at_least(self.least_a)
            && !(self.open & each.phases()).any()
    }
}

impl Function for Pdis {
    fn node(&self) -> Node {
        Node {
            class: "PDIS",
            ansi: "21",
        }
    }

    fn step(&mut self, inputs: &Inputs<'_>) -> Output {
        let source = self.settings.source;
        let (current, voltage) = match source.both(inputs, Channels::PHASE_CURRENTS, Channels::PHASE_VOLTAGES) {
            Ok(sets) => sets,
            Err(blocks) => {
                self.wait(inputs, blocks);
                return Output::blocked(blocks);
            }
        };
        let passed = self.pace.passed(current.at);
        self.look(inputs.waves, current.at);
        self.open = self.poles.step(current, voltage);
        if self.poles.is_dead() {
            if self.poles.is_long_dead(current.at) {
                self.memory.reset();
            }
            self.same = 0;
            self.forget();
            return Output::blocked(Blocks::VOLTAGE);
        }
        let polarising = self.polarising(voltage);
        let loops = self.loops(current, voltage);
        if self.swing(current, voltage, &loops).blocks {
            self.same = 0;
            self.forget();
            return Output::blocked(Blocks::SWING);
        }
        let Selection { preferred, reserve } = loops.selected(self.rated_a, self.open);
        let mut selected = preferred;
        let is_saturated = current.at < self.saturated_until;
        let mut started = self.inside(preferred, &loops, polarising, is_saturated);
        if started == [false; 6] && reserve != preferred {
            started = self.inside(reserve, &loops, polarising, is_saturated);
            if started != [false; 6] {
                selected = reserve;
            }
        }
        self.count(selected, passed, started != [false; 6]);
        let mut output = Output::default();
        if started == [false; 6] {
            self.forget();
            let is_held = is_saturated && self.inside(preferred, &loops, polarising, false) != [false; 6];
            output.blocked = Blocks::SATURATION.when(is_held);
            return output;
        }
        let needed = if selected == preferred {
            self.steady[usize::from(matches!(selected, [one] if one.is_earth()))]
        } else {
            self.reserve
        };
        self.runs = self.runs.saturating_add(1);
        self.timer.step(passed, true, 0, 0);
        let in_zone = self.timer.run();
        let is_certain = self.same >= needed && (self.swinging_at.is_none() || in_zone >= self.reserve);
        let is_unsteady = !is_certain && in_zone >= self.unsteady && self.runs >= self.settings.confirmations;
        let all = selected.len() > 1 || is_unsteady;
        let named = |each: Loop| if all { Phases::ABC } else { each.phases() };
        for (index, each) in Loop::ALL.into_iter().enumerate() {
            self.tasks[index] = if started[index] {
                self.tasks[index].saturating_add(1)
            } else {
                0
            };
            let confirmed = is_certain && self.tasks[index] >= self.settings.confirmations;
            let operated = started[index] && in_zone >= self.delays[index] && (confirmed || is_unsteady);
            output.started |= named(each).when(started[index]);
            output.operated |= named(each).when(operated);
        }
        if output.started.any() {
            output.direction = match self.settings.mode {
                Mode::Forward => Direction::Forward,
                Mode::Reverse => Direction::Reverse,
            };
        }
        output
    }

    fn reset(&mut self) {
        self.memory.reset();
        self.pace = Pace::default();
        self.next = None;
        self.forget_samples();
        self.saturated_until = 0;
        self.same = 0;
        self.forget();
    }
}
