//! A command under way in a guest.

use super::channel::{Call, CallError, Incoming};
use super::message::{Answer, Ended, Request};
use super::up::Up;
use super::super::{Away, Job, PlaceError, Returned};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::{NamedTempFile, TempPath};

/// How long the guest may take to start a program: an emulated one that does other things too.
const START_PATIENCE: Duration = Duration::from_secs(60);
/// How long it may be silent before it is asked whether it is still there.
const SILENCE: Duration = Duration::from_secs(30);
/// How long it may take to send a piece of a file.
const PIECE_PATIENCE: Duration = Duration::from_secs(60);

/// A command under way in a guest.
#[derive(Debug)]
pub(super) struct Errand {
    up: Arc<Up>,
    call: Call,
    lines: Vec<String>,
    ended: Option<Ended>,
    /// What the guest would not do.
    refused: Option<String>,
    is_started: bool,
    /// What is wrong with the way there.
    broken: Option<CallError>,
}

impl Errand {
    /// Starts it.
    ///
    /// # Errors
    /// The guest is gone, or cannot start it.
    pub(super) fn start(up: &Arc<Up>, job: &Job) -> Result<Self, PlaceError> {
        let mut errand = Self {
            up: Arc::clone(up),
            call: Call::open(&up.channel),
            lines: Vec::new(),
            ended: None,
            refused: None,
            is_started: false,
            broken: None,
        };
        let request = Request::Start {
            words: job.words.clone(),
            files: job.files.clone(),
        };
        errand.call.send(&request).map_err(|error| up.failed(&error))?;
        while !errand.is_started {
            let incoming = errand.call.receive(START_PATIENCE).map_err(|error| up.failed(&error))?;
            errand.take(incoming);
            if let Some(why) = errand.refused.take() {
                return Err(up.refused(&why));
            }
        }
        Ok(errand)
    }

    fn take(&mut self, incoming: Incoming) {
        let Incoming::Answer { answer, .. } = incoming else {
            return;
        };
        match answer {
            Answer::Started => self.is_started = true,
            Answer::Line { text } => self.lines.push(text),
            Answer::Ended(ended) => self.ended = Some(ended),
            Answer::Refused { why } => self.refused = Some(why),
            Answer::Up(_) | Answer::Clock { .. } => {}
        }
    }

    /// Takes all that has come.
    fn look(&mut self) {
        while self.broken.is_none() {
            match self.call.receive(Duration::ZERO) {
                Ok(incoming) => self.take(incoming),
                Err(CallError::Silence(_)) => return,
                Err(error) => self.broken = Some(error),
            }
        }
    }

    /// Waits for its end.
    fn end(&mut self) -> Result<Ended, PlaceError> {
        loop {
            self.look();
            if let Some(ended) = self.ended.take() {
                return Ok(ended);
            }
            if let Some(error) = &self.broken {
                return Err(self.up.failed(error));
            }
            match self.call.receive(SILENCE) {
                Ok(incoming) => self.take(incoming),
                // A measurement may be silent for days; a guest that hangs is silent for good.
                Err(CallError::Silence(_)) => {
                    self.up.clock()?;
                }
                Err(error) => return Err(self.up.failed(&error)),
            }
        }
    }

    /// Has the run file here.
    fn fetch(&self, octets: u64) -> Result<TempPath, PlaceError> {
        let (file, path) = NamedTempFile::with_prefix("triptime-guest-")
            .map_err(|error| io(std::env::temp_dir(), error))?
            .into_parts();
        self.fill(file, octets, &path)?;
        Ok(path)
    }

    fn fill(&self, mut file: File, octets: u64, path: &TempPath) -> Result<(), PlaceError> {
        let mut from = 0;
        while from < octets {
            self.call
                .send(&Request::Fetch { from })
                .map_err(|error| self.up.failed(&error))?;
            let piece = self.piece()?;
            file.write_all(&piece).map_err(|error| io(path.to_path_buf(), error))?;
            from += piece.len() as u64;
            if piece.is_empty() {
                return Err(self.up.refused(&format!("its run file ended after {from} of {octets} octets")));
            }
        }
        Ok(())
    }

    fn piece(&self) -> Result<Vec<u8>, PlaceError> {
        loop {
            match self.call.receive(PIECE_PATIENCE) {
                Ok(Incoming::Octets(octets)) => return Ok(octets),
                Ok(Incoming::Answer {
                    answer: Answer::Refused { why },
                    ..
                }) => return Err(self.up.refused(&why)),
                Ok(Incoming::Answer { .. }) => {}
                Err(error) => return Err(self.up.failed(&error)),
            }
        }
    }
}

impl Away for Errand {
    fn heard(&mut self) -> Result<Vec<String>, PlaceError> {
        self.look();
        match (&self.broken, &self.ended) {
            (Some(error), None) => Err(self.up.failed(error)),
            _ => Ok(std::mem::take(&mut self.lines)),
        }
    }

    fn say(&mut self, line: &str) -> Result<(), PlaceError> {
        let request = Request::Say { line: line.to_owned() };
        self.call.send(&request).map_err(|error| self.up.failed(&error))
    }

    fn is_finished(&mut self) -> bool {
        self.look();
        self.ended.is_some() || self.broken.is_some()
    }

    fn stop(&mut self) {
        // What is wrong with the way there is told at the end.
        let _ = self.call.send(&Request::Stop);
    }

    fn finish(mut self: Box<Self>) -> Result<Returned, PlaceError> {
        let Ended { status, said, octets } = self.end()?;
        let Some(octets) = octets else {
            let why = match said.trim() {
                "" => format!("the command ended with status {status}, and left no run file"),
                said => said.to_owned(),
            };
            return Err(self.up.refused(&why));
        };
        let run = self.fetch(octets)?;
        Ok(Returned { run, status, said })
    }
}

impl Drop for Errand {
    fn drop(&mut self) {
        // Ends it, too.
        let _ = self.call.send(&Request::Forget);
    }
}

fn io(path: PathBuf, error: std::io::Error) -> PlaceError {
    PlaceError::Io { path, error }
}
