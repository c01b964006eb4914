//! Pairs of threads that send each other small messages.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;

use units::CpuList;

use super::LoadError;
use super::workers::{Turn, Workers, in_turn};

const NAME: &str = "scheduler load";

pub(super) fn start(pairs: usize, message_bytes: usize, cpus: &CpuList) -> Result<Workers, LoadError> {
    if pairs == 0 {
        return Err(LoadError::Nothing {
            what: "the number of pairs",
        });
    }
    if message_bytes == 0 {
        return Err(LoadError::Nothing {
            what: "the message size",
        });
    }
    let mut workers = Workers::new(NAME);
    for cpu in in_turn(cpus).take(pairs) {
        let system = |error: std::io::Error| LoadError::System {
            load: NAME.to_owned(),
            operation: "make a pair of sockets",
            why: error.to_string(),
        };
        let (sending, receiving) = UnixStream::pair().map_err(system)?;
        workers.end_with(sending.try_clone().map_err(system)?);
        workers.spawn(cpu, move |turn| receive(receiving, message_bytes, turn))?;
        workers.spawn(cpu, move |turn| send(sending, message_bytes, turn))?;
    }
    Ok(workers)
}

fn send(mut socket: UnixStream, message_bytes: usize, turn: &Turn) -> Result<(), String> {
    let message = vec![0x55; message_bytes];
    while turn.goes_on() {
        if let Err(error) = socket.write_all(&message) {
            return Err(format!("sending: {error}"));
        }
    }
    Ok(())
}

/// Messages are counted where they arrive.
fn receive(mut socket: UnixStream, message_bytes: usize, turn: &Turn) -> Result<(), String> {
    let mut message = vec![0; message_bytes];
    while turn.goes_on() {
        match socket.read_exact(&mut message) {
            Ok(()) => turn.did(1),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Err("the sender is gone".to_owned()),
            Err(error) => return Err(format!("receiving: {error}")),
        }
    }
    Ok(())
}
