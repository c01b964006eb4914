//! Frequency protection: under (PTUF), over (PTOF), rate of change (PFRC).

use serde::Deserialize;

use crate::error::{Check, SettingError};
use crate::function::{Function, Inputs, Node, Output, Source};
use crate::measure::{Blocks, Channels, Frequency};
use crate::phases::Phases;
use crate::rated::Rated;
use crate::timing::{Comparator, Delay, Pace};

/// Cycles in a row beyond the setting before a function starts.
const CYCLES: u32 = 4;

/// The compared quantity.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrequencyLimit {
    /// PTUF (81U): starts below this many Hz, 0.88 to 1 times rated.
    Under(f64),
    /// PTOF (81O): starts above this many Hz, 1 to 1.12 times rated.
    Over(f64),
    /// PFRC (81R): starts when the frequency rises faster than this many Hz/s, 0.05 to 20.
    Rising(f64),
    /// PFRC (81R): starts when the frequency falls faster than this many Hz/s, 0.05 to 20.
    Falling(f64),
}

/// Settings of PTUF, PTOF and PFRC.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FrequencySettings {
    /// Source of the voltage.
    pub source: Source,
    /// The compared quantity and its bound.
    pub limit: FrequencyLimit,
    /// Delay in ms, 100 to 300 000.
    pub delay_ms: f64,
    /// Least positive-sequence voltage in x Uph, 0.1 to 0.9: below it the function is blocked.
    pub least_voltage: f64,
    /// Distance in Hz (or Hz/s) that it must return to reset, 0.005 to 1.
    pub hysteresis: f64,
}

impl Default for FrequencySettings {
    /// Below 49 Hz for 200 ms, blocked below 0.3 Uph, 20 mHz hysteresis.
    fn default() -> Self {
        Self {
            source: Source::default(),
            limit: FrequencyLimit::Under(49.0),
            delay_ms: 200.0,
            least_voltage: 0.3,
            hysteresis: 0.02,
        }
    }
}

/// PTUF (81U), PTOF (81O) or PFRC (81R): operates when the frequency, or its rate of change, has been beyond the setting in
/// four cycles in a row and then for the delay.
///
/// Blocked while the frequency cannot be measured: no voltage, a bad or lost sample within the last cycles.
#[derive(Debug, Clone)]
pub struct FrequencyProtection {
    settings: FrequencySettings,
    least_v: f64,
    delay: u64,
    pace: Pace,
    comparator: Comparator,
    /// Number of the last evaluated cycle, and consecutive cycles beyond the setting.
    seen: u32,
    beyond: u32,
    timer: Delay,
}

impl FrequencyProtection {
    /// The function with these settings.
    ///
    /// # Errors
    /// A setting outside its range.
    pub fn new(settings: FrequencySettings, rated: &Rated) -> Result<Self, SettingError> {
        rated.check()?;
        let check = Check(class(settings.limit));
        let hz = rated.frequency_hz;
        match settings.limit {
            FrequencyLimit::Under(limit) => check.range("limit.under", limit, "Hz", 0.88 * hz..=hz)?,
            FrequencyLimit::Over(limit) => check.range("limit.over", limit, "Hz", hz..=1.12 * hz)?,
            FrequencyLimit::Rising(limit) => check.range("limit.rising", limit, "Hz/s", 0.05..=20.0)?,
            FrequencyLimit::Falling(limit) => check.range("limit.falling", limit, "Hz/s", 0.05..=20.0)?,
        }
        check.range("delay-ms", settings.delay_ms, "ms", 100.0..=300_000.0)?;
        check.range("least-voltage", settings.least_voltage, "x Uph", 0.1..=0.9)?;
        check.range("hysteresis", settings.hysteresis, "Hz", 0.005..=1.0)?;
        Ok(Self {
            least_v: settings.least_voltage * rated.phase_voltage_v(),
            delay: rated.samples_in_ms(settings.delay_ms),
            settings,
            pace: Pace::default(),
            comparator: Comparator::default(),
            seen: 0,
            beyond: 0,
            timer: Delay::default(),
        })
    }

    /// Evaluates the frequency of a new cycle.
    fn take(&mut self, frequency: Frequency) {
        if frequency.cycles == self.seen {
            return;
        }
        self.seen = frequency.cycles;
        let (value, limit) = match self.settings.limit {
            FrequencyLimit::Under(limit) => (-frequency.cycle_hz, -limit),
            FrequencyLimit::Over(limit) => (frequency.cycle_hz, limit),
            FrequencyLimit::Rising(limit) => (frequency.hz_per_s.unwrap_or(0.0), limit),
            FrequencyLimit::Falling(limit) => (-frequency.hz_per_s.unwrap_or(0.0), limit),
        };
        let beyond = self
            .comparator
            .above(value - limit + self.settings.hysteresis, self.settings.hysteresis, 0.0);
        self.beyond = if beyond { self.beyond.saturating_add(1) } else { 0 };
    }
}

fn class(limit: FrequencyLimit) -> &'static str {
    match limit {
        FrequencyLimit::Under(_) => "PTUF",
        FrequencyLimit::Over(_) => "PTOF",
        FrequencyLimit::Rising(_) | FrequencyLimit::Falling(_) => "PFRC",
    }
}

impl Function for FrequencyProtection {
    fn node(&self) -> Node {
        let ansi = match self.settings.limit {
            FrequencyLimit::Under(_) => "81U",
            FrequencyLimit::Over(_) => "81O",
            FrequencyLimit::Rising(_) | FrequencyLimit::Falling(_) => "81R",
        };
        Node {
            class: class(self.settings.limit),
            ansi,
        }
    }

    fn step(&mut self, inputs: &Inputs<'_>) -> Output {
        let set = match Source::one(inputs, self.settings.source.voltage, Channels::PHASE_VOLTAGES) {
            Ok(set) => set,
            Err(blocks) => {
                self.reset();
                return Output::blocked(blocks);
            }
        };
        let enough = set.voltage_sequence.positive.is_at_least(self.least_v);
        let measured = set.frequency.filter(|found| enough && found.cycle_hz.is_finite());
        let Some(frequency) = measured else {
            self.reset();
            return Output::blocked(Blocks::VOLTAGE);
        };
        self.take(frequency);
        let passed = self.pace.passed(set.at);
        let started = self.beyond >= CYCLES;
        let operated = self.timer.step(passed, started, self.delay, 0);
        Output {
            started: Phases::ABC.when(started),
            operated: Phases::ABC.when(operated),
            ..Output::default()
        }
    }

    fn reset(&mut self) {
        self.pace = Pace::default();
        self.comparator = Comparator::default();
        self.seen = 0;
        self.beyond = 0;
        self.timer = Delay::default();
    }
}
