//! The two ends of a `talk-listen` step.

use super::step::{PlanFraming, TalkListenStep};
use probes::listen::ListenConfig;
use probes::talk::{Framing, TalkConfig};
use units::CpuList;

impl From<PlanFraming> for Framing {
    fn from(framing: PlanFraming) -> Self {
        match framing {
            PlanFraming::Test => Self::Test,
            PlanFraming::Avtp => Self::Avtp,
            PlanFraming::Sv => Self::Sv,
        }
    }
}

/// What talker and listener are told. The talker is the device under test, on the first measured CPU; the listener gets the
/// second, or a housekeeping one when there is no second.
pub(super) fn ends(step: &TalkListenStep, measured: &CpuList, housekeeping: &CpuList) -> (TalkConfig, ListenConfig) {
    let period = step.interval.0;
    let framing = Framing::from(step.framing);
    let every = TalkConfig::every(period);
    let talker = TalkConfig {
        framing,
        spin_ahead_ns: step.spin_ahead.0,
        duration_ns: Some(step.duration.0),
        policy: step.policy.0,
        cpu: measured.first(),
        label: step.label.clone(),
        threshold_ns: Some(every.late_after_ns),
        ..every
    };
    let listener = ListenConfig {
        framing: Some(framing),
        policy: step.policy.0,
        cpu: measured.iter().nth(1).or(housekeeping.first()),
        label: step.label.clone(),
        ..ListenConfig::every(period)
    };
    (talker, listener)
}
