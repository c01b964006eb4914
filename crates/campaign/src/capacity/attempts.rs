//! The attempts of a search: each is a plan with one step, and a separate run.

use super::Asked;
use crate::CampaignError;
use place::PlaceSpec;
use plan::{Plan, PlanError, PlanRun};
use probes::{Machine, Need, ProbeError};
use report::capacity::{Attempt, DOCUMENT, GaveWay, Part, Proof, Search, Wanted};
use run::{Thresholds, remove};
use session::SessionError;
use session::memory::OF_A_BED;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use store::RunFile;

/// The part that failed in an attempt, and its run file, if one was made.
type Outcome = (Option<GaveWay>, Option<PathBuf>);

impl Asked<'_> {
    /// Refuses attempts that cannot run here, before anything is changed; reports the CPUs of each role.
    pub(super) fn check(&self) -> Result<(), CampaignError> {
        let plan = plan(&self.wanted(1), 1)?;
        let roles = plan.roles(&self.cpus, &self.named)?;
        Need::check_all(&plan.needs(&self.cpus, &roles)?, &Machine::live(), None)?;
        roles.lines().iter().for_each(|line| (self.tell)(line));
        Ok(())
    }

    /// A short attempt, whose run is not kept: its file is `file` or a numbered variant.
    pub(super) fn probe(&self, wanted: &Wanted, file: &Path) -> Result<Option<GaveWay>, CampaignError> {
        let (gave_way, made) = self.attempt(wanted, self.probe_ns, (None, file), (Proof::Seen, Vec::new()))?;
        made.iter().for_each(|made| remove(made));
        self.told("", wanted, gave_way)
    }

    /// The final hold of a search. Its run is kept, in the requested file, otherwise in `usual` or a numbered variant.
    pub(super) fn hold(&self, search: &Search, usual: &Path) -> Result<Outcome, CampaignError> {
        let text = serde_json::to_string_pretty(search).map_err(|error| CampaignError::Failed(error.to_string()))?;
        let documents = vec![(DOCUMENT.to_owned(), text)];
        let places = (self.out.clone(), usual);
        let (gave_way, made) = self.attempt(&search.wanted, self.hold_ns, places, (Proof::Stated, documents))?;
        Ok((self.told("hold: ", &search.wanted, gave_way)?, made))
    }

    /// Measures, and returns the part that failed.
    fn attempt(
        &self,
        wanted: &Wanted,
        duration_ns: u64,
        (out, usual): (Option<PathBuf>, &Path),
        (proof, documents): (Proof, Vec<(String, String)>),
    ) -> Result<Outcome, CampaignError> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Ok((None, None));
        }
        let plan = plan(wanted, duration_ns)?;
        let plan = match self.hold_idle {
            true => plan.holding_idle(),
            false => plan,
        };
        let roles = plan.roles(&self.cpus, &self.named)?;
        let mut spec = (self.spec)(roles.measured.clone(), duration_ns);
        spec.housekeeping = Some(roles.recorder.clone());
        spec.memory = OF_A_BED;
        spec.run.may_be_numbered = out.is_none();
        spec.run.file = out.unwrap_or_else(|| usual.to_owned());
        spec.run.window_ns = self.window_ns.unwrap_or(plan.window.0);
        spec.run.documents.extend(documents);
        let mut run = (self.start)(spec)?;
        run.session.recorder.set_thresholds(thresholds(*wanted));
        run.session.recorder.add_facts(roles.facts());
        let work = PlanRun {
            plan: &plan,
            roles,
            cpus: self.cpus.clone(),
            ports: None,
            place: PlaceSpec::Native,
            test_set: PlaceSpec::Native,
        };
        let outcome = plan::run(run.runner(), work);
        match run.close(outcome, &|text| (self.say)(&text)) {
            Ok(file) => Ok((
                Attempt::of(&RunFile::open(&file)?.view()?, wanted, proof).gave_way,
                Some(file),
            )),
            Err(SessionError::Probe(ProbeError::NoTraffic(what))) => {
                let part = Part::TestSet;
                Ok((Some(GaveWay { part, what }), None))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Reports the result of an attempt; an interrupted one ends the search.
    fn told(&self, what: &str, wanted: &Wanted, outcome: Option<GaveWay>) -> Result<Option<GaveWay>, CampaignError> {
        let streams = match wanted.streams {
            1 => "1 stream".to_owned(),
            several => format!("{several} streams"),
        };
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(CampaignError::Failed(format!(
                "ended early, at {what}{streams}: there is no answer before the end of the hold"
            )));
        }
        match &outcome {
            None => (self.tell)(&format_args!("{what}{streams}: held")),
            Some(gave_way) => (self.tell)(&format_args!("{what}{streams}: {}", gave_way.text())),
        }
        Ok(outcome)
    }
}

/// Late samples are stored with their causes.
fn thresholds(wanted: Wanted) -> Thresholds {
    let family = if wanted.relay { "use/" } else { "age/" };
    Thresholds::new(move |name| name.starts_with(family).then_some(wanted.within_ns))
}

/// The plan of one attempt.
fn plan(wanted: &Wanted, duration_ns: u64) -> Result<Plan, PlanError> {
    let Wanted {
        streams, rate, asdus, ..
    } = *wanted;
    let own = match wanted.relay {
        true => format!(
            "probe = \"trip\"\nrelay = \"bays{streams}\"\nstreams = {streams}\ncontrols = []\nscenario = [\"overcurrent\"]\n"
        ),
        false => format!("probe = \"sampled-values\"\nstreams = {streams}\nrate = {rate}\nasdus = {asdus}\n"),
    };
    let text = format!(
        "name = \"capacity\"\nwhat = \"One attempt of a search\"\nlimits = \"its own\"\nwindow = \"20s\"\n\
         [cpus]\nhousekeeping = \"first\"\nmeasured = \"rest\"\n\
         [[step]]\nduration = \"{duration_ns}ns\"\npolicy = \"fifo:60\"\n{own}"
    );
    Plan::parse("capacity", &text)
}

#[cfg(test)]
mod tests {
    use super::{plan, thresholds};
    use report::capacity::Wanted;

    fn wanted(streams: u16, relay: bool) -> Wanted {
        Wanted {
            streams,
            rate: 4_800,
            asdus: 1,
            relay,
            quantile: 0.9999,
            within_ns: 500_000,
        }
    }

    #[test]
    fn every_number_of_streams_is_a_plan() {
        for (streams, relay) in [(1, false), (1_000, false), (1, true), (120, true)] {
            let plan = plan(&wanted(streams, relay), 3_000_000_000).expect("a plan");
            assert_eq!((plan.steps.len(), plan.duration_ns()), (1, 3_000_000_000));
            assert_eq!(plan.steps[0].name(), if relay { "trip" } else { "sampled values" });
        }
    }

    #[test]
    fn what_must_be_in_time_has_the_threshold() {
        let [plain, relay] = [false, true].map(|relay| thresholds(wanted(1, relay)));
        assert_eq!((plain.of("age/MU01"), plain.of("use/MU01")), (Some(500_000), None));
        assert_eq!((relay.of("age/MU01"), relay.of("use/MU01")), (None, Some(500_000)));
    }
}
