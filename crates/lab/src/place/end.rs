//! The end of a step that is in a place: started, told what it has to know, and its run taken into the run here.

use super::{Away, Job, Place, PlaceError, READY, SENDER_ENDED};
use crate::session::{Session, SessionError};
use run::Adopted;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use units::Monotonic;

/// How long a place may take to get ready: an emulated guest takes seconds to start a program.
const READY_PATIENCE: Duration = Duration::from_secs(120);

const LOOK: Duration = Duration::from_millis(5);

/// One end of a step under way in a place.
pub struct AwayEnd {
    place: Arc<dyn Place>,
    away: Mutex<Box<dyn Away>>,
}

impl AwayEnd {
    /// Starts the job, and waits until it is ready.
    ///
    /// # Errors
    /// It could not be started, or ended before it was ready.
    pub fn start(place: &Arc<dyn Place>, job: &Job) -> Result<Self, PlaceError> {
        let mut away = place.start(job)?;
        let begun = Instant::now();
        while !away.heard()?.iter().any(|line| line == READY) {
            if away.is_finished() {
                let left = away.finish()?;
                return Err(failed(place, &left.said));
            }
            if begun.elapsed() > READY_PATIENCE {
                let why = format!("not ready after {} s", READY_PATIENCE.as_secs());
                return Err(failed(place, &why));
            }
            std::thread::sleep(LOOK);
        }
        Ok(Self {
            place: Arc::clone(place),
            away: Mutex::new(away),
        })
    }

    fn away(&self) -> MutexGuard<'_, Box<dyn Away>> {
        self.away.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it has ended.
    pub fn is_finished(&self) -> bool {
        self.away().is_finished()
    }

    /// Says that the sender ended at `at`. A place that cannot be told takes the silence behind it for a loss, which is on the safe side.
    pub fn tell_end(&self, at: Monotonic) {
        let now = sys::clock::pair();
        let here_ns = now.realtime.as_ns() - (now.monotonic - at);
        let there = self.place.clock().map(|clock| here_ns + clock.offset_ns);
        if let Ok(there) = there {
            let _ = self.away().say(&format!("{SENDER_ENDED}{there}"));
        }
    }

    /// Tells it to end.
    pub fn stop(&self) {
        self.away().stop();
    }

    /// Waits for its end, and takes its run into the session's.
    ///
    /// # Errors
    /// It failed, or its run cannot be read.
    pub fn finish(self, session: &Session) -> Result<(), SessionError> {
        let away = self.away.into_inner().unwrap_or_else(PoisonError::into_inner);
        let left = away.finish()?;
        if left.status != 0 {
            return Err(failed(&self.place, &left.said).into());
        }
        session.recorder.adopt(Adopted {
            file: left.run.to_path_buf(),
            place: self.place.kind().name().to_owned(),
            ahead_ns: self.place.clock()?.offset_ns,
            settings: vec![("place".to_owned(), self.place.describe().to_owned())],
            doubts: self.place.doubts(),
        })?;
        Ok(())
    }
}

fn failed(place: &Arc<dyn Place>, said: &str) -> PlaceError {
    PlaceError::Failed {
        place: place.kind().name(),
        said: said.trim().to_owned(),
    }
}
