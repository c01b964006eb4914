//! Runs a measurement for commands and for plans: waits for it while its loads run, shows progress, and takes its result.

mod answering;
mod asked;
mod away;

pub use answering::Answering;
pub use away::{AwayEnd, Fetched, Launched};

use crate::session::{Session, SessionError};
use bed::loads::Loads;
use probes::{Running, SenderEnd};
use run::Stop;
use std::time::{Duration, Instant};
use units::Monotonic;

/// Interval at which loads are checked and progress is shown.
const LOOK: Duration = Duration::from_millis(200);

/// Interval at which the end of a measurement is checked, so that it is noticed soon.
const CHECK: Duration = Duration::from_millis(50);

/// How long a receiver of a stream continues after the sender's end, to take frames still on their way.
const AFTER_SENDER: Duration = Duration::from_millis(300);

/// Something that measures until its end, or until its end is requested.
pub trait Underway {
    /// True if the part with an end of its own has reached it.
    fn is_finished(&self) -> bool;

    /// Ends the parts that continue after that, and waits for all of them.
    ///
    /// # Errors
    /// The first error among its parts.
    fn end(self: Box<Self>, session: &Session) -> Result<(), SessionError>;
}

impl Underway for Running {
    fn is_finished(&self) -> bool {
        self.is_finished()
    }

    fn end(self: Box<Self>, _: &Session) -> Result<(), SessionError> {
        Ok(self.join()?)
    }
}

/// One end of a step: in this process, or in other places, one for each device.
pub enum Side {
    /// In this process.
    Here(Running),
    /// In other places.
    Away(Vec<AwayEnd>),
}

impl Side {
    fn is_finished(&self) -> bool {
        match self {
            Self::Here(running) => running.is_finished(),
            Self::Away(ends) => ends.iter().all(AwayEnd::is_finished),
        }
    }

    /// True if one in another place has ended; for an end that must continue until its end is requested, that is too early.
    fn has_left(&self) -> bool {
        match self {
            Self::Here(_) => false,
            Self::Away(ends) => ends.iter().any(AwayEnd::is_finished),
        }
    }

    /// When it finished measuring, as far as known here.
    fn ended_at(&self) -> Option<Monotonic> {
        match self {
            Self::Here(running) => running.ended_at(),
            Self::Away(ends) => ends.iter().filter_map(AwayEnd::ended_at).max(),
        }
    }

    /// Sends the sender's end to the receivers in other places.
    fn tell_end(&self, at: Monotonic) {
        if let Self::Away(ends) = self {
            ends.iter().for_each(|end| end.tell_end(at));
        }
    }

    /// Requests the end of those in other places.
    fn stop(&self) {
        if let Self::Away(ends) = self {
            ends.iter().for_each(AwayEnd::stop);
        }
    }

    /// Waits for its end, which was requested; measurements from other places are then a part of the run.
    fn join(self, session: &Session) -> Result<Vec<Fetched>, SessionError> {
        match self {
            Self::Here(running) => {
                running.join()?;
                Ok(Vec::new())
            }
            Self::Away(ends) => {
                ends.iter().for_each(AwayEnd::stop);
                // Each is waited for, also after one that failed.
                let ended: Vec<_> = ends.into_iter().map(|end| end.finish(session)).collect();
                ended.into_iter().collect()
            }
        }
    }
}

impl Underway for Side {
    fn is_finished(&self) -> bool {
        self.is_finished()
    }

    fn end(self: Box<Self>, session: &Session) -> Result<(), SessionError> {
        self.join(session).map(drop)
    }
}

/// Two ends: one sends until its end, and the other answers or receives until its end is requested.
pub struct Ends {
    /// The sending end.
    pub near: Side,
    /// The other end.
    pub far: Side,
    /// Ends the other end.
    pub stop: Stop,
    /// Receives the instant at which the sender has ended.
    pub sender: SenderEnd,
    /// How long the other end continues after that.
    pub settle: Duration,
}

impl Ends {
    /// Joins both, once the sending end has started too; if that fails, the other end is stopped.
    ///
    /// # Errors
    /// The sending end could not start.
    pub fn of(
        near: Result<Side, SessionError>,
        far: Side,
        stop: &Stop,
        sender: SenderEnd,
        session: &Session,
    ) -> Result<Self, SessionError> {
        match near {
            Ok(near) => Ok(Self {
                near,
                far,
                stop: stop.clone(),
                sender,
                settle: AFTER_SENDER,
            }),
            Err(error) => {
                stop.request();
                // The other end may complain that no sender came, but that is not the reason.
                let _ = far.join(session);
                Err(error)
            }
        }
    }
}

