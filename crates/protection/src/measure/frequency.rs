//! Frequency and its rate of change, from the rotation of a phasor.

use serde::Deserialize;

use super::reference::Reference;
use crate::complex::Complex;
use crate::error::{Check, SettingError};
use crate::rated::Rated;

/// Number of one-cycle values that are averaged.
const AVERAGED: usize = 4;

/// Cycles over which the rate of change is a least-squares slope.
const SLOPE: usize = 5;

/// Largest spread of the averaged values with which the reference follows, in Hz: a fault rotates the phasor suddenly.
const AGREE_HZ: f64 = 1.0;

/// Distance from the rated frequency, in Hz, below which the reference uses the rated frequency: a share of 10^-4 of the window.
const NEAR_HZ: f64 = 0.005;

/// A measured frequency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frequency {
    /// Mean of four cycles, in Hz.
    pub hz: f64,
    /// Rate of change over five cycles, in Hz/s; `None` until there are five.
    pub hz_per_s: Option<f64>,
    /// Frequency of the last cycle only, in Hz.
    pub cycle_hz: f64,
    /// Number of cycles measured without interruption.
    pub cycles: u32,
}

/// Conditions for measuring a frequency.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TrackerSettings {
    /// Minimum magnitude of the phasor, as a share of its rated value, 0.02 to 0.9.
    pub least: f64,
    /// True if the reference follows the frequency, false if it keeps the rated one.
    pub steer: bool,
    /// Time without a measured frequency after which the reference returns to the rated one, in ms, 100 to 60 000.
    pub forget_ms: f64,
}

impl Default for TrackerSettings {
    /// From 0.1 of the rated voltage on; steering; forgetting after 2 s.
    fn default() -> Self {
        Self {
            least: 0.1,
            steer: true,
            forget_ms: 2000.0,
        }
    }
}

impl TrackerSettings {
    /// Checks that the settings lie in their ranges.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn check(&self) -> Result<(), SettingError> {
        let check = Check("frequency measurement");
        check.range("least", self.least, "x rated", 0.02..=0.9)?;
        check.range("forget-ms", self.forget_ms, "ms", 100.0..=60_000.0)
    }
}

/// Measures the frequency once per cycle: `f = f_ref + dtheta / (2 pi dt)`, with `dtheta` the rotation of the phasor relative to the reference. If
/// the reference was retuned, `f_ref` is its mean over the two windows that `dtheta` compares.
#[derive(Debug, Clone)]
pub struct Tracker {
    settings: TrackerSettings,
    rated_hz: f64,
    rate: f64,
    cycle: u64,
    forget: u64,
    least: f64,
    last: Option<(u64, Complex)>,
    /// Frequency of the reference in the cycle before the last.
    before_hz: f64,
    values: [f64; SLOPE],
    cycles: u32,
    /// Last sample with a frequency.
    seen: u64,
    frequency: Option<Frequency>,
}

impl Tracker {
    /// A tracker of a phasor with this rated magnitude (usually a phase-to-earth voltage).
    ///
    /// # Errors
    /// A setting outside its range.
    pub fn new(settings: TrackerSettings, rated: &Rated, rated_magnitude: f64) -> Result<Self, SettingError> {
        settings.check()?;
        rated.check()?;
        Ok(Self {
            settings,
            rated_hz: rated.frequency_hz,
            rate: rated.samples_per_second,
            cycle: rated.samples_per_cycle(),
            forget: rated.samples_in_ms(settings.forget_ms),
            least: settings.least * rated_magnitude,
            last: None,
            before_hz: rated.frequency_hz,
            values: [0.0; SLOPE],
            cycles: 0,
            seen: 0,
            frequency: None,
        })
    }

    /// Evaluates the phasor at sample `at`, and steers the reference if that is enabled. `usable` is false while a bad or lost sample is in the
    /// window. The phasor should be the positive-sequence voltage, because that has no component of twice the frequency.
    pub fn step(&mut self, at: u64, phasor: Complex, usable: bool, reference: &mut Reference) -> Option<Frequency> {
        let usable = usable && phasor.is_at_least(self.least) && phasor.is_finite();
        let Some((last, before)) = self.last else {
            self.begin(at, phasor, usable, reference);
            return None;
        };
        if !usable {
            self.last = None;
            self.cycles = 0;
            self.frequency = None;
            return None;
        }
        let passed = at.saturating_sub(last);
        if passed < self.cycle {
            return self.frequency;
        }
        if passed > 2 * self.cycle {
            self.begin(at, phasor, usable, reference);
            return None;
        }
        let turned = (phasor * before.conj()).arg();
        let now_hz = reference.frequency_hz();
        let hz = 0.5 * (self.before_hz + now_hz) + turned * self.rate / (std::f64::consts::TAU * passed as f64);
        self.last = Some((at, phasor));
        self.before_hz = now_hz;
        self.take(hz, passed);
        self.seen = at;
        self.steer(reference);
        self.frequency
    }

    /// The last measured frequency.
    #[must_use]
    pub fn frequency(&self) -> Option<Frequency> {
        self.frequency
    }

    fn begin(&mut self, at: u64, phasor: Complex, usable: bool, reference: &mut Reference) {
        self.frequency = None;
        self.cycles = 0;
        self.last = usable.then_some((at, phasor));
        self.before_hz = reference.frequency_hz();
        if !usable && at.saturating_sub(self.seen) > self.forget && self.settings.steer {
            reference.tune(self.rated_hz);
        }
    }

    fn take(&mut self, hz: f64, passed: u64) {
        self.values.rotate_left(1);
        self.values[SLOPE - 1] = hz;
        self.cycles = self.cycles.saturating_add(1);
        if (self.cycles as usize) < AVERAGED {
            return;
        }
        let latest = &self.values[SLOPE - AVERAGED..];
        let enough = self.cycles as usize >= SLOPE;
        self.frequency = Some(Frequency {
            hz: latest.iter().sum::<f64>() / AVERAGED as f64,
            hz_per_s: enough.then(|| slope(&self.values) * self.rate / passed as f64),
            cycle_hz: hz,
            cycles: self.cycles,
        });
    }

    fn steer(&self, reference: &mut Reference) {
        let Some(Frequency { hz, .. }) = self.frequency else {
            return;
        };
        let latest = &self.values[SLOPE - AVERAGED..];
        let agree = latest.iter().all(|each| (each - hz).abs() <= AGREE_HZ);
        if !self.settings.steer || !agree {
            return;
        }
        let near = (hz - self.rated_hz).abs() < NEAR_HZ;
        let wanted = if near { self.rated_hz } else { hz };
        if near || (wanted - reference.frequency_hz()).abs() >= NEAR_HZ {
            reference.tune(wanted);
        }
    }
}

/// Least-squares slope of equally spaced values, per step.
fn slope(values: &[f64; SLOPE]) -> f64 {
    let middle = (SLOPE - 1) as f64 / 2.0;
    let (mut product, mut square) = (0.0, 0.0);
    for (step, value) in values.iter().enumerate() {
        let x = step as f64 - middle;
        product += x * value;
        square += x * x;
    }
    product / square
}
