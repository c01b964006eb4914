//! Runs a measurement for commands and for plans: waits for it beside its loads, shows progress, and takes its result.

mod away;

pub use away::{AwayEnd, Launched};

use crate::session::{Session, SessionError};
use bed::loads::Loads;
use probes::{Running, SenderEnd};
use run::Stop;
use std::time::{Duration, Instant};
use units::Monotonic;

/// How often loads are looked after and progress is shown.
const LOOK: Duration = Duration::from_millis(200);

/// How often it is looked whether a measurement has come to its end, which nobody should wait for.
const CHECK: Duration = Duration::from_millis(50);

/// How long a receiver of a stream goes on after the sender's end, to take what is still on its way.
const AFTER_SENDER: Duration = Duration::from_millis(300);

/// Something that measures until its end, or until it is told to end.
pub trait Underway {
    /// True if the part that has an end has come to it.
    fn is_finished(&self) -> bool;

    /// Ends what goes on after that part, and waits for all of it.
    ///
    /// # Errors
    /// The error with which the first part of it ended.
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

/// One end of a step: in this process, or in places of their own, of which there are as many as devices.
pub enum Side {
    /// Here.
    Here(Running),
    /// Elsewhere.
    Away(Vec<AwayEnd>),
}

impl Side {
    fn is_finished(&self) -> bool {
        match self {
            Self::Here(running) => running.is_finished(),
            Self::Away(ends) => ends.iter().all(AwayEnd::is_finished),
        }
    }

    /// True if one of it that is elsewhere has ended: of an end that goes on until it is told to end, before its time.
    fn has_left(&self) -> bool {
        match self {
            Self::Here(_) => false,
            Self::Away(ends) => ends.iter().any(AwayEnd::is_finished),
        }
    }

    /// When it had measured, as far as that is known here.
    fn ended_at(&self) -> Option<Monotonic> {
        match self {
            Self::Here(running) => running.ended_at(),
            Self::Away(_) => None,
        }
    }

    /// Tells what receives elsewhere that its sender has ended.
    fn tell_end(&self, at: Monotonic) {
        if let Self::Away(ends) = self {
            ends.iter().for_each(|end| end.tell_end(at));
        }
    }

    /// Waits for its end, which it was told of; what was measured elsewhere is then a part of the run.
    fn join(self, session: &Session) -> Result<(), SessionError> {
        match self {
            Self::Here(running) => Ok(running.join()?),
            Self::Away(ends) => {
                ends.iter().for_each(AwayEnd::stop);
                let ended = ends.into_iter().map(|end| end.finish(session));
                ended.fold(Ok(()), Result::and)
            }
        }
    }
}

impl Underway for Side {
    fn is_finished(&self) -> bool {
        self.is_finished()
    }

    fn end(self: Box<Self>, session: &Session) -> Result<(), SessionError> {
        self.join(session)
    }
}

/// Two ends: one sends until its end, and one answers or receives until it is told to end.
pub struct Ends {
    /// The one that sends.
    pub near: Side,
    /// The other.
    pub far: Side,
    /// Ends the other.
    pub stop: Stop,
    /// Told when the sender has ended.
    pub sender: SenderEnd,
    /// How long the other goes on after it.
    pub settle: Duration,
}

impl Ends {
    /// Both, once the sending end has started too; when it could not, the other one is ended.
    ///
    /// # Errors
    /// The error of the sending end.
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
                // The other end's complaint about a sender that never was is not the reason.
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
        let has_left = self.far.has_left();
        if has_left {
            // There is nobody left to measure with.
            self.stop.request();
        }
        let ended = self.near.ended_at().unwrap_or_else(sys::clock::monotonic);
        self.sender.tell(ended);
        self.far.tell_end(ended);
        let near = self.near.join(session);
        std::thread::sleep(self.settle);
        self.stop.request();
        let far = self.far.join(session);
        match has_left {
            // The near end's complaint about the silence then is not the reason.
            true => far.and(near),
            false => near.and(far),
        }
    }
}

/// How far a plan has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The step under way, counted from 1; steps side by side are one.
    pub step: usize,
    /// How many there are.
    pub of: usize,
    /// How long this step and those behind it were to measure when it began, in ns.
    pub left_ns: u64,
    /// When it began.
    pub since: Instant,
}

impl Position {
    /// How long the plan still measures, in ns.
    pub fn left_ns(&self) -> u64 {
        let gone = u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.left_ns.saturating_sub(gone)
    }
}

/// Shows a person how a run stands.
pub trait ShowProgress {
    /// The session, what is being done, and of a plan how far it has come.
    fn show(&mut self, session: &Session, doing: &str, position: Option<Position>);

    /// Takes it away.
    fn clear(&mut self) {}
}

/// A session, what runs beside it, and who is shown how it stands.
pub struct Runner<'a> {
    /// The session.
    pub session: &'a mut Session,
    /// Its loads.
    pub loads: &'a mut Loads,
    /// Shows its progress.
    pub show: &'a mut dyn ShowProgress,
    /// How far its plan has come, if it has one.
    pub position: Option<Position>,
}

impl Runner<'_> {
    /// Waits until all of them have come to their end, side by side; each is ended as soon as it has.
    ///
    /// # Errors
    /// The error with which the first of them ended. The others come to their end all the same.
    pub fn attend<'b>(&mut self, doing: &str, all: Vec<Box<dyn Underway + 'b>>) -> Result<(), SessionError> {
        let mut left = all;
        let mut outcome = Ok(());
        let mut looked = Instant::now();
        loop {
            let (finished, going_on): (Vec<_>, Vec<_>) = left.into_iter().partition(|one| one.is_finished());
            for one in finished {
                let ended = one.end(self.session);
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

    /// Waits for `ns`, or until told to end; calls `look` now and then, and at the end.
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
