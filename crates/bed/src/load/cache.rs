//! Threads that evict all other data from the caches.

use std::hint::black_box;

use units::CpuList;

use super::error::{AmountError, LoadError};
use super::kind::{ThreadLoad, buffers, check_bytes, check_count, given, threads_text};
use super::request::LoadRequestError;
use super::settings::{Settings, size_text};
use super::workers::{Turn, Workers, placed};

/// Threads that follow a random chain of pointers through a buffer and write to it in large strides: neither pattern can be prefetched, and every
/// access evicts a cache line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CacheLoad {
    /// Bytes of each thread's buffer: about the size of the cache to fill, L2 or L3. `None`: the size of the last-level cache, which also fills the
    /// smaller ones.
    pub size: Option<u64>,
    /// Number of threads, distributed over the CPUs in turn; `None`: one per CPU.
    pub threads: Option<usize>,
}

/// One cache line: 64 bytes on x86-64 and on most Arm processors.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct CacheLine {
    /// The next line of the chain.
    next: u32,
    written: u32,
}

/// Lines between two checks of the stop flag: about 100 us of work.
const PIECE: usize = 4096;
/// Lines from one write to the next: a page of 4 KiB and a line, so that page, set and line all change.
const STRIDE: usize = 65;
/// Size if that of the cache cannot be read.
const USUAL_BYTES: u64 = 8 << 20;
/// Limit that keeps line numbers within 32 bits.
const MOST_BYTES: u64 = 64 << 30;

impl CacheLoad {
    pub(super) const NAME: &str = "cache";

    pub(super) fn read(settings: &mut Settings) -> Result<Self, LoadRequestError> {
        Ok(Self {
            size: settings.bytes("size")?,
            threads: settings.count("threads")?,
        })
    }

    fn bytes(&self) -> u64 {
        let chosen = || host::Host::live().last_level_cache_bytes().unwrap_or(USUAL_BYTES);
        self.size.unwrap_or_else(chosen)
    }
}

impl ThreadLoad for CacheLoad {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let optional = [given("size", self.size.map(size_text)), given("threads", self.threads)];
        optional.into_iter().flatten().collect()
    }

    fn check(&self) -> Result<(), AmountError> {
        check_count(Self::NAME, "threads", self.threads.unwrap_or(1))?;
        check_bytes(Self::NAME, "size", self.bytes(), 4096..=MOST_BYTES)
    }

    fn describe(&self) -> String {
        let threads = threads_text(self.threads);
        format!(
            "{threads}, random reads and strided writes over {} each",
            size_text(self.bytes())
        )
    }

    fn unit(&self) -> &'static str {
        "cache lines"
    }

    fn start(&self, cpus: &CpuList) -> Result<Workers, LoadError> {
        let places = placed(self.threads, cpus).collect();
        let mut workers = Workers::new(Self::NAME);
        for (cpu, mut lines) in buffers(Self::NAME, places, self.bytes())? {
            // The chain has 32-bit links; a larger number of lines was refused before.
            let count = u32::try_from(lines.capacity()).unwrap_or(u32::MAX);
            workers.spawn(cpu, move |turn| {
                chain(&mut lines, count, || turn.goes_on());
                thrash(&mut lines, turn);
                Ok(())
            })?;
        }
        Ok(workers)
    }
}

/// Links `count` lines into one random ring (Sattolo 1986: a shuffle with exactly one cycle), as long as `goes_on` returns true.
fn chain(lines: &mut Vec<CacheLine>, count: u32, goes_on: impl Fn() -> bool) {
    for next in 0..count {
        if next.is_multiple_of(PIECE as u32) && !goes_on() {
            return;
        }
        lines.push(CacheLine { next, written: 0 });
    }
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for last in (1..lines.len()).rev() {
        if last.is_multiple_of(PIECE) && !goes_on() {
            return;
        }
        let other = random.below(last);
        let next = lines[last].next;
        lines[last].next = lines[other].next;
        lines[other].next = next;
    }
}

/// Reads along the chain and writes in strides, alternately, until the load stops.
fn thrash(lines: &mut [CacheLine], turn: &Turn) {
    let (mut at, mut strides) = (0, (0..lines.len()).step_by(STRIDE));
    let mut lap = 0;
    while turn.goes_on() {
        for _ in 0..PIECE {
            at = lines[at].next as usize;
        }
        black_box(at);
        for _ in 0..PIECE {
            let index = strides.next().unwrap_or_else(|| {
                lap = (lap + 1) % STRIDE.min(lines.len());
                strides = (lap..lines.len()).step_by(STRIDE);
                lap
            });
            lines[index].written = lines[index].written.wrapping_add(1);
        }
        black_box(&mut *lines);
        turn.did(2 * PIECE as u64);
    }
}

/// xorshift64 (Marsaglia 2003): the chain only has to be unpredictable for a prefetcher.
struct Random(u64);

impl Random {
    /// A number below `limit`, which is not 0.
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{CacheLine, chain};

    /// The chain of lines from line 0 until it returns to line 0.
    fn ring(lines: &[CacheLine]) -> Vec<usize> {
        let mut ring = vec![0];
        let mut at = lines[0].next as usize;
        while at != 0 {
            ring.push(at);
            at = lines[at].next as usize;
        }
        ring
    }

    #[test]
    fn the_chain_is_one_ring_through_every_line_in_no_order() {
        for count in [1_u32, 2, 3, 4096, 100_003] {
            let mut lines = Vec::new();
            chain(&mut lines, count, || true);
            let ring = ring(&lines);
            assert_eq!(ring.len(), count as usize);
            let neighbours = ring.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) <= 64).count();
            // Of 4096 lines some 3 % lie within a page of the one before.
            assert!(count < 4096 || neighbours < ring.len() / 10, "{neighbours} of {count}");
        }
    }

    #[test]
    fn it_is_left_when_the_load_stops() {
        let mut lines = Vec::new();
        chain(&mut lines, 100_003, || false);
        assert!(lines.is_empty());
    }
}
