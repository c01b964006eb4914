//! Does what the host asks for.

use super::super::frame::{self, Frame, FrameError, Kind};
use super::super::message::{Answer, GREETING, Greeting, MessageError, Request, pack, unpack};
use super::command::Command;
use super::console::say;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Where commands have their folders, each the name of its number.
const HOME: &str = "/run/triptime";

/// Greets the host, and does what it asks for until it asks to power off.
///
/// # Errors
/// The channel is broken.
pub(super) fn serve(port: File, greeting: Greeting) -> Result<(), String> {
    let broken = |error: MessageError| format!("the channel to the host: {error}");
    let to_host = ToHost::new(&port).map_err(|error| error.to_string())?;
    to_host.send(GREETING, &Answer::Up(greeting)).map_err(broken)?;
    let mut server = Server {
        to_host,
        commands: HashMap::new(),
        home: PathBuf::from(HOME),
    };
    let mut port = port;
    loop {
        let frame = frame::read(&mut port).map_err(|error| broken(error.into()))?;
        let received_ns = sys::clock::realtime().as_ns();
        match unpack(&frame).map_err(broken)? {
            Request::PowerOff => return Ok(()),
            request => server.answer(frame.call, request, received_ns).map_err(broken)?,
        }
    }
}

/// The way to the host; commands tell of themselves on threads of their own.
#[derive(Clone)]
struct ToHost(Arc<Mutex<File>>);

impl ToHost {
    fn new(port: &File) -> std::io::Result<Self> {
        Ok(Self(Arc::new(Mutex::new(port.try_clone()?))))
    }

    fn send(&self, call: u32, answer: &Answer) -> Result<(), MessageError> {
        Ok(self.frame(&pack(call, answer)?)?)
    }

    fn frame(&self, frame: &Frame) -> Result<(), FrameError> {
        let mut port = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        frame::write(&mut *port, frame)
    }
}

struct Server {
    to_host: ToHost,
    commands: HashMap<u32, Command>,
    home: PathBuf,
}

impl Server {
    fn answer(&mut self, call: u32, request: Request, received_ns: i64) -> Result<(), MessageError> {
        let done = match request {
            Request::Clock => {
                let sent_ns = sys::clock::realtime().as_ns();
                return self.to_host.send(call, &Answer::Clock { received_ns, sent_ns });
            }
            Request::Start { words, files } => self.start(call, &words, &files),
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
            Err(why) => self.to_host.send(call, &Answer::Refused { why }),
        }
    }

    fn start(&mut self, call: u32, words: &[String], files: &[(String, String)]) -> Result<(), String> {
        let to_host = self.to_host.clone();
        let tell = move |answer| {
            if let Err(error) = to_host.send(call, &answer) {
                say(&format!("the channel to the host: {error}"));
            }
        };
        let command = Command::start(self.folder(call), words, files, tell)?;
        self.commands.insert(call, command);
        self.to_host
            .send(call, &Answer::Started)
            .map_err(|error| error.to_string())
    }

    fn fetch(&self, call: u32, from: u64) -> Result<(), MessageError> {
        let piece = match self.commands.get(&call) {
            Some(command) => command.piece(from).map_err(|error| format!("its run file: {error}")),
            None => Err(no_command(call)),
        };
        match piece {
            Ok(payload) => Ok(self.to_host.frame(&Frame {
                kind: Kind::Octets,
                call,
                payload,
            })?),
            Err(why) => self.to_host.send(call, &Answer::Refused { why }),
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
