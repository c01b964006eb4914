//! Steps that measure CPUs only.

use super::{Measure, StepContext};
use probes::{CpuProbe, Need, OnCpus, Running, SenderEnd};
use serde::Deserialize;
use session::preflight::rest;
use session::runner::Underway;
use session::{Session, SessionError};
use std::fmt::Debug;
use units::CpuList;

/// A probe of CPUs, with its options as keys.
#[derive(Deserialize)]
#[serde(transparent, bound = "")]
pub(crate) struct CpuStep<P: CpuProbe> {
    /// Options of the probe.
    pub(crate) options: P::Options,
}

impl<P: CpuProbe> Debug for CpuStep<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.options.fmt(f)
    }
}

impl<P: CpuProbe + 'static> Measure for CpuStep<P> {
    fn words(&self) -> &'static str {
        P::ABOUT.words
    }

    fn family(&self) -> &'static str {
        P::ABOUT.kinds[0].name
    }

    fn needs_bed(&self) -> bool {
        false
    }

    fn takes(&self, judged: &CpuList) -> CpuList {
        judged.clone()
    }

    fn series(&self, judged: &CpuList, _: u64) -> u64 {
        judged.len() as u64
    }

    fn occupies(&self) -> bool {
        P::occupies(&self.options)
    }

    fn needs(&self, judged: &CpuList) -> Vec<Need> {
        P::told(self.options.clone(), OnCpus::of(judged.clone())).needs()
    }

    fn device(&self, place: &StepContext<'_>, _: &SenderEnd, session: &mut Session) -> Result<Running, SessionError> {
        let on = OnCpus {
            cpus: place.judged.clone(),
            duration_ns: Some(place.duration.0),
            label: place.label.clone(),
            idle: session.idle().to_owned(),
            rest: rest(),
        };
        let probe = P::told(self.options.clone(), on);
        Ok(probe.start((), &mut session.recorder, &place.stop)?)
    }

    fn start<'a>(
        &self,
        place: &StepContext<'a>,
        session: &mut Session,
    ) -> Result<Box<dyn Underway + 'a>, SessionError> {
        Ok(Box::new(place.start_device(self, &SenderEnd::default(), session)?))
    }
}
