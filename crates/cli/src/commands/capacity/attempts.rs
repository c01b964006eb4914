//! The attempts of a search: each is a plan of one step, and a run of its own.

use crate::arguments::{PageArgs, RunArgs};
use crate::failure::{Failure, say};
use crate::run_file::Run;
use host::CpuFacts;
use place::PlaceSpec;
use plan::{Named, Plan, PlanRun};
use probes::{Machine, Need, ProbeError};
use report::capacity::{Attempt, DOCUMENT, GaveWay, Part, Proof, Search, Wanted};
use run::{Thresholds, remove};
use session::memory::OF_A_BED;
use session::{RunSpec, SessionError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::RunFile;

/// The part that gave way in an attempt, and its run file, if one was made.
pub(super) type Outcome = (Option<GaveWay>, Option<PathBuf>);

/// Where and beside what attempts run.
pub(super) struct Attempts {
    pub(super) named: Named,
    pub(super) cpus: CpuFacts,
    pub(super) args: RunArgs,
    /// Set by a signal, whichever attempt is under way.
    pub(super) interrupted: Arc<AtomicBool>,
}

impl Attempts {
    /// Refuses what cannot run here, before anything is touched; says who runs where.
    pub(super) fn check(&self, wanted: &Wanted) -> Result<(), Failure> {
        let plan = plan(wanted, 1)?;
        let roles = plan.roles(&self.cpus, &self.named)?;
        Need::check_all(&plan.needs(&self.cpus, &roles)?, &Machine::live(), None)?;
        if !self.args.quiet {
            roles.lines().iter().for_each(|line| say(line));
        }
        Ok(())
    }

    /// A short attempt, whose run is not kept: it is in `file` or one of its numbers.
    pub(super) fn probe(&self, wanted: &Wanted, duration_ns: u64, file: &Path) -> Result<Option<GaveWay>, Failure> {
        let (gave_way, made) = self.attempt(wanted, duration_ns, (None, file), (Proof::Seen, Vec::new()))?;
        made.iter().for_each(|made| remove(made));
        self.tell("", wanted, gave_way)
    }

    /// The hold of a search, and where its run is, which stays: the file that `--out` names, else `usual` or one of its numbers.
    pub(super) fn hold(&self, search: &Search, duration_ns: u64, usual: &Path) -> Result<Outcome, Failure> {
        let text = serde_json::to_string_pretty(search).map_err(|error| Failure::CouldNotMeasure(error.to_string()))?;
        let documents = vec![(DOCUMENT.to_owned(), text)];
        let places = (self.args.out.clone(), usual);
        let (gave_way, made) = self.attempt(&search.wanted, duration_ns, places, (Proof::Stated, documents))?;
        Ok((self.tell("hold: ", &search.wanted, gave_way)?, made))
    }

    /// Measures, and says what gave way.
    fn attempt(
        &self,
        wanted: &Wanted,
        duration_ns: u64,
        (out, usual): (Option<PathBuf>, &Path),
        (proof, documents): (Proof, Vec<(String, String)>),
    ) -> Result<Outcome, Failure> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Ok((None, None));
        }
        let plan = plan(wanted, duration_ns)?;
        let plan = match self.args.hold_idle {
            true => plan.holding_idle(),
            false => plan,
        };
        let roles = plan.roles(&self.cpus, &self.named)?;
        let mut spec = RunSpec {
            flight_recorder: self.args.explains(),
            housekeeping: Some(roles.recorder.clone()),
            memory: OF_A_BED,
            ..self.args.spec("capacity", roles.measured.clone(), Some(duration_ns))
        };
        spec.run.may_be_numbered = out.is_none();
        spec.run.file = out.unwrap_or_else(|| usual.to_owned());
        spec.run.window_ns = self.args.window.unwrap_or(plan.window.0);
        spec.run.documents = documents;
        let args = RunArgs {
            pages: PageArgs::default(),
            ..self.args.clone()
        };
        let mut run = Run::start(spec, args)?;
        run.session.recorder.set_thresholds(thresholds(*wanted));
        run.session.recorder.add_facts(roles.facts());
        let work = PlanRun {
            plan: &plan,
            roles,
            cpus: self.cpus.clone(),
            ports: None,
            place: PlaceSpec::Native,
        };
        let outcome = plan::run(run.runner(), work);
        match run.close(outcome) {
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

    /// Says how an attempt ended; one that was interrupted ends the search.
    fn tell(&self, what: &str, wanted: &Wanted, outcome: Option<GaveWay>) -> Result<Option<GaveWay>, Failure> {
        let streams = match wanted.streams {
            1 => "1 stream".to_owned(),
            several => format!("{several} streams"),
        };
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(Failure::CouldNotMeasure(format!(
                "ended early, at {what}{streams}: there is no answer before the end of the hold"
            )));
        }
        if !self.args.quiet {
            match &outcome {
                None => say(&format_args!("{what}{streams}: held")),
                Some(gave_way) => say(&format_args!("{what}{streams}: {}", gave_way.text())),
            }
        }
        Ok(outcome)
    }
}

/// The samples that are not in time are kept with their causes.
fn thresholds(wanted: Wanted) -> Thresholds {
    let family = if wanted.relay { "use/" } else { "age/" };
    Thresholds::new(move |name| name.starts_with(family).then_some(wanted.within_ns))
}

/// The plan of one attempt.
fn plan(wanted: &Wanted, duration_ns: u64) -> Result<Plan, Failure> {
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
    Ok(Plan::parse("capacity", &text)?)
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
