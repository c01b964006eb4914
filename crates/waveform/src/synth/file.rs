//! Signals as a TOML file. `docs/formats/waveform.md` has every key.

use super::{Decay, Extra, Harmonic, Noise, Of, Operating, Ramp, State, Synth, symmetrical};
use crate::WaveformError;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use wire::quality::{QualityError, SvQuality};

/// Reads a waveform file.
///
/// # Errors
/// A file that cannot be read, or a wrong key or value, with line and key.
pub fn read(path: &Path) -> Result<Synth, WaveformError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|source| WaveformError::Unreadable {
        path: name.clone(),
        source,
    })?;
    parse(&text, &name)
}

/// Reads the text of a waveform file; errors call it `name`.
///
/// # Errors
/// A wrong key or value, with line and key.
pub fn parse(text: &str, name: &str) -> Result<Synth, WaveformError> {
    let refused = |problem: String| WaveformError::File {
        path: name.to_owned(),
        problem,
    };
    let file: File = toml::from_str(text).map_err(|error| refused(error.to_string().trim_end().to_owned()))?;
    checked(Synth::from(file)).map_err(|error| refused(error.to_string()))
}

/// The signal, if its values and the order of its states are possible.
pub(crate) fn checked(synth: Synth) -> Result<Synth, WaveformError> {
    check(&synth)?;
    super::timeline::segments(&synth)?;
    Ok(synth)
}

/// Refuses impossible values.
pub(super) fn check(synth: &Synth) -> Result<(), WaveformError> {
    check_operating("nominal state", &synth.nominal)?;
    for (state, number) in synth.states.iter().zip(1..) {
        let place = format!("state {number} ({})", state.name);
        check_operating(&place, &state.operating)?;
        if let Some(ramp) = state.ramp {
            within(&place, "ramp.hz_per_s", ramp.hz_per_s, 1e-3, 1e3)?;
            within(&place, "ramp.to_hz", ramp.to_hz, LOWEST_HZ, HIGHEST_HZ)?;
        }
        if let Some(decay) = state.decay {
            within(&place, "dc.percent", decay.percent, 0.0, 200.0)?;
            within(
                &place,
                "dc.time_constant in s",
                decay.time_constant_ns as f64 / 1e9,
                1e-6,
                10.0,
            )?;
        }
        check_harmonics(&place, &state.harmonics)?;
        if state.duration_ns == Some(0) {
            return Err(WaveformError::setting(format!(
                "{place}: duration is 0: give more, or none"
            )));
        }
    }
    check_harmonics("every state", &synth.harmonics)?;
    within("noise", "current_a", synth.noise.current_a, 0.0, 1e9)?;
    within("noise", "voltage_v", synth.noise.voltage_v, 0.0, 1e9)?;
    for extra in &synth.extras {
        within(&extra.member, "rms", extra.rms, 0.0, 1e9)?;
        within(&extra.member, "angle_deg", extra.angle_deg, -1e6, 1e6)?;
    }
    Ok(())
}

fn check_harmonics(place: &str, harmonics: &[Harmonic]) -> Result<(), WaveformError> {
    for harmonic in harmonics {
        within(place, "harmonic.order", f64::from(harmonic.order), 2.0, 1_000.0)?;
        within(place, "harmonic.percent", harmonic.percent, 0.0, 1_000.0)?;
        within(place, "harmonic.angle_deg", harmonic.angle_deg, -1e6, 1e6)?;
    }
    Ok(())
}

const LOWEST_HZ: f64 = 1.0;
const HIGHEST_HZ: f64 = 1_000.0;

fn check_operating(place: &str, operating: &Operating) -> Result<(), WaveformError> {
    within(place, "frequency_hz", operating.frequency_hz, LOWEST_HZ, HIGHEST_HZ)?;
    for phase in 0..3 {
        within(place, "currents_a", operating.currents_a[phase], 0.0, 1e9)?;
        within(place, "voltages_v", operating.voltages_v[phase], 0.0, 1e9)?;
        within(
            place,
            "current_angles_deg",
            operating.current_angles_deg[phase],
            -1e6,
            1e6,
        )?;
        within(
            place,
            "voltage_angles_deg",
            operating.voltage_angles_deg[phase],
            -1e6,
            1e6,
        )?;
    }
    Ok(())
}

fn within(place: &str, key: &str, value: f64, least: f64, most: f64) -> Result<(), WaveformError> {
    // Written so that NaN is refused.
    if value >= least && value <= most {
        return Ok(());
    }
    Err(WaveformError::setting(format!(
        "{place}: {key} is {value}: use {least} to {most}"
    )))
}

/// A signal in the form of a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    frequency_hz: Option<f64>,
    currents_a: Option<PerPhase>,
    current_angles_deg: Option<PerPhase>,
    voltages_v: Option<PerPhase>,
    voltage_angles_deg: Option<PerPhase>,
    repeat_every: Option<Duration>,
    #[serde(default, rename = "harmonic")]
    harmonics: Vec<FileHarmonic>,
    #[serde(default)]
    noise: FileNoise,
    #[serde(default)]
    extra: BTreeMap<String, FileExtra>,
    #[serde(default, rename = "state")]
    states: Vec<FileState>,
}

