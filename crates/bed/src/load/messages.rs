//! Threads that send small messages to each other, as in hackbench (rt-tests): system calls, wake-ups, context switches.

use std::io::{self, ErrorKind, PipeWriter, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use super::error::{AmountError, LoadError};
use super::kind::check_bytes;
use super::request::LoadRequestError;
use super::settings::{Settings, word_of};
use super::workers::{Turn, Workers};
use units::{Refusal, refusal};

/// Carriers of the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Over {
    /// Pairs of UNIX stream sockets, hackbench's default.
    #[default]
    Sockets,
    /// Pipes, as `hackbench --pipe`.
    Pipes,
}

const OVER: [(&str, Over); 2] = [("sockets", Over::Sockets), ("pipes", Over::Pipes)];
/// Default size of a message in bytes, as in hackbench.
pub(super) const BYTES: usize = 100;
/// Longest message in bytes: each thread has a buffer of this size.
const MOST_BYTES: u64 = 1 << 20;

impl Over {
    pub(super) fn read(settings: &mut Settings) -> Result<Self, LoadRequestError> {
        Ok(settings.word("over", &OVER)?.unwrap_or_default())
    }

    pub(super) fn word(self) -> &'static str {
        word_of(&OVER, &self)
    }
}

/// The size of a message.
pub(super) fn read_bytes(settings: &mut Settings) -> Result<usize, LoadRequestError> {
    let bytes = settings.bytes("bytes")?;
    Ok(bytes.map_or(BYTES, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX)))
}

/// Refuses an empty or too long message.
pub(super) fn check_message(load: &'static str, bytes: usize) -> Result<(), AmountError> {
    check_bytes(load, "bytes", bytes as u64, 1..=MOST_BYTES)
}

/// Makes `fds` receivers with a channel each, and as many senders that write to all of them, on the next of `cpus`.
pub(super) fn group(
    workers: &mut Workers,
    fds: usize,
    (bytes, over): (usize, Over),
    cpus: impl Iterator<Item = u32>,
) -> Result<(), LoadError> {
    let mut cpus = cpus.take(2 * fds);
    let mut ends = Vec::new();
    for cpu in cpus.by_ref().take(fds) {
        let (sending, mut receiving) = channel(over).map_err(|error| no_channel(workers.title(), &error))?;
        ends.push(sending);
        workers.spawn(cpu, move |turn| receive(&mut *receiving, bytes, turn))?;
    }
    // The last sender to end closes them, which ends the receivers.
    let ends: Arc<[SendingEnd]> = ends.into();
    for cpu in cpus {
        let ends = Arc::clone(&ends);
        workers.spawn(cpu, move |turn| send(&ends, bytes, turn))?;
    }
    Ok(())
}

/// The sending side of a channel; several threads may write to it.
enum SendingEnd {
    Socket(UnixStream),
    Pipe(PipeWriter),
}

impl SendingEnd {
    fn send(&self, message: &[u8]) -> io::Result<()> {
        match self {
            Self::Socket(socket) => (&*socket).write_all(message),
            Self::Pipe(pipe) => (&*pipe).write_all(message),
        }
    }
}

/// A channel: its sending and its receiving side.
fn channel(over: Over) -> io::Result<(SendingEnd, Box<dyn Read + Send>)> {
    match over {
        Over::Sockets => {
            let (sending, receiving) = UnixStream::pair()?;
            Ok((SendingEnd::Socket(sending), Box::new(receiving)))
        }
        Over::Pipes => {
            let (receiving, sending) = io::pipe()?;
            Ok((SendingEnd::Pipe(sending), Box::new(receiving)))
        }
    }
}

fn no_channel(load: String, error: &io::Error) -> LoadError {
    let remedy = match error.raw_os_error().map(rustix::io::Errno::from_raw_os_error) {
        Some(rustix::io::Errno::MFILE) => ": use fewer, or raise the limit with `ulimit -n`",
        _ => "",
    };
    LoadError::System {
        load,
        operation: "make a pair of sockets or a pipe",
        why: format!("{error}{remedy}"),
    }
}

/// Sends messages to each end in turn. When the load stops, a full channel is unblocked by the end of its receiver.
fn send(ends: &[SendingEnd], bytes: usize, turn: &Turn) -> Result<(), Refusal> {
    let message = vec![0x55; bytes];
    for end in ends.iter().cycle() {
        if !turn.goes_on() {
            break;
        }
        end.send(&message).map_err(|error| refusal!("sending: {error}"))?;
    }
    Ok(())
}

/// Receives and counts messages. When the load stops, an empty channel is unblocked by the end of its senders.
fn receive(end: &mut dyn Read, bytes: usize, turn: &Turn) -> Result<(), Refusal> {
    let mut message = vec![0; bytes];
    while turn.goes_on() {
        match end.read_exact(&mut message) {
            Ok(()) => turn.did(1),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Err("the senders are gone".into()),
            Err(error) => return Err(refusal!("receiving: {error}")),
        }
    }
    Ok(())
}
