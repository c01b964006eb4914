//! Serves the requests of the host.

use super::super::channel::Outward;
use super::super::frame::{self, Frame, FrameError, FrameKind};
use super::super::message::{GREETING, Greeting, GuestAnswer, MessageError, Request, pack, unpack};
use super::command::Command;
use super::console::say;
use crate::Files;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Parent of the commands' folders, which are named by number.
const HOME: &str = "/run/triptime";

/// Interval between checks for a connected host.
const LOOK: Duration = Duration::from_millis(20);

/// Largest number of commands at a time: a plan uses one, or one for each step side by side.
const MOST: usize = 16;

/// State for answering the requests of a channel.
pub(crate) struct Served<Admit> {
    /// Description of this end.
    pub(crate) greeting: Greeting,
    /// Parent of the commands' folders, which are named by number.
    pub(crate) home: PathBuf,
    /// Decides about a command by its words and files: returns the files for the command, or the reason of a refusal.
    pub(crate) admit: Admit,
}

/// Greets the host, and serves it until it asks to power off. With `stays` this repeats for each client; a command ends when its client has gone.
///
/// # Errors
/// The channel is broken, and `stays` is false.
pub(super) fn serve(port: &File, greeting: &Greeting, stays: bool) -> Result<(), String> {
    loop {
        if stays {
            until_somebody(port).map_err(|error| error.to_string())?;
        }
        let from = port.try_clone().map_err(|error| error.to_string())?;
        let to_host = port.try_clone().map_err(|error| error.to_string())?;
        let served = Served {
            greeting: greeting.clone(),
            home: PathBuf::from(HOME),
            // All commands are permitted, because the host made this guest.
            admit: |_: &[String], files: Files| Ok(files),
        };
        match attend(from, Box::new(to_host), served) {
            Err(_) if stays => std::thread::sleep(LOOK),
            served => return served.map_err(|error| format!("the channel to the host: {error}")),
        }
    }
}

/// Waits until a process has opened the other end of a virtio port.
fn until_somebody(port: &File) -> std::io::Result<()> {
    loop {
        let mut fds = [PollFd::new(port, PollFlags::OUT)];
        poll(&mut fds, Some(&Timespec::default()))?;
        if !fds[0].revents().contains(PollFlags::HUP) {
            return Ok(());
        }
        std::thread::sleep(LOOK);
    }
}

/// Greets the other end, and serves it until it asks to power off. Running commands then end.
///
/// # Errors
/// The channel is broken, or closed.
pub(crate) fn attend<Admit>(
    mut from: impl Read,
    to: Box<dyn Outward>,
    served: Served<Admit>,
) -> Result<(), MessageError>
where
    Admit: Fn(&[String], Files) -> Result<Files, String>,
{
    let to_host = ToHost(Arc::new(Mutex::new(to)));
    to_host.send(GREETING, &GuestAnswer::Up(served.greeting))?;
    let mut server = Server {
        to_host,
        commands: HashMap::new(),
        home: served.home,
        admit: served.admit,
    };
    loop {
        let frame = frame::read(&mut from)?;
        let received_ns = sys::clock::realtime().as_ns();
        match unpack(&frame)? {
            Request::PowerOff => return Ok(()),
            request => server.answer(frame.call, request, received_ns)?,
        }
    }
}

/// The writer to the host; commands send their output on separate threads.
#[derive(Clone)]
struct ToHost(Arc<Mutex<Box<dyn Outward>>>);

impl ToHost {
    fn send(&self, call: u32, answer: &GuestAnswer) -> Result<(), MessageError> {
        Ok(self.frame(&pack(call, answer)?)?)
    }

    fn frame(&self, frame: &Frame) -> Result<(), FrameError> {
        let mut port = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        frame::write(&mut *port, frame)
    }
}

struct Server<Admit> {
    to_host: ToHost,
    commands: HashMap<u32, Command>,
    home: PathBuf,
    admit: Admit,
}

impl<Admit> Server<Admit>
where
    Admit: Fn(&[String], Files) -> Result<Files, String>,
{
    fn answer(&mut self, call: u32, request: Request, received_ns: i64) -> Result<(), MessageError> {
        let done = match request {
            Request::Clock => {
                let sent_ns = sys::clock::realtime().as_ns();
                return self.to_host.send(call, &GuestAnswer::Clock { received_ns, sent_ns });
            }
            Request::Start { words, files } => self.start(call, &words, files),
            Request::Fetch { from } => return self.fetch(call, from),
            Request::Say { line } => self.with(call, |command| command.say(&line).map_err(|error| error.to_string())),
            Request::Stop => self.with(call, |command| {
                command.stop();
                Ok(())
            }),
            Request::Forget => {
                self.commands.remove(&call);
                Ok(())
            }
            Request::PowerOff => Ok(()),
        };
        match done {
            Ok(()) => Ok(()),
            Err(why) => self.to_host.send(call, &GuestAnswer::Refused { why }),
        }
    }

    fn start(&mut self, call: u32, words: &[String], files: Files) -> Result<(), String> {
        let files = (self.admit)(words, files)?;
        if self.commands.len() >= MOST {
            return Err(format!("{MOST} commands are under way, which is the maximum"));
        }
        if self.commands.contains_key(&call) {
            return Err(format!("there is a command number {call} already"));
        }
        let to_host = self.to_host.clone();
        let tell = move |answer| {
            if let Err(error) = to_host.send(call, &answer) {
                say(&format!("the channel to the host: {error}"));
            }
        };
        let command = Command::start(self.folder(call), words, &files, tell)?;
        self.commands.insert(call, command);
        self.to_host
            .send(call, &GuestAnswer::Started)
            .map_err(|error| error.to_string())
    }

    fn fetch(&self, call: u32, from: u64) -> Result<(), MessageError> {
        let piece = match self.commands.get(&call) {
            Some(command) => command.piece(from).map_err(|error| format!("its run file: {error}")),
            None => Err(no_command(call)),
        };
        match piece {
            Ok(payload) => Ok(self.to_host.frame(&Frame {
                kind: FrameKind::Octets,
                call,
                payload,
            })?),
            Err(why) => self.to_host.send(call, &GuestAnswer::Refused { why }),
        }
    }

    fn with(&mut self, call: u32, work: impl FnOnce(&mut Command) -> Result<(), String>) -> Result<(), String> {
        match self.commands.get_mut(&call) {
            Some(command) => work(command),
            None => Err(no_command(call)),
        }
    }

    fn folder(&self, call: u32) -> PathBuf {
        Path::new(&self.home).join(call.to_string())
    }
}

fn no_command(call: u32) -> String {
    format!("there is no command number {call}")
}