/// One number for all phases, or three.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged, expecting = "a number, or three in brackets for the phases a, b, c")]
enum PerPhase {
    One(f64),
    Three([f64; 3]),
}

impl PerPhase {
    fn magnitudes(self) -> [f64; 3] {
        match self {
            Self::One(value) => [value; 3],
            Self::Three(values) => values,
        }
    }

    fn angles(self) -> [f64; 3] {
        match self {
            Self::One(deg) => symmetrical(deg),
            Self::Three(deg) => deg,
        }
    }
}

/// A duration such as `20ms`, in nanoseconds.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Duration(pub(crate) u64);

impl TryFrom<String> for Duration {
    type Error = units::DurationError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        units::parse_ns(&text).map(Self)
    }
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct Quality(SvQuality);

impl TryFrom<String> for Quality {
    type Error = QualityError;

    fn try_from(text: String) -> Result<Self, QualityError> {
        text.parse().map(Self)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileHarmonic {
    order: u32,
    percent: f64,
    #[serde(default)]
    angle_deg: f64,
    #[serde(default)]
    of: FileOf,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FileOf {
    #[default]
    All,
    Currents,
    Voltages,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FileNoise {
    current_a: f64,
    voltage_v: f64,
    seed: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileExtra {
    rms: f64,
    #[serde(default)]
    angle_deg: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileState {
    name: String,
    at: Option<Duration>,
    duration: Option<Duration>,
    frequency_hz: Option<f64>,
    currents_a: Option<PerPhase>,
    current_angles_deg: Option<PerPhase>,
    voltages_v: Option<PerPhase>,
    voltage_angles_deg: Option<PerPhase>,
    ramp: Option<FileRamp>,
    dc: Option<FileDc>,
    #[serde(default, rename = "harmonic")]
    harmonics: Vec<FileHarmonic>,
    quality: Option<Quality>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRamp {
    hz_per_s: f64,
    to_hz: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileDc {
    #[serde(default = "all")]
    percent: f64,
    time_constant: Duration,
}

fn all() -> f64 {
    100.0
}

impl From<File> for Synth {
    fn from(file: File) -> Self {
        let default = Operating::default();
        let nominal = Operating {
            frequency_hz: file.frequency_hz.unwrap_or(default.frequency_hz),
            currents_a: file.currents_a.map_or(default.currents_a, PerPhase::magnitudes),
            current_angles_deg: file
                .current_angles_deg
                .map_or(default.current_angles_deg, PerPhase::angles),
            voltages_v: file.voltages_v.map_or(default.voltages_v, PerPhase::magnitudes),
            voltage_angles_deg: file
                .voltage_angles_deg
                .map_or(default.voltage_angles_deg, PerPhase::angles),
        };
        Self {
            harmonics: file.harmonics.into_iter().map(Harmonic::from).collect(),
            noise: Noise {
                current_a: file.noise.current_a,
                voltage_v: file.noise.voltage_v,
                seed: file.noise.seed,
            },
            extras: file.extra.into_iter().map(Extra::from).collect(),
            states: file.states.into_iter().map(|state| state.over(&nominal)).collect(),
            repeat_every_ns: file.repeat_every.map(|every| every.0),
            clears: false,
            nominal,
        }
    }
}

impl From<FileHarmonic> for Harmonic {
    fn from(file: FileHarmonic) -> Self {
        Self {
            order: file.order,
            percent: file.percent,
            angle_deg: file.angle_deg,
            of: match file.of {
                FileOf::All => Of::All,
                FileOf::Currents => Of::Currents,
                FileOf::Voltages => Of::Voltages,
            },
        }
    }
}

impl From<(String, FileExtra)> for Extra {
    fn from((member, file): (String, FileExtra)) -> Self {
        Self {
            member,
            rms: file.rms,
            angle_deg: file.angle_deg,
        }
    }
}

impl FileState {
    /// The state; missing values are those of the nominal one.
    fn over(self, nominal: &Operating) -> State {
        State {
            operating: Operating {
                frequency_hz: self.frequency_hz.unwrap_or(nominal.frequency_hz),
                currents_a: self.currents_a.map_or(nominal.currents_a, PerPhase::magnitudes),
                current_angles_deg: self
                    .current_angles_deg
                    .map_or(nominal.current_angles_deg, PerPhase::angles),
                voltages_v: self.voltages_v.map_or(nominal.voltages_v, PerPhase::magnitudes),
                voltage_angles_deg: self
                    .voltage_angles_deg
                    .map_or(nominal.voltage_angles_deg, PerPhase::angles),
            },
            name: self.name,
            at_ns: self.at.map(|at| at.0),
            duration_ns: self.duration.map(|duration| duration.0),
            ramp: self.ramp.map(|ramp| Ramp {
                hz_per_s: ramp.hz_per_s,
                to_hz: ramp.to_hz,
            }),
            decay: self.dc.map(|dc| Decay {
                percent: dc.percent,
                time_constant_ns: dc.time_constant.0,
            }),
            harmonics: self.harmonics.into_iter().map(Harmonic::from).collect(),
            quality: self.quality.map_or(SvQuality::GOOD, |quality| quality.0),
        }
    }
}
