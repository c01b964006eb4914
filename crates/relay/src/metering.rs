//! Measured values for publication: MMXU and MSQI of a stream, each held until it leaves its deadband.

use protection::measure::Measured;
use protection::power::{Mmxu, MmxuSettings, MmxuValues, Msqi};
use protection::{Inputs, Rated, SettingError, Source};
use serde::Deserialize;

/// Names of the values of MMXU, in the words of IEC 61850-7-4.
pub(crate) const OF_MMXU: [&str; 9] = [
    "A.phsA", "A.phsB", "A.phsC", "PhV.phsA", "PhV.phsB", "PhV.phsC", "TotW", "TotVAr", "Hz",
];

/// Names of the values of MSQI: positive, negative and zero sequence.
pub(crate) const OF_MSQI: [&str; 6] = ["SeqA.c1", "SeqA.c2", "SeqA.c3", "SeqV.c1", "SeqV.c2", "SeqV.c3"];

/// Number of values.
const COUNT: usize = OF_MMXU.len() + OF_MSQI.len();

/// Place of the frequency.
const HZ: usize = 8;

/// Settings of the measured values of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct MeteringSettings {
    /// Averaging time in ms, 20 to 60 000: a value changes once in it at most.
    pub average_ms: f64,
    /// Change of a current, voltage or power that is published, as a part of its rated value, 0.0005 to 0.5.
    pub deadband: f64,
    /// The same of the frequency in Hz, 0.001 to 1.
    pub deadband_hz: f64,
}

impl Default for MeteringSettings {
    /// 1 s, 1 %, 0.01 Hz.
    fn default() -> Self {
        Self {
            average_ms: 1000.0,
            deadband: 0.01,
            deadband_hz: 0.01,
        }
    }
}

/// The measured values of a stream.
#[derive(Debug)]
pub(crate) struct Metering {
    mmxu: Mmxu,
    bands: [f64; COUNT],
    /// The means as last seen; MSQI is taken when they are new.
    seen: Option<MmxuValues>,
    /// The published values; NaN while one is not known.
    held: [f32; COUNT],
}

impl MeteringSettings {
    /// The measured values of a stream with these rated ones.
    ///
    /// # Errors
    /// A setting outside its range.
    pub(crate) fn make(&self, rated: &Rated) -> Result<Metering, SettingError> {
        let average = MmxuSettings {
            average_ms: self.average_ms,
            ..MmxuSettings::default()
        };
        for (setting, value, unit, [low, high]) in [
            ("deadband", self.deadband, "", [0.0005, 0.5]),
            ("deadband-hz", self.deadband_hz, "Hz", [0.001, 1.0]),
        ] {
            if !(low..=high).contains(&value) {
                return Err(SettingError::Range {
                    function: "MMXU",
                    setting,
                    value,
                    unit,
                    low,
                    high,
                });
            }
        }
        let (amperes, volts) = (rated.current_a, rated.phase_voltage_v());
        let watts = 3.0 * amperes * volts;
        let mut bands = [0.0; COUNT];
        for (place, band) in bands.iter_mut().enumerate() {
            *band = match place {
                0..=2 | 9..=11 => self.deadband * amperes,
                3..=5 | 12..=14 => self.deadband * volts,
                HZ => self.deadband_hz,
                _ => self.deadband * watts,
            };
        }
        Ok(Metering {
            mmxu: Mmxu::new(average, rated)?,
            bands,
            seen: None,
            held: [f32::NAN; COUNT],
        })
    }
}

impl Metering {
    /// Evaluates the set of a task.
    pub(crate) fn step(&mut self, set: &Measured) {
        let sets = std::slice::from_ref(set);
        let inputs = Inputs::of(sets);
        let Ok(Some(now)) = self.mmxu.step(&inputs).map(|values| values.copied()) else {
            self.seen = None;
            self.held = [f32::NAN; COUNT];
            return;
        };
        if self.seen == Some(now) {
            return;
        }
        self.seen = Some(now);
        let Ok(sequences) = Msqi::of(&inputs, Source::default()) else {
            return;
        };
        let [ia, ib, ic] = now.current_a;
        let [ua, ub, uc] = now.voltage_v;
        let (currents, voltages) = (sequences.current, sequences.voltage);
        let values = [
            ia,
            ib,
            ic,
            ua,
            ub,
            uc,
            now.total_w,
            now.total_var,
            now.hz.unwrap_or(f64::NAN),
            currents.positive.norm(),
            currents.negative.norm(),
            currents.zero.norm(),
            voltages.positive.norm(),
            voltages.negative.norm(),
            voltages.zero.norm(),
        ];
        for ((held, value), band) in self.held.iter_mut().zip(values).zip(self.bands) {
            // An unknown value, before or after, is a change.
            let is_held = (value - f64::from(*held)).abs() <= band;
            if !is_held {
                *held = value as f32;
            }
        }
    }

    /// A value, by the place of its name in MMXU and then MSQI; NaN while it is not known.
    pub(crate) fn value(&self, place: usize) -> f32 {
        self.held.get(place).copied().unwrap_or(f32::NAN)
    }
}
