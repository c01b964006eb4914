//! Round trips from the test set to the device under test.

use super::{Given, Measure, OwnKeys, StepContext, TwoEnds};
use crate::value::PlanError;
use bed::End;
use probes::reflect::{self, ReflectConfig, ReflectOptions, Role};
use probes::{Directions, Need, Probe, Receive, Running, SenderEnd, Stamps};
use serde::Deserialize;
use session::preflight::rest;
use session::runner::{Ends, Underway};
use session::{Session, SessionError};
use sys::thread::Policy;
use units::CpuList;

/// Round trip from the test set to the device under test, with the command's options as keys.
pub(crate) type ReflectStep = TwoEnds<Waiting, ReflectOptions>;

/// The key that replaces the command's choice of engines.
#[derive(Debug, Deserialize)]
pub(crate) struct Waiting {
    /// How both ends wait; spinning by default, if each thread on the path has its own CPU.
    #[serde(default)]
    pub(crate) receive: Option<Receive>,
    /// Source of the stamps of the test set's frames.
    #[serde(default)]
    stamps: Stamps,
}

impl OwnKeys for Waiting {
    const NAMES: &[&str] = &["receive", "stamps"];
}

impl Measure for ReflectStep {
    fn words(&self) -> &'static str {
        "round trip"
    }

    fn family(&self) -> &'static str {
        "rtt"
    }

    fn stamped(&self) -> [Directions; 2] {
        let is_by_nic = self.own.stamps == Stamps::Hardware;
        let directions = |received, sent| Directions {
            received: is_by_nic && received,
            sent: is_by_nic && sent,
        };
        [directions(true, true), directions(false, false)]
    }

    fn takes_label(&self) -> bool {
        false
    }

    fn spins(&self) -> bool {
        self.own.receive == Some(Receive::Spin)
    }

    fn occupies(&self) -> bool {
        self.own.receive != Some(Receive::Block) && self.policy != Policy::Other
    }

    fn needs(&self, _: &CpuList) -> Vec<Need> {
        vec![Need::Policy(self.policy)]
    }

    fn for_place(&self, place: &StepContext<'_>, given: &mut Given) -> Result<(), SessionError> {
        let receive = match self.receive(place)? {
            Receive::Spin => "spin",
            Receive::Block => "block",
        };
        given.keys.insert("receive".to_owned(), receive.into());
        Ok(())
    }

    fn device(&self, place: &StepContext<'_>, _: &SenderEnd, session: &mut Session) -> Result<Running, SessionError> {
        let reflector = self.reflector(place)?;
        let device = place.device_port(0, &reflect::port_options(&reflector))?;
        Ok(reflector.start(device, &mut session.recorder, &place.stop)?)
    }

    fn test_set(&self, place: &StepContext<'_>, session: &mut Session) -> Result<Running, SessionError> {
        let initiator = ReflectConfig {
            role: Role::Initiator,
            peer: Some(place.device_mac()?),
            duration_ns: Some(place.duration.0),
            cpu: place.test_set.first(),
            stamps: self.own.stamps,
            ..self.reflector(place)?
        };
        let test_set = place.stamped_port(End::TestSet, &reflect::port_options(&initiator))?;
        Ok(initiator.start(test_set, &mut session.recorder, &place.stop)?)
    }

    fn start<'a>(
        &self,
        place: &StepContext<'a>,
        session: &mut Session,
    ) -> Result<Box<dyn Underway + 'a>, SessionError> {
        let sender = SenderEnd::default();
        let far = place.start_device(self, &sender, session)?;
        let near = place.start_test_set(self, session);
        let ends = Ends {
            settle: std::time::Duration::ZERO,
            ..Ends::of(near, far, &place.stop, sender, session)?
        };
        Ok(Box::new(ends))
    }
}

impl ReflectStep {
    fn reflector(&self, place: &StepContext<'_>) -> Result<ReflectConfig, SessionError> {
        Ok(ReflectConfig {
            receive: self.receive(place)?,
            policy: self.policy,
            cpu: place.judged.first(),
            rest: rest(),
            label: place.label(),
            ..self.options.config(Role::Reflector)
        })
    }

    /// Default way to wait. Two spinning threads cannot share a CPU, because the waiting one would keep the other from answering. The same is true
    /// for a switch in user space, which runs on the housekeeping CPUs, and for a virtual CPU that shares its host CPU.
    fn receive(&self, place: &StepContext<'_>) -> Result<Receive, SessionError> {
        // In a place the choice was made by the machine that runs the plan.
        let is_shared = place.there.is_none() && place.test_set.first() == place.judged.first();
        let in_user_space = place.bed.is_some_and(|(_, beds)| beds.in_user_space());
        match self.own.receive {
            Some(Receive::Spin) if is_shared => Err(PlanError::Invalid {
                name: place.plan.clone(),
                problem: "receive = \"spin\" needs a housekeeping and a measured CPU: use \"block\"".into(),
            }
            .into()),
            Some(receive) => Ok(receive),
            None if is_shared || in_user_space || place.is_crowded => Ok(Receive::Block),
            None => Ok(Receive::Spin),
        }
    }
}
