//! Currents, voltages, power, frequency.

use serde::Deserialize;

use crate::complex::Complex;
use crate::error::{Check, SettingError};
use crate::function::{Inputs, Node, Source};
use crate::measure::{Blocks, Channels, Measured};
use crate::rated::Rated;
use crate::timing::Pace;

/// Settings of MMXU.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct MmxuSettings {
    /// Source of currents and voltages.
    pub source: Source,
    /// Averaging time in ms, 20 to 60 000.
    pub average_ms: f64,
}

impl Default for MmxuSettings {
    /// 200 ms: ten cycles of 50 Hz, twelve of 60.
    fn default() -> Self {
        Self {
            source: Source::default(),
            average_ms: 200.0,
        }
    }
}

/// The values of MMXU: means over the averaging time. Power is that of the fundamental, and positive into the protected object.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MmxuValues {
    /// True RMS of the phase currents, A (`A`).
    pub current_a: [f64; 3],
    /// True RMS of the phase-to-earth voltages, V (`PhV`).
    pub voltage_v: [f64; 3],
    /// RMS of the phase-to-phase voltages, fundamental, V (`PPV`).
    pub phase_to_phase_v: [f64; 3],
    /// Active power of each phase, W (`W`).
    pub active_w: [f64; 3],
    /// Reactive power of each phase, var (`VAr`).
    pub reactive_var: [f64; 3],
    /// Active power of all phases, W (`TotW`).
    pub total_w: f64,
    /// Reactive power of all phases, var (`TotVAr`).
    pub total_var: f64,
    /// Apparent power of all phases, VA (`TotVA`): `sqrt(TotW^2 + TotVAr^2)`.
    pub total_va: f64,
    /// Power factor (`TotPF`), with the sign of the active power; `None` at zero power.
    pub power_factor: Option<f64>,
    /// Frequency, Hz (`Hz`); `None` if it was not measurable during the whole time.
    pub hz: Option<f64>,
}

/// Sums for the averages.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    values: MmxuValues,
    hz: f64,
    hz_count: u32,
    count: u32,
}

/// MMXU: means of currents, voltages, power and frequency.
#[derive(Debug, Clone)]
pub struct Mmxu {
    settings: MmxuSettings,
    time: u64,
    pace: Pace,
    run: u64,
    sums: Sums,
    values: Option<MmxuValues>,
}

impl Mmxu {
    /// The name of the logical node.
    pub const NODE: Node = Node {
        class: "MMXU",
        ansi: "",
    };

    /// The measurement with these settings.
    ///
    /// # Errors
    /// A setting outside its range.
    pub fn new(settings: MmxuSettings, rated: &Rated) -> Result<Self, SettingError> {
        rated.check()?;
        Check("MMXU").range("average-ms", settings.average_ms, "ms", 20.0..=60_000.0)?;
        Ok(Self {
            time: rated.samples_in_ms(settings.average_ms),
            settings,
            pace: Pace::default(),
            run: 0,
            sums: Sums::default(),
            values: None,
        })
    }

    /// Evaluates the sets of one instant. Returns the means of the last complete averaging time; `None` before the first.
    ///
    /// # Errors
    /// Reasons why the sets cannot be used; the averaging time then restarts.
    pub fn step(&mut self, inputs: &Inputs<'_>) -> Result<Option<&MmxuValues>, Blocks> {
        let source = self.settings.source;
        let sets = source.both(inputs, Channels::PHASE_CURRENTS, Channels::PHASE_VOLTAGES);
        let (current, voltage) = sets.inspect_err(|_| {
            self.sums = Sums::default();
            self.pace = Pace::default();
            self.run = 0;
            self.values = None;
        })?;
        self.run = self.run.saturating_add(self.pace.passed(current.at));
        self.sums.add(current, voltage);
        if self.run >= self.time {
            self.run = 0;
            self.values = Some(std::mem::take(&mut self.sums).mean());
        }
        Ok(self.values.as_ref())
    }
}

impl Sums {
    fn add(&mut self, current: &Measured, voltage: &Measured) {
        let sums = &mut self.values;
        let between = voltage.phase_to_phase();
        for (phase, between) in between.into_iter().enumerate() {
            let power = voltage.voltage[phase] * current.current[phase].conj();
            sums.current_a[phase] += current.rms[phase];
            sums.voltage_v[phase] += voltage.rms[4 + phase];
            sums.phase_to_phase_v[phase] += between.norm();
            sums.active_w[phase] += power.re;
            sums.reactive_var[phase] += power.im;
        }
        if let Some(frequency) = voltage.frequency {
            self.hz += frequency.hz;
            self.hz_count += 1;
        }
        self.count += 1;
    }

    fn mean(self) -> MmxuValues {
        let share = 1.0 / f64::from(self.count.max(1));
        let mean = |sums: [f64; 3]| sums.map(|sum| sum * share);
        let (active_w, reactive_var) = (mean(self.values.active_w), mean(self.values.reactive_var));
        let total = Complex::new(active_w.iter().sum(), reactive_var.iter().sum());
        MmxuValues {
            current_a: mean(self.values.current_a),
            voltage_v: mean(self.values.voltage_v),
            phase_to_phase_v: mean(self.values.phase_to_phase_v),
            active_w,
            reactive_var,
            total_w: total.re,
            total_var: total.im,
            total_va: total.norm(),
            power_factor: (total.norm() > 0.0).then(|| total.re / total.norm()),
            hz: (self.hz_count == self.count).then_some(self.hz * share),
        }
    }
}
