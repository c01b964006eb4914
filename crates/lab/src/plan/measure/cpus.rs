//! Steps that measure CPUs, and need nothing else.

use super::{Measure, Place};
use crate::plan::rest_of;
use crate::runner::Underway;
use crate::session::{Session, SessionError};
use probes::Probe;
use probes::noise::{NoiseConfig, NoiseOptions};
use probes::wakeup::{WakeupConfig, WakeupOptions};
use sys::thread::Policy;
use units::CpuList;

impl Measure for WakeupOptions {
    fn name(&self) -> &'static str {
        "wake-up"
    }

    fn family(&self) -> &'static str {
        "wakeup"
    }

    fn needs_bed(&self) -> bool {
        false
    }

    fn takes(&self, judged: &CpuList) -> CpuList {
        judged.clone()
    }

    fn policy(&self) -> Policy {
        self.policy
    }

    fn start<'a>(&self, place: &Place<'a>, session: &mut Session) -> Result<Box<dyn Underway + 'a>, SessionError> {
        let config = WakeupConfig {
            cpus: place.judged.clone(),
            options: self.clone(),
            duration_ns: Some(place.duration.0),
            idle: session.idle().to_owned(),
            label: place.label.clone(),
        };
        Ok(Box::new(config.start((), &mut session.recorder, &place.stop)?))
    }
}

impl Measure for NoiseOptions {
    fn name(&self) -> &'static str {
        "noise"
    }

    fn family(&self) -> &'static str {
        "noise"
    }

    fn needs_bed(&self) -> bool {
        false
    }

    fn takes(&self, judged: &CpuList) -> CpuList {
        judged.clone()
    }

    fn policy(&self) -> Policy {
        self.policy
    }

    fn start<'a>(&self, place: &Place<'a>, session: &mut Session) -> Result<Box<dyn Underway + 'a>, SessionError> {
        let config = NoiseConfig {
            cpus: place.judged.clone(),
            options: self.clone(),
            duration_ns: Some(place.duration.0),
            rest: rest_of(self.policy),
            idle: session.idle().to_owned(),
            label: place.label.clone(),
        };
        Ok(Box::new(config.start((), &mut session.recorder, &place.stop)?))
    }
}
