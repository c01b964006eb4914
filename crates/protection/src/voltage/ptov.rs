//! Overvoltage.

use serde::Deserialize;

use super::curve::VoltageCurve;
use super::lane::{Lanes, Side, Stage};
use super::quantity::VoltageQuantity;
use crate::error::{Check, SettingError};
use crate::function::{Function, Inputs, Node, Output, Source};
use crate::rated::Rated;

/// Settings of PTOV (59, 59N, 47).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PtovSettings {
    /// Source of the voltage.
    pub source: Source,
    /// The compared voltage.
    pub quantity: VoltageQuantity,
    /// Setting in the per unit of the quantity, 0.01 to 2.
    pub pickup: f64,
    /// How many of three voltages must be above it, 1 to 3.
    pub phases: u32,
    /// Curve of the operate time.
    pub curve: VoltageCurve,
    /// Time multiplier k of inverse curves, 0.05 to 15.
    pub time_multiplier: f64,
    /// Definite time in ms, 0 to 300 000.
    pub delay_ms: f64,
    /// Time below the setting after which the progress is cleared, in ms, 0 to 60 000.
    pub reset_ms: f64,
    /// Share of the setting below which it resets, 0.9 to 0.995.
    pub reset_ratio: f64,
}

impl Default for PtovSettings {
    /// One of three phase-to-phase voltages above 1.1 Un for 1 s; hysteresis of 4 %.
    fn default() -> Self {
        Self {
            source: Source::default(),
            quantity: VoltageQuantity::PhaseToPhase,
            pickup: 1.1,
            phases: 1,
            curve: VoltageCurve::DefiniteTime,
            time_multiplier: 1.0,
            delay_ms: 1000.0,
            reset_ms: 0.0,
            reset_ratio: 0.96,
        }
    }
}

/// PTOV (59; residual 59N; negative sequence 47): operates when a voltage has been above its setting for a time.
#[derive(Debug, Clone)]
pub struct Ptov {
    settings: PtovSettings,
    rated: Rated,
    lanes: Lanes,
}

impl Ptov {
    /// The function with these settings.
    ///
    /// # Errors
    /// A setting outside its range, or settings that contradict each other.
    pub fn new(settings: PtovSettings, rated: &Rated) -> Result<Self, SettingError> {
        rated.check()?;
        let check = Check("PTOV");
        check.range("pickup", settings.pickup, "x rated", 0.01..=2.0)?;
        check.range("time-multiplier", settings.time_multiplier, "", 0.05..=15.0)?;
        check.range("delay-ms", settings.delay_ms, "ms", 0.0..=300_000.0)?;
        check.range("reset-ms", settings.reset_ms, "ms", 0.0..=60_000.0)?;
        check.range("reset-ratio", settings.reset_ratio, "x pickup", 0.9..=0.995)?;
        check.range(
            "phases",
            f64::from(settings.phases),
            "",
            1.0..=settings.quantity.count() as f64,
        )?;
        Ok(Self {
            lanes: Lanes::new(Stage {
                side: Side::Above,
                inverse: settings
                    .curve
                    .over()
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

impl Function for Ptov {
    fn node(&self) -> Node {
        let ansi = match self.settings.quantity {
            VoltageQuantity::NegativeSequence => "47",
            quantity if quantity.is_residual() => "59N",
            _ => "59",
        };
        Node { class: "PTOV", ansi }
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
        self.lanes.step(set.at, &self.settings.quantity.of(set, &self.rated))
    }

    fn reset(&mut self) {
        self.lanes.reset();
    }
}
