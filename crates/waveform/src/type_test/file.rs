//! Type tests as TOML.

use super::distance::Distance;
use super::file_bias::FileBias;
use super::file_reach::FileReach;
use super::overcurrent::{Curve, Overcurrent};
use super::pick_up::PickUp;
use super::{TestKind, TypeTest};
use crate::WaveformError;
use crate::library::{self, Origin};
use crate::network::{FaultType, Impedances, fifty};
use crate::scenario::LONGEST_NS;
use crate::synth::Duration;
use model::RampSignal;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    what: String,
    #[serde(default = "once")]
    repeats: u16,
    distance: Option<FileDistance>,
    overcurrent: Option<FileOvercurrent>,
    pick_up: Option<FilePickUp>,
    reach: Option<FileReach>,
    bias: Option<FileBias>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileDistance {
    #[serde(default = "fifty")]
    frequency_hz: f64,
    source_v: f64,
    source_angle_deg: f64,
    #[serde(default = "one")]
    source_z0_ratio: f64,
    line: Impedances,
    reach: f64,
    sir: Vec<f64>,
    positions_percent: Vec<f64>,
    types: Vec<FaultType>,
    points_deg: Vec<f64>,
    within: Duration,
    #[serde(default = "inside")]
    inside_percent: f64,
    #[serde(default = "beyond")]
    beyond_percent: f64,
    lasts: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileOvercurrent {
    #[serde(default = "fifty")]
    frequency_hz: f64,
    voltage_v: f64,
    curve: Curve,
    pickup_a: f64,
    time_multiplier: f64,
    multiples: Vec<f64>,
    error_percent: f64,
    error_least: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FilePickUp {
    #[serde(default = "fifty")]
    frequency_hz: f64,
    voltage_v: f64,
    setting_a: f64,
    phases: Vec<String>,
    error_percent: f64,
    from_percent: f64,
    to_percent: f64,
    step_percent: f64,
    step: Duration,
    function: Option<String>,
}

fn once() -> u16 {
    1
}

fn one() -> f64 {
    1.0
}

fn inside() -> f64 {
    95.0
}

fn beyond() -> f64 {
    105.0
}

/// Limit of shots: more than fit into a week.
const MOST_SHOTS: usize = 1_000_000;

impl TypeTest {
    /// Parses the text of the type test `name`; errors name it `origin`.
    ///
    /// # Errors
    /// A wrong key or value, with line and key.
    pub fn parse(text: &str, name: &str, origin: &str) -> Result<Self, WaveformError> {
        library::parse(text, Origin::here(name), origin, Self::of)
    }

    pub(super) fn of(file: File, origin: Origin<'_>) -> Result<Self, WaveformError> {
        within("repeats", f64::from(file.repeats), 1.0, 10_000.0)?;
        let repeats = usize::from(file.repeats);
        let kind = match (file.distance, file.overcurrent, file.pick_up, file.reach, file.bias) {
            (Some(distance), None, None, None, None) => TestKind::Distance(distance.checked(repeats)?),
            (None, Some(overcurrent), None, None, None) => TestKind::Overcurrent(overcurrent.checked(repeats)?),
            (None, None, Some(pick_up), None, None) => TestKind::PickUp(pick_up.checked(repeats)?),
            (None, None, None, Some(reach), None) => TestKind::Reach(reach.checked(repeats)?),
            (None, None, None, None, Some(bias)) => TestKind::Bias(bias.checked(repeats)?),
            _ => {
                return Err(WaveformError::setting(
                    "give the test as [distance], [overcurrent], [pick_up], [reach] or [bias], one of them",
                ));
            }
        };
        Ok(Self {
            name: origin.name.to_owned(),
            what: file.what,
            repeats,
            kind,
        })
    }
}

impl FileDistance {
    fn checked(self, repeats: usize) -> Result<Distance, WaveformError> {
        within("distance.frequency_hz", self.frequency_hz, 15.0, 70.0)?;
        within("distance.source_v", self.source_v, 1.0, 2e6)?;
        within("distance.source_angle_deg", self.source_angle_deg, 30.0, 90.0)?;
        within("distance.source_z0_ratio", self.source_z0_ratio, 0.1, 10.0)?;
        within("distance.reach", self.reach, 0.01, 2.0)?;
        all_within("distance.sir", &self.sir, 0.01, 200.0)?;
        all_within("distance.positions_percent", &self.positions_percent, 0.0, 300.0)?;
        all_within("distance.points_deg", &self.points_deg, 0.0, 359.9)?;
        different("distance.types", &self.types)?;
        within("distance.inside_percent", self.inside_percent, 1.0, 100.0)?;
        within("distance.beyond_percent", self.beyond_percent, 100.0, 200.0)?;
        if !self.positions_percent.iter().any(|at| *at <= self.inside_percent) {
            return Err(WaveformError::setting(format!(
                "distance.positions_percent: none is inside the zone: give one up to {}",
                self.inside_percent
            )));
        }
        lasts("distance.lasts", self.lasts.0)?;
        if self.within.0 > self.lasts.0 {
            return Err(WaveformError::setting("distance.within: longer than the fault lasts"));
        }
        let sizes = [
            self.sir.len(),
            self.positions_percent.len(),
            self.types.len(),
            self.points_deg.len(),
        ];
        few(sizes.iter().product::<usize>() * repeats)?;
        Ok(Distance {
            frequency_hz: self.frequency_hz,
            source_v: self.source_v,
            source_deg: self.source_angle_deg,
            source_zero: self.source_z0_ratio,
            reach_ohm: self.line.ohm("line")?.map(|ohm| ohm * self.reach),
            sir: self.sir,
            positions: self.positions_percent,
            types: self.types,
            points_deg: self.points_deg,
            inside: self.inside_percent,
            beyond: self.beyond_percent,
            within_ns: self.within.0,
            lasts_ns: self.lasts.0,
        })
    }
}

impl FileOvercurrent {
    fn checked(self, repeats: usize) -> Result<Overcurrent, WaveformError> {
        within("overcurrent.frequency_hz", self.frequency_hz, 15.0, 70.0)?;
        within("overcurrent.voltage_v", self.voltage_v, 0.0, 1e6)?;
        within("overcurrent.pickup_a", self.pickup_a, 0.1, 1e5)?;
        within("overcurrent.time_multiplier", self.time_multiplier, 0.01, 20.0)?;
        within("overcurrent.error_percent", self.error_percent, 0.1, 50.0)?;
        all_within("overcurrent.multiples", &self.multiples, 1.01, 50.0)?;
        few(self.multiples.len() * repeats)?;
        let mut multiples = self.multiples;
        multiples.sort_by(f64::total_cmp);
        let test = Overcurrent {
            frequency_hz: self.frequency_hz,
            voltage_v: self.voltage_v,
            curve: self.curve,
            pickup_a: self.pickup_a,
            time_multiplier: self.time_multiplier,
            error_percent: self.error_percent,
            error_ns: self.error_least.0,
            multiples,
        };
        let longest = test.multiples.first().map_or(0, |least| test.lasts_ns(*least));
        lasts("overcurrent.multiples: operate time at the smallest multiple", longest)?;
        Ok(test)
    }
}

/// Names of the phases of a ramp.
const RAMPED: [&str; 7] = ["A", "B", "C", "AB", "BC", "CA", "ABC"];

impl FilePickUp {
    fn checked(self, repeats: usize) -> Result<PickUp, WaveformError> {
        within("pick_up.frequency_hz", self.frequency_hz, 15.0, 70.0)?;
        within("pick_up.voltage_v", self.voltage_v, 0.0, 1e6)?;
        within("pick_up.setting_a", self.setting_a, 0.1, 1e5)?;
        within("pick_up.error_percent", self.error_percent, 0.1, 50.0)?;
        within("pick_up.step_percent", self.step_percent, 0.05, self.error_percent)?;
        within(
            "pick_up.from_percent",
            self.from_percent,
            1.0,
            100.0 - self.error_percent - self.step_percent,
        )?;
        within(
            "pick_up.to_percent",
            self.to_percent,
            100.0 + self.error_percent + self.step_percent,
            1_000.0,
        )?;
        different("pick_up.phases", &self.phases)?;
        if let Some(wrong) = self.phases.iter().find(|phases| !RAMPED.contains(&phases.as_str())) {
            return Err(WaveformError::setting(format!(
                "pick_up.phases has {wrong:?}: use {}",
                RAMPED.join(", ")
            )));
        }
        few(self.phases.len() * repeats)?;
        let test = PickUp {
            frequency_hz: self.frequency_hz,
            voltage_v: self.voltage_v,
            setting_a: self.setting_a,
            phases: self.phases,
            error_percent: self.error_percent,
            from_percent: self.from_percent,
            to_percent: self.to_percent,
            step_percent: self.step_percent,
            step_ns: self.step.0,
            function: self.function,
            signal: RampSignal::Start,
        };
        // Two cycles of the slowest frequency: less leaves a filter no time.
        within(
            "pick_up.step (in ms)",
            test.step_ns as f64 / 1e6,
            2_000.0 / test.frequency_hz,
            10_000.0,
        )?;
        lasts(
            "pick_up: steps times their duration, up and down",
            test.ramp("A").lasts_ns(),
        )?;
        Ok(test)
    }
}

pub(super) fn within(key: &str, value: f64, least: f64, most: f64) -> Result<(), WaveformError> {
    // Written so that NaN is refused.
    if value >= least && value <= most {
        return Ok(());
    }
    Err(WaveformError::setting(format!(
        "{key} is {value}: use {least} to {most}"
    )))
}

pub(super) fn all_within(key: &str, values: &[f64], least: f64, most: f64) -> Result<(), WaveformError> {
    different(key, values)?;
    values.iter().try_for_each(|value| within(key, *value, least, most))
}

pub(super) fn different<T: PartialEq>(key: &str, values: &[T]) -> Result<(), WaveformError> {
    let again = |at: usize| values[..at].contains(&values[at]);
    match values.is_empty() || (0..values.len()).any(again) {
        true => Err(WaveformError::setting(format!(
            "{key}: give one value at least, and each once"
        ))),
        false => Ok(()),
    }
}

pub(super) fn lasts(key: &str, ns: u64) -> Result<(), WaveformError> {
    match (1..=LONGEST_NS).contains(&ns) {
        true => Ok(()),
        false => Err(WaveformError::setting(format!("{key}: a fault lasts up to a minute"))),
    }
}

fn few(shots: usize) -> Result<(), WaveformError> {
    match shots <= MOST_SHOTS {
        true => Ok(()),
        false => Err(WaveformError::setting(format!(
            "{shots} shots: {MOST_SHOTS} at most are possible"
        ))),
    }
}
