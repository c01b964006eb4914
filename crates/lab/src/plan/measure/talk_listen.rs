//! One frame each interval from the device under test to a listener.

use super::{Measure, StepContext};
use crate::bed::End;
use crate::plan::file::{Duration, PlanPeriod, PlanPolicy};
use crate::runner::{Ends, Underway};
use crate::session::{Session, SessionError};
use probes::Framing;
use probes::listen::{self, ListenConfig};
use probes::talk::{self, TalkConfig};
use probes::{Need, Probe, SenderEnd};
use serde::Deserialize;
use units::CpuList;

/// What the frames of a paced stream look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::plan) enum PlanFraming {
    /// Our test frame.
    #[default]
    Test,
    /// AVTP.
    Avtp,
    /// Sampled values.
    Sv,
}

impl From<PlanFraming> for Framing {
    fn from(framing: PlanFraming) -> Self {
        match framing {
            PlanFraming::Test => Self::Test,
            PlanFraming::Avtp => Self::Avtp,
            PlanFraming::Sv => Self::Sv,
        }
    }
}

/// One frame each interval from the device under test to a listener.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct TalkListenStep {
    /// Time between frames.
    pub(in crate::plan) interval: PlanPeriod,
    /// Sleep until this long before the due instant, then spin.
    #[serde(default = "no_time")]
    pub(in crate::plan) spin_ahead: Duration,
    /// What the frames look like.
    #[serde(default)]
    pub(in crate::plan) framing: PlanFraming,
    /// Policy of both ends.
    pub(in crate::plan) policy: PlanPolicy,
}

fn no_time() -> Duration {
    Duration(0)
}

impl Measure for TalkListenStep {
    fn words(&self) -> &'static str {
        "talk and listen"
    }

    fn family(&self) -> &'static str {
        "talk"
    }

    fn compares_networks(&self) -> bool {
        false
    }

    fn takes(&self, judged: &CpuList) -> CpuList {
        judged.iter().take(2).collect()
    }

    fn needs(&self, _: &CpuList) -> Vec<Need> {
        vec![Need::Policy(self.policy.0)]
    }

    fn start<'a>(
        &self,
        place: &StepContext<'a>,
        session: &mut Session,
    ) -> Result<Box<dyn Underway + 'a>, SessionError> {
        let (talker, listener) = self.ends(place);
        let bed = &place.way().bed;
        let test_set = bed.port(End::TestSet, &listen::port_options(listener.framing))?;
        let device = bed.port(End::Device, &talk::port_options(false))?;
        let far = listener.start(test_set, &mut session.recorder, &place.stop)?;
        let near = talker.start(device, &mut session.recorder, &place.stop);
        let near = near.map(|talking| talking.running);
        let ends = Ends::of(near, far.running, &place.stop, SenderEnd::default())?;
        Ok(Box::new(ends))
    }
}

impl TalkListenStep {
    /// What talker and listener are told. The talker is the device under test, on the first measured CPU; the listener gets
    /// the second, or one of the test set when there is no second.
    fn ends(&self, place: &StepContext<'_>) -> (TalkConfig, ListenConfig) {
        let period = self.interval.0;
        let framing = Framing::from(self.framing);
        let every = TalkConfig::every(period);
        let talker = TalkConfig {
            framing,
            spin_ahead_ns: self.spin_ahead.0,
            duration_ns: Some(place.duration.0),
            policy: self.policy.0,
            cpu: place.judged.first(),
            label: place.label.clone(),
            threshold_ns: Some(every.late_after_ns),
            ..every
        };
        let listener = ListenConfig {
            framing: Some(framing),
            policy: self.policy.0,
            cpu: place.judged.iter().nth(1).or(place.test_set.first()),
            label: place.label.clone(),
            ..ListenConfig::every(period)
        };
        (talker, listener)
    }
}
