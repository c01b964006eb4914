//! Threads that send each other small messages, as hackbench has them.

use std::io::{ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use units::CpuList;

use super::workers::{Turn, Workers, in_turn};
use super::{LoadError, Over};

const NAME: &str = "scheduler load";

/// The two ends of a way for messages. A thread that waits at one end wakes when the other is gone.
struct Way {
    sending: Box<dyn Write + Send>,
    receiving: Box<dyn Read + Send>,
}

impl Way {
    fn new(over: Over, workers: &mut Workers) -> Result<Self, LoadError> {
        match over {
            Over::Sockets => {
                let (sending, receiving) = sockets(workers)?;
                Ok(Self {
                    sending: Box::new(sending),
                    receiving: Box::new(receiving),
                })
            }
            Over::Pipes => {
                let (receiving, sending) = pipe()?;
                Ok(Self {
                    sending: Box::new(sending),
                    receiving: Box::new(receiving),
                })
            }
        }
    }
}

/// Pairs: one thread sends, the other receives; both on the same CPU.
pub(super) fn pairs(pairs: usize, message_bytes: usize, over: Over, cpus: &CpuList) -> Result<Workers, LoadError> {
    check(pairs, "the number of pairs", message_bytes)?;
    let mut workers = Workers::new(NAME);
    for cpu in in_turn(cpus).take(pairs) {
        let way = Way::new(over, &mut workers)?;
        workers.spawn(cpu, move |turn| receive(way.receiving, message_bytes, turn))?;
        workers.spawn(cpu, move |turn| send(way.sending, message_bytes, turn))?;
    }
    Ok(workers)
}

/// Groups: in each, `fds` threads send to each of `fds` receiving threads in turn; they take turns over the CPUs.
pub(super) fn groups(
    groups: usize,
    fds: usize,
    message_bytes: usize,
    over: Over,
    cpus: &CpuList,
) -> Result<Workers, LoadError> {
    check(
        groups.min(fds),
        "the number of groups or of senders in each",
        message_bytes,
    )?;
    let mut workers = Workers::new(NAME);
    let mut cpu = in_turn(cpus);
    for _ in 0..groups {
        match over {
            Over::Sockets => {
                let mut ends = Vec::new();
                for _ in 0..fds {
                    let (sending, receiving) = sockets(&mut workers)?;
                    ends.push(sending);
                    let at = cpu.next().unwrap_or(0);
                    workers.spawn(at, move |turn| receive(Box::new(receiving), message_bytes, turn))?;
                }
                senders(&mut workers, ends, fds, message_bytes, &mut cpu)?;
            }
            Over::Pipes => {
                let mut ends = Vec::new();
                for _ in 0..fds {
                    let (receiving, sending) = pipe()?;
                    ends.push(sending);
                    let at = cpu.next().unwrap_or(0);
                    workers.spawn(at, move |turn| receive(Box::new(receiving), message_bytes, turn))?;
                }
                senders(&mut workers, ends, fds, message_bytes, &mut cpu)?;
            }
        }
    }
    Ok(workers)
}

/// Threads that send to all of `ends` in turn.
fn senders<W>(
    workers: &mut Workers,
    ends: Vec<W>,
    count: usize,
    message_bytes: usize,
    cpu: &mut impl Iterator<Item = u32>,
) -> Result<(), LoadError>
where
    W: Send + Sync + 'static,
    for<'a> &'a W: Write,
{
    let ends = Arc::new(ends);
    for _ in 0..count {
        let ends = Arc::clone(&ends);
        workers.spawn(cpu.next().unwrap_or(0), move |turn| {
            let message = vec![0x55; message_bytes];
            for end in ends.iter().cycle() {
                if !turn.goes_on() {
                    break;
                }
                (&mut &*end)
                    .write_all(&message)
                    .map_err(|error| format!("sending: {error}"))?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn check(count: usize, what: &'static str, message_bytes: usize) -> Result<(), LoadError> {
    match (count, message_bytes) {
        (0, _) => Err(LoadError::Nothing { what }),
        (_, 0) => Err(LoadError::Nothing {
            what: "the message size",
        }),
        _ => Ok(()),
    }
}

fn sockets(workers: &mut Workers) -> Result<(UnixStream, UnixStream), LoadError> {
    let (sending, receiving) = UnixStream::pair().map_err(|error| refused("make a pair of sockets", &error))?;
    workers.end_with(sending.try_clone().map_err(|error| refused("copy a socket", &error))?);
    Ok((sending, receiving))
}

fn pipe() -> Result<(PipeReader, PipeWriter), LoadError> {
    std::io::pipe().map_err(|error| refused("make a pipe", &error))
}

fn refused(operation: &'static str, error: &std::io::Error) -> LoadError {
    LoadError::System {
        load: NAME.to_owned(),
        operation,
        why: error.to_string(),
    }
}

fn send(mut way: Box<dyn Write + Send>, message_bytes: usize, turn: &Turn) -> Result<(), String> {
    let message = vec![0x55; message_bytes];
    while turn.goes_on() {
        if let Err(error) = way.write_all(&message) {
            return Err(format!("sending: {error}"));
        }
    }
    Ok(())
}

/// Messages are counted where they arrive.
fn receive(mut way: Box<dyn Read + Send>, message_bytes: usize, turn: &Turn) -> Result<(), String> {
    let mut message = vec![0; message_bytes];
    while turn.goes_on() {
        match way.read_exact(&mut message) {
            Ok(()) => turn.did(1),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Err("the sender is gone".to_owned()),
            Err(error) => return Err(format!("receiving: {error}")),
        }
    }
    Ok(())
}
