//! An inverse-time curve: multiples of the setting (after IEC 60255-151).

use super::{Group, PointOnWave};
use crate::scenario::{Expect, Selection};
use crate::synth::{Operating, State, Synth, symmetrical};
use model::Cell;
use serde::Deserialize;

/// Time that the current continues after the latest permitted trip, in ns, so that a late trip is still measured.
const MARGIN_NS: u64 = 200_000_000;

/// A curve `t(M) = TMS (k / (M^alpha - 1) + c)`, with the letters of IEC 60255-151 and IEEE C37.112. It deliberately repeats the curves of our own
/// relay: a wrong constant in the relay must not be copied into its test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Curve {
    #[serde(rename = "iec-normal-inverse")]
    IecNormal,
    #[serde(rename = "iec-very-inverse")]
    IecVery,
    #[serde(rename = "iec-extremely-inverse")]
    IecExtremely,
    #[serde(rename = "iec-long-time-inverse")]
    IecLongTime,
    #[serde(rename = "iec-short-time-inverse")]
    IecShortTime,
    #[serde(rename = "ieee-moderately-inverse")]
    IeeeModerately,
    #[serde(rename = "ieee-very-inverse")]
    IeeeVery,
    #[serde(rename = "ieee-extremely-inverse")]
    IeeeExtremely,
}

impl Curve {
    /// k and c in s, and alpha.
    fn constants(self) -> [f64; 3] {
        match self {
            Self::IecNormal => [0.14, 0.0, 0.02],
            Self::IecVery => [13.5, 0.0, 1.0],
            Self::IecExtremely => [80.0, 0.0, 2.0],
            Self::IecLongTime => [120.0, 0.0, 1.0],
            Self::IecShortTime => [0.05, 0.0, 0.04],
            Self::IeeeModerately => [0.0515, 0.1140, 0.02],
            Self::IeeeVery => [19.61, 0.491, 2.0],
            Self::IeeeExtremely => [28.2, 0.1217, 2.0],
        }
    }

    /// Operate time in s at a multiple above 1 and a time multiplier of 1.
    pub(super) fn operate_s(self, multiple: f64) -> f64 {
        let [k, c, alpha] = self.constants();
        k / (multiple.powf(alpha) - 1.0) + c
    }
}

/// The currents of a curve's test.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Overcurrent {
    pub(super) frequency_hz: f64,
    /// Voltages to earth in V, which stay constant.
    pub(super) voltage_v: f64,
    pub(super) curve: Curve,
    /// The setting in A.
    pub(super) pickup_a: f64,
    pub(super) time_multiplier: f64,
    pub(super) multiples: Vec<f64>,
    /// The assigned error: percent of the operate time, and a minimum in ns.
    pub(super) error_percent: f64,
    pub(super) error_ns: u64,
}

impl Overcurrent {
    /// Operate time of the curve, in ns.
    pub(super) fn expected_ns(&self, multiple: f64) -> u64 {
        (self.time_multiplier * self.curve.operate_s(multiple) * 1e9).round() as u64
    }

    /// Permitted deviation from it, in ns.
    pub(super) fn tolerance_ns(&self, multiple: f64) -> u64 {
        let percent = self.error_percent * error_factor(multiple);
        self.error_ns
            .max((self.expected_ns(multiple) as f64 * percent / 100.0) as u64)
    }

    /// Duration of the current in ns.
    pub(super) fn lasts_ns(&self, multiple: f64) -> u64 {
        self.latest_ns(multiple).saturating_add(MARGIN_NS)
    }

    /// The latest permitted trip, in ns.
    fn latest_ns(&self, multiple: f64) -> u64 {
        self.expected_ns(multiple).saturating_add(self.tolerance_ns(multiple))
    }

    pub(super) fn groups(&self) -> Vec<Group> {
        let group = |multiple: &f64| Group {
            label: format!("m{multiple}"),
            what: format!(
                "three-phase current of {multiple} times the setting of {} A",
                self.pickup_a
            ),
            trips: true,
            stays: false,
            within_ns: Some(self.latest_ns(*multiple)),
            selection: Selection::default(),
        };
        self.multiples.iter().map(group).collect()
    }

    pub(super) fn shot(&self, group: usize) -> (Synth, Expect, Cell, PointOnWave) {
        let multiple = self.multiples[group];
        let (expected_ns, tolerance_ns) = (self.expected_ns(multiple), self.tolerance_ns(multiple));
        let synth = self.signal(multiple);
        let point = PointOnWave::anywhere(synth.nominal.voltage_angles_deg[0]);
        let expect = Expect::Trip {
            within_ns: Some(self.latest_ns(multiple)),
            soonest_ns: Some(expected_ns.saturating_sub(tolerance_ns)),
        };
        let cell = Cell::Overcurrent {
            multiple,
            expected_ns,
            tolerance_ns,
        };
        (synth, expect, cell, point)
    }

    fn signal(&self, multiple: f64) -> Synth {
        let with = |current_a: f64| Operating {
            frequency_hz: self.frequency_hz,
            currents_a: [current_a; 3],
            current_angles_deg: symmetrical(-30.0),
            voltages_v: [self.voltage_v; 3],
            voltage_angles_deg: symmetrical(0.0),
        };
        let state = State {
            duration_ns: Some(self.lasts_ns(multiple)),
            ..State::steady("overcurrent", with(multiple * self.pickup_a))
        };
        Synth {
            nominal: with(0.0),
            states: vec![state],
            ..Synth::default()
        }
    }
}

/// The permitted error as a multiple of the assigned one: near the setting a small error of the current causes a large error of the time. The steps
/// are those of IEC 60255-151 from memory; they were not compared with its text.
fn error_factor(multiple: f64) -> f64 {
    match multiple {
        m if m < 5.0 => 2.5,
        m if m < 10.0 => 1.5,
        _ => 1.0,
    }
}
