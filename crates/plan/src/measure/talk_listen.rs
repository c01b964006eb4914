//! One frame each interval from the device under test to a listener at the test set, or the other way round.

use super::{Measure, OwnKeys, StepContext, TwoEnds};
use bed::End;
use probes::listen::{self, ListenConfig};
use probes::talk::{self, TalkConfig, TalkOptions};
use probes::{Directions, Need, Probe, Running, SenderEnd, Stamps};
use serde::{Deserialize, Deserializer};
use session::runner::{Ends, Underway};
use session::{Session, SessionError};
use units::CpuList;

/// One frame each interval from a talker to a listener, with the options of `talk` as keys.
pub(crate) type TalkListenStep = TwoEnds<Stamped, TalkOptions>;

/// Keys that only the step has.
#[derive(Debug, Deserialize)]
pub(crate) struct Stamped {
    /// Source of the frames' stamps, at both ends.
    #[serde(default)]
    stamps: Stamps,
    /// The end that talks; the other one listens.
    #[serde(default = "device", deserialize_with = "end")]
    talker: End,
}

fn device() -> End {
    End::Device
}

/// An end by its name in a plan.
fn end<'de, D: Deserializer<'de>>(value: D) -> Result<End, D::Error> {
    match String::deserialize(value)?.as_str() {
        "device" => Ok(End::Device),
        "test-set" => Ok(End::TestSet),
        other => Err(serde::de::Error::custom(format!(
            "talker = \"{other}\": use \"device\" or \"test-set\""
        ))),
    }
}

impl OwnKeys for Stamped {
    const NAMES: &[&str] = &["stamps", "talker"];
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
        let [listener, talker] = [directions(true, false), directions(false, true)];
        match self.own.talker {
            End::Device => [listener, talker],
            End::TestSet => [talker, listener],
        }
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
        match self.own.talker {
            End::Device => self.talk(End::Device, place, session),
            End::TestSet => self.listen(End::Device, place, session),
        }
    }

    fn test_set(&self, place: &StepContext<'_>, session: &mut Session) -> Result<Running, SessionError> {
        match self.own.talker {
            End::Device => self.listen(End::TestSet, place, session),
            End::TestSet => self.talk(End::TestSet, place, session),
        }
    }

    fn start<'a>(
        &self,
        place: &StepContext<'a>,
        session: &mut Session,
    ) -> Result<Box<dyn Underway + 'a>, SessionError> {
        let sender = SenderEnd::default();
        let (talker, listener) = match self.own.talker {
            End::Device => {
                let listener = place.start_test_set(self, session)?;
                (place.start_device(self, &sender, session), listener)
            }
            End::TestSet => {
                let listener = place.start_device(self, &sender, session)?;
                (place.start_test_set(self, session), listener)
            }
        };
        let ends = Ends::of(talker, listener, &place.stop, sender, session)?;
        Ok(Box::new(ends))
    }
}

impl TalkListenStep {
    fn talk(&self, end: End, place: &StepContext<'_>, session: &mut Session) -> Result<Running, SessionError> {
        let talker = TalkConfig {
            duration_ns: Some(place.duration.0),
            policy: self.policy,
            cpu: match end {
                End::Device => place.judged.first(),
                End::TestSet => place.test_set.first(),
            },
            label: place.label.clone(),
            stamps: self.own.stamps,
            ..self.options.config()
        };
        let port = place.stamped_port(end, &talker.stamps.asked_of(talk::port_options(false)))?;
        Ok(talker.start(port, &mut session.recorder, &place.stop)?.running)
    }

    /// Beside a device that talks, the listener gets the second measured CPU, or one of the test set if there is no second.
    fn listen(&self, end: End, place: &StepContext<'_>, session: &mut Session) -> Result<Running, SessionError> {
        let listener = ListenConfig {
            framing: Some(self.options.framing),
            policy: self.policy,
            cpu: match end {
                End::Device => place.judged.first(),
                End::TestSet => place.judged.iter().nth(1).or(place.test_set.first()),
            },
            label: place.label.clone(),
            stamps: self.own.stamps.received(),
            ..ListenConfig::every(self.options.interval)
        };
        let port = place.stamped_port(end, &listener.stamps.asked_of(listen::port_options(listener.framing)))?;
        Ok(listener.start(port, &mut session.recorder, &place.stop)?.running)
    }
}
