//! Switch-on-to-fault (PSOF).

use serde::Deserialize;

use crate::error::{Check, SettingError};
use crate::function::{Function, Inputs, Node, Output, Source};
use crate::measure::{Channels, Measured};
use crate::phases::Phases;
use crate::rated::Rated;
use crate::timing::{Delay, Pace};

/// Consecutive runs of the task that an operation takes.
const CONFIRMATIONS: u32 = 2;

/// Settings of PSOF (50SOTF).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PsofSettings {
    /// Source of currents and voltages; the voltages are those of the line, not of the busbar.
    pub source: Source,
    /// Setting of the phase current in x In, 0.1 to 20: above the load.
    pub current: f64,
    /// Setting of the phase voltage in x Uph, 0.1 to 0.9: below it, with the current, the line is faulted.
    pub voltage: f64,
    /// Delay in ms, 20 to 1000: from one cycle on, in which the voltage of a healthy line reaches its value in the window.
    pub delay_ms: f64,
    /// Time in ms for which the line must be dead before the function is ready, 50 to 60 000.
    pub dead_ms: f64,
    /// Time in ms after the line is energised in which the function can start, 100 to 10 000.
    pub active_ms: f64,
    /// Voltage in x Uph and current in x In below which a phase is dead.
    pub dead_voltage: f64,
    /// See `dead-voltage`; 0.02 to 0.5.
    pub dead_current: f64,
}

impl Default for PsofSettings {
    /// 1.2 In below 0.7 Uph for 25 ms; ready after 200 ms, for 1 s; dead below 0.2 Uph and 0.05 In.
    fn default() -> Self {
        Self {
            source: Source::default(),
            current: 1.2,
            voltage: 0.7,
            delay_ms: 25.0,
            dead_ms: 200.0,
            active_ms: 1000.0,
            dead_voltage: 0.2,
            dead_current: 0.05,
        }
    }
}

/// PSOF (50SOTF): operates when a line that was dead is energised and a phase has current and low voltage at once.
///
/// A distance zone has no voltage before such a fault, and none during it if it is close. Inrush leaves the voltage high, so it does not start. The
/// criterion is that of ABB's ZCVPSOF in its mode of voltage and current level.
#[derive(Debug, Clone)]
pub struct Psof {
    settings: PsofSettings,
    current_a: f64,
    voltage_v: f64,
    dead_a: f64,
    dead_v: f64,
    delay: u64,
    dead: u64,
    active: u64,
    pace: Pace,
    deadness: Delay,
    /// Samples for which the function stays ready; 0: it is not.
    ready: u64,
    /// True if the task before was blocked: then the line may have been energised unseen.
    was_blocked: bool,
    lanes: [(Delay, u32); 3],
}

impl Psof {
    /// The function with these settings.
    ///
    /// # Errors
    /// A setting outside its range, or settings that contradict each other.
    pub fn new(settings: PsofSettings, rated: &Rated) -> Result<Self, SettingError> {
        rated.check()?;
        let check = Check("PSOF");
        check.range("current", settings.current, "x In", 0.1..=20.0)?;
        check.range("voltage", settings.voltage, "x Uph", 0.1..=0.9)?;
        check.range("delay-ms", settings.delay_ms, "ms", 20.0..=1000.0)?;
        check.range("dead-ms", settings.dead_ms, "ms", 50.0..=60_000.0)?;
        check.range("active-ms", settings.active_ms, "ms", 100.0..=10_000.0)?;
        check.range("dead-voltage", settings.dead_voltage, "x Uph", 0.05..=0.8)?;
        check.range("dead-current", settings.dead_current, "x In", 0.02..=0.5)?;
        check.together(settings.dead_current < settings.current, || {
            format!(
                "dead-current at {} is not below current at {}: a faulted line would count as dead",
                settings.dead_current, settings.current
            )
        })?;
        Ok(Self {
            current_a: settings.current * rated.current_a,
            voltage_v: settings.voltage * rated.phase_voltage_v(),
            dead_a: settings.dead_current * rated.current_a,
            dead_v: settings.dead_voltage * rated.phase_voltage_v(),
            delay: rated.samples_in_ms(settings.delay_ms),
            dead: rated.samples_in_ms(settings.dead_ms),
            active: rated.samples_in_ms(settings.active_ms),
            settings,
            pace: Pace::default(),
            deadness: Delay::default(),
            ready: 0,
            was_blocked: false,
            lanes: <[(Delay, u32); 3]>::default(),
        })
    }

    fn is_dead(&self, current: &Measured, voltage: &Measured) -> bool {
        let are_below =
            |phasors: &[crate::complex::Complex; 3], floor| !phasors.iter().any(|each| each.is_at_least(floor));
        are_below(&current.current, self.dead_a) && are_below(&voltage.voltage, self.dead_v)
    }

    /// A block ends what has started, but not the readiness: samples are lost at the closing of a breaker, too. Its time goes on.
    fn break_off(&mut self) {
        self.was_blocked = true;
        self.deadness = Delay::default();
        self.lanes = <[(Delay, u32); 3]>::default();
    }
}

impl Function for Psof {
    fn node(&self) -> Node {
        Node {
            class: "PSOF",
            ansi: "50SOTF",
        }
    }

    fn step(&mut self, inputs: &Inputs<'_>) -> Output {
        let source = self.settings.source;
        let (current, voltage) = match source.both(inputs, Channels::PHASE_CURRENTS, Channels::PHASE_VOLTAGES) {
            Ok(sets) => sets,
            Err(blocks) => {
                self.break_off();
                return Output::blocked(blocks);
            }
        };
        let passed = self.pace.passed(current.at);
        let is_dead = self.is_dead(current, voltage);
        let stays = is_dead && !std::mem::take(&mut self.was_blocked);
        self.ready = match self.deadness.step(passed, is_dead, self.dead, 0) {
            true => self.active,
            false if stays => self.ready,
            false => self.ready.saturating_sub(passed),
        };
        let mut output = Output::default();
        for (phase, (delay, tasks)) in self.lanes.iter_mut().enumerate() {
            let is_faulted = current.current[phase].is_at_least(self.current_a)
                && !voltage.voltage[phase].is_at_least(self.voltage_v);
            // A phase that started in time may operate after it.
            let started = is_faulted && (self.ready > 0 || *tasks > 0);
            *tasks = if started { tasks.saturating_add(1) } else { 0 };
            let timed = delay.step(passed, started, self.delay, 0);
            output.started |= Phases::EACH[phase].when(started);
            output.operated |= Phases::EACH[phase].when(timed && *tasks >= CONFIRMATIONS);
        }
        // The phases of one fault start a task or two apart.
        output.operated = output.started.when(output.operated.any());
        output
    }

    fn reset(&mut self) {
        self.pace = Pace::default();
        self.deadness = Delay::default();
        self.ready = 0;
        self.was_blocked = false;
        self.lanes = <[(Delay, u32); 3]>::default();
    }
}
