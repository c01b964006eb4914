//! Instantaneous overcurrent.

use serde::Deserialize;

use super::quantity::CurrentQuantity;
use crate::error::{Check, SettingError};
use crate::function::{Function, Inputs, Node, Output, Source};
use crate::rated::Rated;
use crate::timing::{Comparator, Delay, Pace};

/// Settings of PIOC (50, 50N).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PiocSettings {
    /// Source of the current.
    pub source: Source,
    /// The compared current.
    pub quantity: CurrentQuantity,
    /// Setting in x In, 0.05 to 40.
    pub pickup: f64,
    /// Consecutive runs of the task above the setting before it operates, 1 to 20.
    pub confirmations: u32,
    /// Additional delay in ms, 0 to 60 000.
    pub delay_ms: f64,
    /// Share of the setting below which it resets, 0.8 to 0.99.
    pub reset_ratio: f64,
}

impl Default for PiocSettings {
    /// Phases at 5 In, two tasks, no delay, reset at 0.96.
    fn default() -> Self {
        Self {
            source: Source::default(),
            quantity: CurrentQuantity::Phases,
            pickup: 5.0,
            confirmations: 2,
            delay_ms: 0.0,
            reset_ratio: 0.96,
        }
    }
}

/// PIOC (50, 50N, 46): operates when a current is above its setting in the set number of consecutive task runs. The current is the full-cycle
/// fundamental with DC removed, as in our reference (3.5).
#[derive(Debug, Clone)]
pub struct Pioc {
    settings: PiocSettings,
    pickup_a: f64,
    delay: u64,
    pace: Pace,
    lanes: [(Comparator, Delay, u32); 3],
}

impl Pioc {
    /// The function with these settings.
    ///
    /// # Errors
    /// A setting outside its range.
    pub fn new(settings: PiocSettings, rated: &Rated) -> Result<Self, SettingError> {
        rated.check()?;
        let check = Check("PIOC");
        check.range("pickup", settings.pickup, "x In", 0.05..=40.0)?;
        check.range("confirmations", f64::from(settings.confirmations), "tasks", 1.0..=20.0)?;
        check.range("delay-ms", settings.delay_ms, "ms", 0.0..=60_000.0)?;
        check.range("reset-ratio", settings.reset_ratio, "x pickup", 0.8..=0.99)?;
        Ok(Self {
            pickup_a: settings.pickup * rated.current_a,
            delay: rated.samples_in_ms(settings.delay_ms),
            settings,
            pace: Pace::default(),
            lanes: <[(Comparator, Delay, u32); 3]>::default(),
        })
    }
}

impl Function for Pioc {
    fn node(&self) -> Node {
        let ansi = match self.settings.quantity {
            CurrentQuantity::Phases => "50",
            CurrentQuantity::Residual | CurrentQuantity::PhaseSum => "50N",
            CurrentQuantity::NegativeSequence => "46",
        };
        Node { class: "PIOC", ansi }
    }

    fn step(&mut self, inputs: &Inputs<'_>) -> Output {
        let channels = self.settings.quantity.channels();
        let set = match Source::one(inputs, self.settings.source.current, channels) {
            Ok(set) => set,
            Err(blocks) => {
                self.reset();
                return Output::blocked(blocks);
            }
        };
        let passed = self.pace.passed(set.at);
        let values = self.settings.quantity.of(set);
        let mut output = Output::default();
        for (lane, (comparator, delay, tasks)) in self.lanes.iter_mut().enumerate().take(values.count) {
            let started = comparator.above(values.values[lane], self.pickup_a, self.settings.reset_ratio);
            if !started && delay.is_idle() {
                *tasks = 0;
                continue;
            }
            *tasks = if started { tasks.saturating_add(1) } else { 0 };
            let timed = delay.step(passed, started, self.delay, 0);
            let operated = timed && *tasks >= self.settings.confirmations;
            output.started |= values.phases[lane].when(started);
            output.operated |= values.phases[lane].when(operated);
        }
        output
    }

    fn reset(&mut self) {
        self.pace = Pace::default();
        self.lanes = <[(Comparator, Delay, u32); 3]>::default();
    }
}
