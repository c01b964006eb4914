//! A command running at the other end of a channel: in a guest, or on the far machine.

use super::super::{Away, Job, PlaceError, Returned};
use super::channel::{Call, CallError, Incoming, Wait};
use super::message::{Ended, GuestAnswer, Request};
use super::peer::Peer;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use tempfile::{NamedTempFile, TempPath};

/// Silence before the guest is asked whether it still answers. A measurement may be silent for days, but a guest that hangs never answers.
const SILENCE: Duration = Duration::from_secs(30);

/// A command running at the other end.
#[derive(Debug)]
pub(crate) struct Errand {
    up: Arc<dyn Peer>,
    call: Arc<Call>,
    lines: Option<Receiver<String>>,
    heard: Heard,
    is_over: Arc<AtomicBool>,
}

/// Channels on which the listener passes on everything except lines.
#[derive(Debug)]
struct Heard {
    outcome: Receiver<Result<Ended, PlaceError>>,
    pieces: Receiver<Result<Vec<u8>, PlaceError>>,
}

impl Errand {
    /// Starts the command.
    ///
    /// # Errors
    /// The guest is gone, or cannot start it.
    pub(crate) fn start(up: Arc<dyn Peer>, job: &Job) -> Result<Self, PlaceError> {
        let call = Arc::new(Call::open(up.channel()));
        let request = Request::Start {
            words: job.words.clone(),
            files: job.files.clone(),
        };
        call.send(&request).map_err(|error| up.failed(&error))?;
        let ((say, lines), (end, outcome), (give, pieces)) = (channel(), channel(), channel());
        let mut listener = Listener {
            up: Arc::clone(&up),
            call: Arc::clone(&call),
            lines: Some(say),
            outcome: end,
            pieces: give,
            is_over: Arc::default(),
        };
        let this = Self {
            up,
            call,
            lines: Some(lines),
            heard: Heard { outcome, pieces },
            is_over: Arc::clone(&listener.is_over),
        };
        listener.until_started()?;
        let started = std::thread::Builder::new()
            .name("triptime-errand".to_owned())
            .spawn(move || listener.listen());
        started.map_err(|error| io(PathBuf::from("a thread"), error))?;
        Ok(this)
    }

    /// Fetches the run file.
    fn fetch(&self, octets: u64) -> Result<TempPath, PlaceError> {
        let (file, path) = NamedTempFile::with_prefix("triptime-run-")
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
            let piece = self.heard.pieces.recv().unwrap_or_else(|_| Err(self.nobody()))?;
            file.write_all(&piece).map_err(|error| io(path.to_path_buf(), error))?;
            from += piece.len() as u64;
            if piece.is_empty() {
                let why = format!("its run file ended after {from} of {octets} bytes");
                return Err(self.up.refused(&why));
            }
        }
        Ok(())
    }

    fn nobody(&self) -> PlaceError {
        self.up.refused("its output is no longer read")
    }
}

impl Away for Errand {
    fn lines(&mut self) -> Receiver<String> {
        // The second call returns a closed channel.
        self.lines.take().unwrap_or_else(|| channel().1)
    }

    fn say(&mut self, line: &str) -> Result<(), PlaceError> {
        let request = Request::Say { line: line.to_owned() };
        self.call.send(&request).map_err(|error| self.up.failed(&error))
    }

    fn is_finished(&mut self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    fn stop(&mut self) {
        // A broken channel is reported at the end.
        let _ = self.call.send(&Request::Stop);
    }

    fn finish(&mut self) -> Result<Returned, PlaceError> {
        let Ended { status, said, octets } = self.heard.outcome.recv().unwrap_or_else(|_| Err(self.nobody()))?;
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
        // Ends the command if it still runs.
        let _ = self.call.send(&Request::Forget);
        self.call.close();
    }
}

/// Receives the messages of a command, and passes them on.
struct Listener {
    up: Arc<dyn Peer>,
    call: Arc<Call>,
    /// `None` once the command has sent its last line.
    lines: Option<Sender<String>>,
    outcome: Sender<Result<Ended, PlaceError>>,
    pieces: Sender<Result<Vec<u8>, PlaceError>>,
    is_over: Arc<AtomicBool>,
}

impl Listener {
    /// Lines may arrive before the confirmation of the start.
    fn until_started(&mut self) -> Result<(), PlaceError> {
        let wait = Wait::of(self.up.patience());
        loop {
            let incoming = wait.receive(&self.call).map_err(|error| match error {
                CallError::Silence(_) => self.up.failed_at("it did not start the command", &error),
                CallError::Broken(_) => self.up.failed(&error),
            });
            match incoming? {
                Incoming::Answer {
                    answer: GuestAnswer::Started,
                    ..
                } => return Ok(()),
                Incoming::Answer {
                    answer: GuestAnswer::Refused { why },
                    ..
                } => return Err(self.up.refused(&why)),
                other => self.take(other),
            }
        }
    }

    fn listen(mut self) {
        let mut heard = Instant::now();
        loop {
            match self.call.receive(SILENCE) {
                Ok(incoming) => {
                    heard = Instant::now();
                    self.take(incoming);
                }
                Err(CallError::Silence(_)) => {
                    // One deadline from the last sign of life on: the silence until the question counts.
                    let wait = Wait::since(heard, SILENCE + self.up.patience());
                    let answered = self.up.is_there(&wait);
                    heard = Instant::now();
                    if let Err(error) = answered {
                        return self.give_up(&error);
                    }
                }
                Err(error) => return self.give_up(&error),
            }
        }
    }

    // A send error is ignored: the receiver has gone, and needs nothing more.
    fn take(&mut self, incoming: Incoming) {
        let answer = match incoming {
            Incoming::Octets(octets) => {
                let _ = self.pieces.send(Ok(octets));
                return;
            }
            Incoming::Answer { answer, .. } => answer,
        };
        match answer {
            GuestAnswer::Line { text } => {
                let _ = self.lines.as_ref().map(|lines| lines.send(text));
            }
            GuestAnswer::Ended(ended) => {
                let _ = self.outcome.send(Ok(ended));
                self.over();
            }
            // A line sent to a command that has ended is also refused. This refusal belongs to such a line, unless lines are still expected.
            GuestAnswer::Refused { why } if self.lines.is_none() => {
                let _ = self.pieces.send(Err(self.up.refused(&why)));
            }
            GuestAnswer::Refused { .. } | GuestAnswer::Started | GuestAnswer::Up(_) | GuestAnswer::Clock { .. } => {}
        }
    }

    fn over(&mut self) {
        self.lines = None;
        self.is_over.store(true, Ordering::Release);
    }

    fn give_up(mut self, error: &CallError) {
        // Reports no error if the call was closed on purpose.
        if !self.call.is_closed() {
            let _ = self.outcome.send(Err(self.up.failed(error)));
            let _ = self.pieces.send(Err(self.up.failed(error)));
        }
        self.over();
    }
}

fn io(path: PathBuf, error: std::io::Error) -> PlaceError {
    PlaceError::Io { path, error }
}
