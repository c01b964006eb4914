//! Undervoltage.

use serde::Deserialize;

use super::curve::VoltageCurve;
use super::lane::{Lanes, Side, Stage};
use super::quantity::VoltageQuantity;
use crate::error::{Check, SettingError};
use crate::function::{Function, Inputs, Node, Output, Source};
use crate::measure::Blocks;
use crate::rated::Rated;

/// Settings of PTUV (27).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PtuvSettings {
    /// Source of the voltage.
    pub source: Source,
    /// The compared voltage: phase to earth, phase to phase, or positive sequence.
    pub quantity: VoltageQuantity,
    /// Setting in the per unit of the quantity, 0.05 to 1.2.
    pub pickup: f64,
    /// How many of three voltages must be below it, 1 to 3.
    pub phases: u32,
    /// Curve of the operate time.
    pub curve: VoltageCurve,
    /// Time multiplier k of inverse curves, 0.05 to 15.
    pub time_multiplier: f64,
    /// Definite time in ms, 0 to 300 000.
    pub delay_ms: f64,
    /// Time above the setting after which the progress is cleared, in ms, 0 to 60 000.
    pub reset_ms: f64,
    /// Multiple of the setting above which it resets, 1.005 to 1.1.
    pub reset_ratio: f64,
    /// While all voltages are below this, the line is dead and the function blocked; in the per unit of the quantity, 0 to 1,
    /// and below the setting; 0 never blocks.
    pub dead_line: f64,
}

impl Default for PtuvSettings {
    /// One of three phase-to-phase voltages below 0.8 Un for 1 s; hysteresis of 4 %; dead below 0.2 Un.
    fn default() -> Self {
        Self {
            source: Source::default(),
            quantity: VoltageQuantity::PhaseToPhase,
            pickup: 0.8,
            phases: 1,
            curve: VoltageCurve::DefiniteTime,
            time_multiplier: 1.0,
            delay_ms: 1000.0,
            reset_ms: 0.0,
            reset_ratio: 1.04,
            dead_line: 0.2,
        }
    }
}

/// PTUV (27): operates when a voltage has been below its setting for a time. Blocked while the line is dead.
#[derive(Debug, Clone)]
pub struct Ptuv {
    settings: PtuvSettings,
    rated: Rated,
    lanes: Lanes,
}

impl Ptuv {
    /// The function with these settings.
    ///
    /// # Errors
    /// A setting outside its range, or settings that contradict each other.
    pub fn new(settings: PtuvSettings, rated: &Rated) -> Result<Self, SettingError> {
        rated.check()?;
        let check = Check("PTUV");
        check.range("pickup", settings.pickup, "x rated", 0.05..=1.2)?;
        check.range("time-multiplier", settings.time_multiplier, "", 0.05..=15.0)?;
        check.range("delay-ms", settings.delay_ms, "ms", 0.0..=300_000.0)?;
        check.range("reset-ms", settings.reset_ms, "ms", 0.0..=60_000.0)?;
        check.range("reset-ratio", settings.reset_ratio, "x pickup", 1.005..=1.1)?;
        check.range("dead-line", settings.dead_line, "x rated", 0.0..=1.0)?;
        check.range(
            "phases",
            f64::from(settings.phases),
            "",
            1.0..=settings.quantity.count() as f64,
        )?;
        check.together(settings.dead_line < settings.pickup, || {
            format!(
                "dead-line at {} is not below pickup at {}: the function could never start",
                settings.dead_line, settings.pickup
            )
        })?;
        let fits = !settings.quantity.is_residual() && settings.quantity != VoltageQuantity::NegativeSequence;
        check.together(fits, || {
            "a residual or negative-sequence voltage is low without a fault: use phase-to-earth, phase-to-phase or \
             positive-sequence"
                .to_owned()
        })?;
        check.together(settings.curve != VoltageCurve::C, || {
            "curve c is for overvoltage only: use a or b".to_owned()
        })?;
        Ok(Self {
            lanes: Lanes::new(Stage {
                side: Side::Below,
                inverse: settings
                    .curve
                    .under()
                    .map(|constants| (constants, settings.time_multiplier)),
                pickup: settings.pickup,
                reset_ratio: settings.reset_ratio,
                phases: settings.phases,
                delay: rated.samples_in_ms(settings.delay_ms),
                reset_delay: rated.samples_in_ms(settings.reset_ms),
                seconds_per_sample: 1.0 / rated.samples_per_second,
            }),
            settings,
            rated: *rated,
        })
    }
}

impl Function for Ptuv {
    fn node(&self) -> Node {
        Node {
            class: "PTUV",
            ansi: "27",
        }
    }

    fn step(&mut self, inputs: &Inputs<'_>) -> Output {
        let channels = self.settings.quantity.channels();
        let set = match Source::one(inputs, self.settings.source.voltage, channels) {
            Ok(set) => set,
            Err(blocks) => {
                self.reset();
                return Output::blocked(blocks);
            }
        };
        let found = self.settings.quantity.of(set, &self.rated);
        if found.highest() < self.settings.dead_line {
            self.reset();
            return Output::blocked(Blocks::VOLTAGE);
        }
        self.lanes.step(set.at, &found)
    }

    fn reset(&mut self) {
        self.lanes.reset();
    }
}
