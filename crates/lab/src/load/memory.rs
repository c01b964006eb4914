//! Threads that stream through a buffer larger than the last-level cache.

use std::hint::black_box;

use units::CpuList;

use super::LoadError;
use super::workers::{Turn, Workers, in_turn};

/// Octets between two looks at whether to stop: some 100 us of work.
const PIECE: usize = 1 << 20;

pub(super) fn start(bytes_per_thread: u64, threads: usize, cpus: &CpuList) -> Result<Workers, LoadError> {
    if threads == 0 {
        return Err(LoadError::Nothing {
            what: "the number of threads",
        });
    }
    if bytes_per_thread < 2 {
        return Err(LoadError::Nothing {
            what: "the buffer size (less than 2 octets)",
        });
    }
    let no_memory = || LoadError::NoMemory {
        bytes: bytes_per_thread,
    };
    let length = usize::try_from(bytes_per_thread).map_err(|_| no_memory())?;
    let mut workers = Workers::new("memory load");
    for cpu in in_turn(cpus).take(threads) {
        let mut buffer = Vec::new();
        // Only address space yet: the thread touches the pages on its own CPU and so on its own node.
        buffer.try_reserve_exact(length).map_err(|_| no_memory())?;
        workers.spawn(cpu, move |turn| {
            stream(buffer, length, turn);
            Ok(())
        })?;
    }
    Ok(workers)
}

/// Fills the buffer, then for ever copies one half to the other and writes the first anew, piece by piece.
fn stream(mut buffer: Vec<u8>, length: usize, turn: &Turn) {
    while buffer.len() < length {
        if !turn.goes_on() {
            return;
        }
        let piece = PIECE.min(length - buffer.len());
        buffer.resize(buffer.len() + piece, 0);
        turn.did(piece as u64);
    }
    let half = length / 2;
    let mut value = 0_u8;
    loop {
        value = value.wrapping_add(1);
        for start in (0..half).step_by(PIECE) {
            if !turn.goes_on() {
                return;
            }
            let end = half.min(start + PIECE);
            buffer.copy_within(start..end, half + start);
            buffer[start..end].fill(value);
            black_box(&mut buffer);
            turn.did(2 * (end - start) as u64);
        }
    }
}
