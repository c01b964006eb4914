//! One distance zone.

use super::characteristic::{Polarising, Zone};
use super::loops::{Loop, Loops};
use super::settings::PdisSettings;
use crate::complex::Complex;
use crate::direction::{Mode, VoltageMemory};
use crate::error::SettingError;
use crate::function::{Direction, Function, Inputs, Node, Output};
use crate::measure::{Blocks, Channels, Measured};
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

/// PDIS (21), one zone: operates when the impedance of a loop that measures the fault has been in the zone for the set number of task runs, and then
/// for the delay.
///
/// It does not supervise the voltage transformers: after a blown fuse it measures an impedance of zero, unless
/// [`FuseSupervision`](crate::supervision::FuseSupervision) blocks it.
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
    timers: [Delay; 6],
    /// The loops that were selected last, and the samples for which they have been.
    selected: &'static [Loop],
    same: u64,
    /// [`STEADY_MS`] in samples.
    steady: [u64; 2],
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
            settings,
            pace: Pace::default(),
            tasks: [0; 6],
            timers: [Delay::default(); 6],
            selected: &[],
            same: 0,
            steady: STEADY_MS.map(|ms| rated.samples_in_ms(ms)),
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

    /// Clears the state when no loop is in the zone: timers reset at once.
    fn forget(&mut self) {
        self.tasks = [0; 6];
        self.timers = [Delay::default(); 6];
    }

    fn is_taken(&self, each: Loop, loops: &Loops) -> bool {
        (self.settings.earth_loops || !each.is_earth()) && loops.current(each).is_at_least(self.least_a)
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
                let memory = self.memory.clone();
                self.reset();
                // A suspected fuse may be a fault: the voltage before it is needed afterwards.
                if blocks == Blocks::FUSE {
                    self.memory = memory;
                }
                return Output::blocked(blocks);
            }
        };
        let passed = self.pace.passed(current.at);
        let polarising = self.polarising(voltage);
        let loops = self.loops(current, voltage);
        let mut started = [false; 6];
        let selected = loops.selected(self.rated_a);
        self.same = if selected == self.selected {
            self.same.saturating_add(passed)
        } else {
            0
        };
        self.selected = selected;
        for each in selected {
            let index = each.index();
            started[index] =
                self.is_taken(*each, &loops) && self.zone.contains(&loops, *each, polarising, self.tasks[index] > 0);
        }
        let mut output = Output::default();
        if started == [false; 6] {
            if self.tasks != [0; 6] {
                self.forget();
            }
            return output;
        }
        let is_earth = matches!(selected, [one] if one.is_earth());
        let is_certain = self.same >= self.steady[usize::from(is_earth)];
        let named = |each: Loop| if selected.len() > 1 { Phases::ABC } else { each.phases() };
        for (index, each) in Loop::ALL.into_iter().enumerate() {
            self.tasks[index] = if started[index] {
                self.tasks[index].saturating_add(1)
            } else {
                0
            };
            let timed = self.timers[index].step(passed, started[index], self.delays[index], 0);
            let operated = timed && is_certain && self.tasks[index] >= self.settings.confirmations;
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
        self.same = 0;
        self.forget();
    }
}
