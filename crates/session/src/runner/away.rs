//! An end of a step in another place: starts it, sends it what it needs, and merges its run into the run here.

use super::answering::{Answering, lock};
use super::asked::Asking;
use crate::session::{Session, SessionError};
use model::{Event, EventKind, setting};
use place::line::{FromPlace, ToPlace, read, written};
use place::{Away, Job, Place, PlaceError, PlaceKind};
use run::{Adopted, Stop};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use store::RunFile;
use tempfile::TempPath;
use units::Monotonic;

/// Longest time for a place to get ready: an emulated guest takes some ten seconds, and up to a hundred under other load.
const READY_PATIENCE: Duration = Duration::from_secs(300);

/// An end of a step that is at work in another place.
pub struct AwayEnd {
    place: Arc<dyn Place>,
    away: Arc<Mutex<Box<dyn Away>>>,
    stop: Stop,
    /// How far the place's `CLOCK_REALTIME` was ahead at its start, in ns; `None`: not known.
    ahead_ns: Option<i64>,
    /// Before its measurement.
    begun: Monotonic,
    /// True if it is the test set, whose clock is also in the one-way figures of the device.
    is_test_set: bool,
    /// When it ended its measurement, by the place's `CLOCK_REALTIME` in ns, once it has said so.
    ended: Arc<OnceLock<i64>>,
    /// Thread that answers its questions, from its start on.
    answers: Mutex<Option<JoinHandle<()>>>,
    /// True if its clock is the only one that differs from that of the test set.
    asks_time: bool,
    /// The questions for its time, while it measures.
    asking: Mutex<Option<Asking>>,
    /// True if the run here keeps its recording, too.
    keeps_recording: bool,
}

/// The run of an end in another place, which has become part of the run here, and what is known about its clock.
#[derive(Debug)]
pub struct Fetched {
    /// Its run file, removed when this is dropped.
    pub run: TempPath,
    /// Kind of the place.
    pub kind: PlaceKind,
    /// How far the place's `CLOCK_REALTIME` is ahead, in ns.
    pub ahead_ns: i64,
    /// True if the distance of its clock was measured alone, and nothing was stated about it.
    pub is_asked: bool,
    /// Settings of its series.
    pub settings: Vec<(String, String)>,
    /// Doubts about each of its series.
    pub doubts: Vec<(EventKind, String)>,
}

/// An end in preparation: it measures once it is told to begin.
pub struct Launched {
    end: AwayEnd,
    answering: Answering,
    lines: Receiver<String>,
    is_prepared: bool,
}

impl Launched {
    /// Starts the job, without waiting for it. It ends at the latest with `stop`.
    ///
    /// # Errors
    /// It could not be started.
    pub fn start(place: &Arc<dyn Place>, job: &Job, session: &Session, stop: &Stop) -> Result<Self, PlaceError> {
        let begun = sys::clock::monotonic();
        let mut away = place.start(job)?;
        let lines = away.lines();
        let answering = Answering::new(place, Arc::new(Mutex::new(away)), session.explainer());
        let end = AwayEnd {
            ahead_ns: place.clock().ok().map(|clock| clock.offset_ns),
            place: Arc::clone(place),
            away: Arc::clone(&answering.away),
            stop: stop.clone(),
            begun,
            is_test_set: false,
            ended: Arc::clone(&answering.ended),
            answers: Mutex::default(),
            asks_time: false,
            asking: Mutex::default(),
            keeps_recording: false,
        };
        Ok(Self {
            end,
            answering,
            lines,
            is_prepared: false,
        })
    }

    /// The same, as the end of the test set.
    #[must_use]
    pub fn of_test_set(mut self) -> Self {
        self.end.is_test_set = true;
        self
    }

    /// The same, with its recording kept in the run here.
    #[must_use]
    pub fn with_recording(mut self) -> Self {
        self.end.keeps_recording = true;
        self
    }

    /// The same, asked for its time all through the step: its clock is the only one that differs from that of the test set.
    #[must_use]
    pub fn asked_for_its_time(mut self) -> Self {
        self.end.asks_time = true;
        self
    }

    /// Waits until it is prepared.
    ///
    /// # Errors
    /// It ended before that, or takes too long.
    pub fn until_prepared(&mut self) -> Result<(), PlaceError> {
        if !self.is_prepared {
            self.until(&FromPlace::Prepared)?;
            self.is_prepared = true;
        }
        Ok(())
    }

