//! Threads that sleep for moments: timer interrupts.

use sys::clock::monotonic;
use sys::wait::sleep_until;
use units::{CpuList, Grid};

use super::LoadError;
use super::workers::{Turn, Workers, in_turn};

/// Shorter, and the thread would never sleep.
const LEAST_INTERVAL_NS: u64 = 5_000;

pub(super) fn start(interval_ns: u64, threads: usize, cpus: &CpuList) -> Result<Workers, LoadError> {
    if threads == 0 {
        return Err(LoadError::Nothing {
            what: "the number of threads",
        });
    }
    if interval_ns < LEAST_INTERVAL_NS {
        return Err(LoadError::Nothing {
            what: "the interval between timers (less than 5us)",
        });
    }
    let mut workers = Workers::new("timer load");
    for cpu in in_turn(cpus).take(threads) {
        workers.spawn(cpu, move |turn| {
            expire(interval_ns, turn);
            Ok(())
        })?;
    }
    Ok(workers)
}

/// Counts timers that expired. After a stall it goes on with the next due one.
fn expire(interval_ns: u64, turn: &Turn) {
    let grid = Grid::every_ns(monotonic(), interval_ns);
    let mut number = 1;
    while turn.goes_on() {
        sleep_until(grid.due(number));
        turn.did(1);
        number = grid.first_after(monotonic());
    }
}