impl Underway for Ends {
    fn is_finished(&self) -> bool {
        self.near.is_finished() || self.far.has_left()
    }

    fn end(self: Box<Self>, session: &Session) -> Result<(), SessionError> {
        self.end_both(session).map(drop)
    }
}

impl Ends {
    /// Ends both; returns the runs of the sending ends and of the other ends that were in other places.
    ///
    /// # Errors
    /// The first error among them.
    pub fn end_both(self, session: &Session) -> Result<[Vec<Fetched>; 2], SessionError> {
        let has_left = self.far.has_left();
        if has_left {
            // The other end is gone, so there is nothing left to measure.
            self.stop.request();
        }
        let ended = self.near.ended_at().unwrap_or_else(sys::clock::monotonic);
        self.sender.tell(ended);
        self.far.tell_end(ended);
        std::thread::sleep(self.settle);
        self.stop.request();
        // A receiver must not wait, in silence, until the run of a sender in another place has been fetched.
        self.far.stop();
        let near = self.near.join(session);
        let far = self.far.join(session);
        match (near, far) {
            (Ok(near), Ok(far)) => Ok([near, far]),
            // The near end's complaint about silence is not the reason then.
            (_, Err(error)) if has_left => Err(error),
            (Err(error), _) | (_, Err(error)) => Err(error),
        }
    }
}

/// Progress of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The current step, counted from 1; steps that run in parallel count as one.
    pub step: usize,
    /// Number of steps.
    pub of: usize,
    /// How long this step and the following ones had to measure when it began, in ns.
    pub left_ns: u64,
    /// When the step began.
    pub since: Instant,
}

impl Position {
    /// How long the plan still measures, in ns.
    pub fn left_ns(&self) -> u64 {
        let gone = u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.left_ns.saturating_sub(gone)
    }
}

/// Shows the progress of a run to a person.
pub trait ShowProgress {
    /// Shows the session, its present work, and the progress of a plan.
    fn show(&mut self, session: &Session, doing: &str, position: Option<Position>);

    /// Removes the display.
    fn clear(&mut self) {}
}

/// A session, its loads, and the display of its progress.
pub struct Runner<'a> {
    /// Session of the run.
    pub session: &'a mut Session,
    /// Its loads.
    pub loads: &'a mut Loads,
    /// Display of its progress.
    pub show: &'a mut dyn ShowProgress,
    /// Progress of its plan, if it has one.
    pub position: Option<Position>,
}

impl Runner<'_> {
    /// Waits until all of them have reached their end, in parallel; each is ended as soon as it has. If one ends with an error, the end of the
    /// others is requested through `stops`: they would measure, perhaps for days, without what was to run beside them.
    ///
    /// # Errors
    /// The first error among them. The measurements of the others are kept.
    pub fn attend<'b>(
        &mut self,
        doing: &str,
        all: Vec<Box<dyn Underway + 'b>>,
        stops: &[Stop],
    ) -> Result<(), SessionError> {
        let mut left = all;
        let mut outcome = Ok(());
        let mut looked = Instant::now();
        loop {
            let (finished, going_on): (Vec<_>, Vec<_>) = left.into_iter().partition(|one| one.is_finished());
            for one in finished {
                let ended = one.end(self.session);
                if ended.is_err() {
                    stops.iter().for_each(Stop::request);
                }
                outcome = outcome.and(ended);
            }
            left = going_on;
            if left.is_empty() {
                return outcome;
            }
            std::thread::sleep(CHECK);
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                self.look(doing);
            }
        }
    }

    /// Waits for `ns`, or until an end is requested; calls `look` at intervals, and at the end.
    ///
    /// # Errors
    /// The error of `look`, which ends the wait.
    pub fn pass<E>(&mut self, ns: u64, doing: &str, mut look: impl FnMut(&Session) -> Result<(), E>) -> Result<(), E> {
        let end = Instant::now() + Duration::from_nanos(ns);
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || self.session.stop.requested() {
                return look(self.session);
            }
            std::thread::sleep(left.min(LOOK));
            look(self.session)?;
            self.look(doing);
        }
    }

    fn look(&mut self, doing: &str) {
        self.loads.look(&self.session.recorder.events());
        self.show.show(self.session, doing, self.position);
    }
}