    /// Lets it begin, and waits until it measures, sends or receives. From then on its questions are answered.
    ///
    /// # Errors
    /// It ended before that.
    pub fn begin(mut self) -> Result<AwayEnd, PlaceError> {
        self.end.away().say(&written(&ToPlace::Begin))?;
        self.until(&FromPlace::Ready)?;
        let Self {
            mut end,
            answering,
            lines,
            ..
        } = self;
        end.answers = Mutex::new(Some(std::thread::spawn(move || answering.answer_all(&lines))));
        if end.asks_time {
            end.asking = Mutex::new(Asking::start(&end.place));
        }
        Ok(end)
    }

    fn until(&mut self, wanted: &FromPlace) -> Result<(), PlaceError> {
        let begun = Instant::now();
        loop {
            let left = READY_PATIENCE.saturating_sub(begun.elapsed());
            match self.lines.recv_timeout(left) {
                Ok(line) => match read(&line) {
                    Some(said) if said == *wanted => return Ok(()),
                    Some(said) => self.answering.answer(&said),
                    None => return Err(self.end.failed(&format!("sent an unknown message: \"{line}\""))),
                },
                Err(RecvTimeoutError::Timeout) => {
                    return Err(PlaceError::Lost {
                        place: self.end.place.kind().name(),
                        said: format!("not ready after {} s", READY_PATIENCE.as_secs()),
                    });
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.end.ended_early()),
            }
        }
    }
}

impl AwayEnd {
    fn away(&self) -> MutexGuard<'_, Box<dyn Away>> {
        lock(&self.away)
    }

    /// True if it has ended its measurement, which it says before it closes its run, or has ended altogether.
    pub fn is_finished(&self) -> bool {
        if self.stop.requested() {
            self.stop();
        }
        self.ended.get().is_some() || self.away().is_finished()
    }

    /// Sends it the instant `at` at which the sender ended. A place that does not get this takes the silence afterwards for a loss,
    /// which is on the safe side.
    pub fn tell_end(&self, at: Monotonic) {
        let now = sys::clock::pair();
        let here_ns = now.realtime.as_ns() - (now.monotonic - at);
        if let Ok(clock) = self.place.clock() {
            let _ = self
                .away()
                .say(&written(&ToPlace::SenderEnded(here_ns + clock.offset_ns)));
        }
    }

    /// When it ended its measurement, as far as it has said so: the earliest instant that the two clocks' uncertainty permits, because no frame
    /// is due later.
    pub fn ended_at(&self) -> Option<Monotonic> {
        let there_ns = *self.ended.get()?;
        let clock = self.place.clock().ok()?;
        let now = sys::clock::pair();
        let uncertain_ns = i64::try_from(clock.uncertainty_ns).unwrap_or(i64::MAX);
        let ago_ns = now.realtime.as_ns() - (there_ns - clock.offset_ns);
        Some(now.monotonic - ago_ns.saturating_add(uncertain_ns))
    }

    /// Requests its end.
    pub fn stop(&self) {
        self.away().stop();
    }

    /// Waits for its end, and merges its run into the session's.
    ///
    /// # Errors
    /// It failed, or its run cannot be read.
    pub fn finish(&self, session: &Session) -> Result<Fetched, SessionError> {
        let left = self.away().finish()?;
        // It has sent everything; nothing keeps the place for it any longer.
        if let Some(answers) = lock(&self.answers).take() {
            let _ = answers.join();
        }
        if left.status != 0 {
            return Err(self.failed(&left.said).into());
        }
        let told = match self.place.kind() {
            PlaceKind::Far => RunFile::open(&left.run)?.events()?,
            _ => Vec::new(),
        };
        let (ahead_ns, drifted) = self.ahead_ns()?;
        let doubts: Vec<_> = self.place.doubts().into_iter().chain(drifted).collect();
        let events = session.recorder.events();
        let of_here = emulated(&told).chain(of_device(&doubts, self.is_test_set));
        of_here.for_each(|(kind, text)| events.write_since(self.begun, kind, text));
        let fetched = Fetched {
            run: left.run,
            kind: self.place.kind(),
            ahead_ns,
            is_asked: self.place.stated_clock().is_none(),
            settings: self.settings(&told),
            doubts,
        };
        session.recorder.adopt(Adopted {
            file: fetched.run.to_path_buf(),
            place: fetched.kind.name().to_owned(),
            ahead_ns,
            publishes: self.is_test_set,
            settings: fetched.settings.clone(),
            doubts: fetched.doubts.clone(),
            with_recording: self.keeps_recording,
        })?;
        Ok(fetched)
    }

    /// Settings of its series.
    fn settings(&self, told: &[Event]) -> Vec<(String, String)> {
        let mut settings = vec![(setting::PLACE.to_owned(), self.place.describe().to_owned())];
        if self.place.kind() == PlaceKind::Far {
            settings.push((setting::CLOCK_THERE.to_owned(), clock_there(told).to_owned()));
        }
        if let Some(asking) = lock(&self.asking).take() {
            let apart_ns = asking.end();
            let apart = apart_ns.map_or_else(|| setting::NOT_STATED.to_owned(), |ns| ns.to_string());
            settings.push((setting::CLOCK_APART_NS.to_owned(), apart));
        }
        settings
    }

    /// How far its `CLOCK_REALTIME` is ahead, in ns. A place that is too busy to answer keeps the offset of its start: its measurement is not lost,
    /// but nobody knows whether its clock kept that offset.
    fn ahead_ns(&self) -> Result<(i64, Option<(EventKind, String)>), PlaceError> {
        match (self.place.clock(), self.ahead_ns) {
            (Ok(clock), _) => Ok((clock.offset_ns, None)),
            (Err(error), Some(ahead_ns)) => {
                let text = format!(
                    "its clock was read at the start only, because the place did not answer at the end: {error}"
                );
                Ok((ahead_ns, Some((EventKind::ClockDoubt, text))))
            }
            (Err(error), None) => Err(error),
        }
    }

    fn ended_early(&self) -> PlaceError {
        match self.away().finish() {
            Ok(left) => self.failed(&left.said),
            Err(error) => error,
        }
    }

    fn failed(&self, said: &str) -> PlaceError {
        PlaceError::Failed {
            place: self.place.kind().name(),
            said: said.trim().to_owned(),
        }
    }
}

