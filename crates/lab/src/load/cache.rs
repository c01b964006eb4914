//! Threads that walk through a buffer of about a cache's size in an order no prefetcher foresees, and write as they go: what
//! the other users of that cache had in it is driven out.

use std::hint::black_box;

use units::CpuList;

use super::LoadError;
use super::workers::{Turn, Workers, in_turn};

/// Octets of a cache line on every machine this is for.
const LINE: usize = 64;

/// Steps between two looks at whether to stop: some 100 us of work.
const STEPS: u64 = 10_000;

pub(super) fn start(bytes: u64, threads: usize, cpus: &CpuList) -> Result<Workers, LoadError> {
    if threads == 0 {
        return Err(LoadError::Nothing {
            what: "the number of threads",
        });
    }
    let no_memory = || LoadError::NoMemory { bytes };
    let lines = usize::try_from(bytes).map_err(|_| no_memory())? / LINE;
    if lines < 2 {
        return Err(LoadError::Nothing {
            what: "the buffer size (less than two cache lines of 64 octets)",
        });
    }
    let mut workers = Workers::new("cache load");
    for cpu in in_turn(cpus).take(threads) {
        let mut walk: Vec<[u64; LINE / 8]> = Vec::new();
        walk.try_reserve_exact(lines).map_err(|_| no_memory())?;
        workers.spawn(cpu, move |turn| {
            lay_out(&mut walk, lines);
            go(&mut walk, turn);
            Ok(())
        })?;
    }
    Ok(workers)
}

/// Makes each line name the next one, so that all lie on one circle (Sattolo's shuffle).
fn lay_out(walk: &mut Vec<[u64; LINE / 8]>, lines: usize) {
    walk.resize(lines, [0; LINE / 8]);
    let mut order: Vec<usize> = (0..lines).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for last in (1..lines).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        order.swap(last, (state % last as u64) as usize);
    }
    for (from, to) in order.iter().zip(order.iter().cycle().skip(1)) {
        walk[*from][0] = *to as u64;
    }
}

fn go(walk: &mut [[u64; LINE / 8]], turn: &Turn) {
    let mut line = 0;
    while turn.goes_on() {
        for _ in 0..STEPS {
            let next = walk[line][0] as usize;
            walk[line][1] = walk[line][1].wrapping_add(1);
            line = next;
        }
        black_box(&mut *walk);
        turn.did(STEPS);
    }
}

#[cfg(test)]
mod tests {
    use super::lay_out;

    #[test]
    fn the_walk_comes_by_every_line_once() {
        let mut walk = Vec::new();
        lay_out(&mut walk, 1_000);
        let mut seen = vec![false; 1_000];
        let mut line = 0;
        for _ in 0..1_000 {
            assert!(!std::mem::replace(&mut seen[line], true), "line {line} twice");
            line = walk[line][0] as usize;
        }
        assert_eq!(line, 0);
    }
}
