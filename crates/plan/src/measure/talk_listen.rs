//! One frame each interval from the device under test to a listener.

use super::{Measure, OwnKeys, StepContext, TwoEnds};
use bed::End;
use probes::listen::{self, ListenConfig};
use probes::talk::{self, TalkConfig, TalkOptions};
use probes::{Directions, Need, Probe, Running, SenderEnd, Stamps};
use serde::Deserialize;
use session::runner::{Ends, Side, Underway};
use session::{Session, SessionError};
use units::CpuList;

/// One frame each interval from the device under test to a listener, with the options of `talk` as keys.
pub(crate) type TalkListenStep = TwoEnds<Stamped, TalkOptions>;

/// Source of the frames' stamps, at both ends.
#[derive(Debug, Deserialize)]
pub(crate) struct Stamped {
    #[serde(default)]
    stamps: Stamps,
}

impl OwnKeys for Stamped {
    const NAMES: &[&str] = &["stamps"];
}

impl Measure for TalkListenStep {
    fn words(&self) -> &'static str {
        "talk and listen"
    }

    fn family(&self) -> &'static str {
        "talk"
    }

    fn stamped(&self) -> [Directions; 2] {
        let is_by_nic = self.own.stamps == Stamps::Hardware;
        let directions = |received, sent| Directions {
            received: is_by_nic && received,
            sent: is_by_nic && sent,
        };
        [directions(true, false), directions(false, true)]
    }

    fn check(&self) -> Result<(), String> {
        self.options.check()
    }

    fn compares_networks(&self) -> bool {
        false
    }

    fn takes(&self, judged: &CpuList) -> CpuList {
        judged.iter().take(2).collect()
    }

    fn needs(&self, _: &CpuList) -> Vec<Need> {
        vec![Need::Policy(self.policy)]
    }

    fn device(&self, place: &StepContext<'_>, _: &SenderEnd, session: &mut Session) -> Result<Running, SessionError> {
        let (talker, _) = self.ends(place);
        let device = place.stamped_device_port(&talker.stamps.asked_of(talk::port_options(false)))?;
        Ok(talker.start(device, &mut session.recorder, &place.stop)?.running)
    }

    fn start<'a>(
        &self,
        place: &StepContext<'a>,
        session: &mut Session,
    ) -> Result<Box<dyn Underway + 'a>, SessionError> {
        let (_, listener) = self.ends(place);
        let bed = &place.way().bed;
        let options = listener.stamps.asked_of(listen::port_options(listener.framing));
        let test_set = bed.stamped_port(End::TestSet, &options)?;
        let far = listener.start(test_set, &mut session.recorder, &place.stop)?;
        let sender = SenderEnd::default();
        let near = place.start_device(self, &sender, session);
        let ends = Ends::of(near, Side::Here(far.running), &place.stop, sender, session)?;
        Ok(Box::new(ends))
    }
}

impl TalkListenStep {
    /// Settings of talker and listener. The talker is the device under test, on the first measured CPU; the listener gets the second one, or a CPU of
    /// the test set if there is no second.
    fn ends(&self, place: &StepContext<'_>) -> (TalkConfig, ListenConfig) {
        let talker = TalkConfig {
            duration_ns: Some(place.duration.0),
            policy: self.policy,
            cpu: place.judged.first(),
            label: place.label.clone(),
            stamps: self.own.stamps,
            ..self.options.config()
        };
        let listener = ListenConfig {
            framing: Some(self.options.framing),
            policy: self.policy,
            cpu: place.judged.iter().nth(1).or(place.test_set.first()),
            label: place.label.clone(),
            stamps: self.own.stamps.received(),
            ..ListenConfig::every(self.options.interval)
        };
        (talker, listener)
    }
}