/// Events of an emulated guest on the far machine: it delays the end here, too, so its figures are no evidence either.
fn emulated(told: &[Event]) -> impl Iterator<Item = (EventKind, String)> {
    let emulated = told.iter().filter(|event| event.kind == EventKind::Emulated);
    emulated.map(|event| (event.kind, format!("far machine: {}", event.text)))
}

/// The setting that tells if the far machine's own watch said anything about its clock.
fn clock_there(told: &[Event]) -> &'static str {
    let is_watched = |event: &Event| event.series.is_none() && event.is_clock_word();
    match told.iter().any(is_watched) {
        true => setting::WATCHED,
        false => setting::NOT_WATCHED,
    }
}

/// Doubts about the test set's clock, at which the ages and arrivals of the device begin.
fn of_device(doubts: &[(EventKind, String)], is_test_set: bool) -> impl Iterator<Item = (EventKind, String)> {
    let is_of_clock = move |(kind, _): &&(EventKind, String)| is_test_set && *kind == EventKind::ClockDoubt;
    let of_clock = doubts.iter().filter(is_of_clock);
    of_clock.map(|(kind, text)| (*kind, format!("the publisher's machine: {text}")))
}

#[cfg(test)]
mod tests {
    use super::{emulated, of_device};
    use model::{Event, EventKind};

    #[test]
    fn the_clock_of_a_test_set_is_a_doubt_of_the_device_and_no_other_clock_is() {
        let doubts = [
            (EventKind::ClockDoubt, "3 ms apart".to_owned()),
            (EventKind::Incomplete, "cut".to_owned()),
        ];
        let told: Vec<_> = of_device(&doubts, true).collect();
        assert_eq!(
            told,
            [(EventKind::ClockDoubt, "the publisher's machine: 3 ms apart".to_owned())]
        );
        assert_eq!(of_device(&doubts, false).count(), 0);
    }

    #[test]
    fn an_emulated_guest_of_the_far_machine_is_told_here() {
        let event = |kind: EventKind| Event {
            at_ns: 1,
            since_ns: None,
            kind,
            series: None,
            text: "emulated".to_owned(),
        };
        let told: Vec<_> = emulated(&[event(EventKind::Note), event(EventKind::Emulated)]).collect();
        assert_eq!(told, [(EventKind::Emulated, "far machine: emulated".to_owned())]);
    }
}
