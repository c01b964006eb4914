//! A run with everything around its measurement: loads, captures, progress, and its keeper.

use crate::ended::Ended;
use crate::keeper::Keeper;
use crate::preflight::{self, Intent};
use crate::room::Disk;
use crate::runner::{Position, Runner, ShowProgress, Underway};
use crate::session::{Session, SessionError};
use crate::spec::RunSpec;
use bed::loads::Loads;
use model::fact::{BUILD, LABEL, LOCAL_TIME, PLAN};
use model::{EventKind, Fact, RunState};
use probes::copier::{self, Capture, CaptureSpec};
use probes::{Port, ProbeError};
use run::{Stop, remove};
use std::path::PathBuf;

/// A run of one command or plan, from its start until its file is closed.
pub struct Run {
    /// Session of the run.
    pub session: Session,
    loads: Loads,
    beside: Beside,
    open_ended: bool,
    captures: Vec<Capture>,
    /// Doubts found before measuring.
    doubts: Vec<String>,
}

/// Companions of a run: one shows its progress to a person, one keeps its entry.
struct Beside {
    progress: Box<dyn ShowProgress>,
    keeper: Keeper,
    /// True if steps follow each other: then nothing is measured before the first step.
    has_plan: bool,
}

impl ShowProgress for Beside {
    fn show(&mut self, session: &Session, doing: &str, position: Option<Position>) {
        self.progress.show(session, doing, position);
        let measures = position.is_some() || !self.has_plan;
        self.keeper.look(session, doing, position, measures);
    }
}

impl Run {
    /// Starts a run that ends early when `stop` is requested: makes its file, starts its loads, and lists it among the runs of this
    /// machine.
    ///
    /// # Errors
    /// There is no room for it, or session or loads do not start; then no file is left.
    pub fn start(mut spec: RunSpec, stop: Stop, progress: Box<dyn ShowProgress>) -> Result<Self, SessionError> {
        spec.need = spec.need();
        if let Some(need) = spec.need.filter(|_| !spec.force) {
            Disk::of(&spec.run.file).refuse(&need).map_err(SessionError::Room)?;
        }
        let mut session = Session::start(&mut spec, stop)?;
        session.recorder.set_thresholds(spec.thresholds.clone());
        let loads = match Loads::start(std::mem::take(&mut spec.loads), &session.recorder.events()) {
            Ok(loads) => loads,
            Err(error) => {
                let file = session.file().to_path_buf();
                drop(session);
                remove(&file);
                return Err(error.into());
            }
        };
        session.recorder.add_facts(stated(&mut spec));
        session
            .recorder
            .set_settings(vec![bed::loads::setting(&loads.describe())]);
        let keeper = Keeper::start(&spec, session.file());
        Ok(Self {
            session,
            loads,
            beside: Beside {
                progress,
                has_plan: spec.plan.is_some(),
                keeper,
            },
            open_ended: spec.open_ended,
            captures: Vec::new(),
            doubts: Vec::new(),
        })
    }

    /// Why `triptime status` does not list it, if it runs in the background.
    pub fn unlisted(&self) -> Option<&str> {
        self.beside.keeper.unlisted()
    }

    /// Records the reasons to doubt a measurement on this port.
    pub fn doubt(&mut self, port: &Port, intent: &Intent) {
        let events = self.session.recorder.events();
        self.doubts = preflight::doubts(port.interface(), intent);
        self.doubts.extend(port.doubt());
        for doubt in &self.doubts {
            events.write(EventKind::Note, format!("before measuring: {doubt}"));
        }
    }

    /// Adds a capture to the port, of the frames that pass it.
    ///
    /// # Errors
    /// The capture cannot be made; then no run file is left.
    pub fn captured(&mut self, port: Port, spec: &CaptureSpec) -> Result<Port, SessionError> {
        let (copier, capture) = copier::start(spec).map_err(|error| {
            // Nothing has been measured yet.
            remove(self.session.file());
            SessionError::Wrong(error.to_string())
        })?;
        self.captures.push(capture);
        Ok(port.with_copier(Some(copier)))
    }

    /// Closes the captures, and records their contents.
    fn close_captures(&mut self) {
        if self.captures.is_empty() {
            return;
        }
        // The capture must include the frames around a spike among the last samples.
        self.session.recorder.settle();
        let events = self.session.recorder.events();
        for capture in self.captures.drain(..) {
            match capture.finish() {
                Ok(captured) => events.write(EventKind::Note, captured.to_string()),
                Err(error) => events.write(EventKind::Refused, error.to_string()),
            }
        }
    }

    /// Runner for the probes: waits for them while loads run, and shows progress.
    pub fn runner(&mut self) -> Runner<'_> {
        Runner {
            session: &mut self.session,
            loads: &mut self.loads,
            show: &mut self.beside,
            position: None,
        }
    }

    /// Waits for a measurement, if it started.
    ///
    /// # Errors
    /// It did not start, or it ended with an error.
    pub fn attend<'a>(&mut self, started: Result<impl Underway + 'a, ProbeError>) -> Result<(), SessionError> {
        self.runner().attend("measuring", vec![Box::new(started?)], &[])
    }

    /// Closes a run that is shown to nobody, and returns the path of its file. `say` is called with a message if the file was
    /// moved. If the measurement was refused, no file is left.
    ///
    /// # Errors
    /// The error of the measurement, or the one that kept the file from being written.
    pub fn close(self, outcome: Result<(), SessionError>, say: &dyn Fn(&str)) -> Result<PathBuf, SessionError> {
        let ended = self.end(outcome);
        let file = ended.found(say);
        let closed = ended.outcome.and(ended.closed);
        if closed.is_err() {
            remove(&file);
        }
        ended.keeper.ended(0, ended.state == RunState::Complete, None);
        closed.map(|()| file)
    }

    /// Ends everything around the measurement, records whether the run reached its end, and closes its file.
    pub fn end(mut self, outcome: Result<(), SessionError>) -> Ended {
        let state = self.end_beside(&outcome);
        let place = self.session.place();
        Ended {
            state,
            outcome,
            told_to_end: self.session.stop.requested(),
            place,
            closed: self.session.finish(state),
            doubts: self.doubts,
            keeper: self.beside.keeper,
        }
    }

    fn end_beside(&mut self, outcome: &Result<(), SessionError>) -> RunState {
        self.beside.progress.clear();
        self.beside.keeper.finishing(&self.session);
        self.loads.stop(&self.session.recorder.events());
        self.close_captures();
        // The run itself says which steps it lacks.
        let is_whole = outcome.as_ref().map_or_else(SessionError::is_of_steps, |()| true);
        if is_whole && (self.open_ended || !self.session.stop.requested()) {
            return RunState::Complete;
        }
        let why = outcome.as_ref().err().map(ToString::to_string);
        let why = self.beside.keeper.why().or(why);
        if !self.beside.keeper.has_told() {
            let events = self.session.recorder.events();
            events.write(EventKind::Interrupted, why.unwrap_or_else(|| "ended early".into()));
        }
        RunState::Interrupted
    }
}

/// The facts about the run itself, which its reports show.
fn stated(spec: &mut RunSpec) -> Vec<Fact> {
    let facts = [
        (LABEL, spec.label.take(), "--label"),
        (PLAN, spec.plan.clone(), "the plan's file, kept in the run"),
        (BUILD, spec.build.take(), "this program"),
        (LOCAL_TIME, spec.local_time.take(), "the host's time zone"),
    ];
    let stated = facts.into_iter();
    stated
        .filter_map(|(fact, value, source)| Some(fact.fact(Ok(value?), source)))
        .collect()
}
