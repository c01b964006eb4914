//! Threads that stream through a buffer larger than the last-level cache.

use std::hint::black_box;

use units::CpuList;

use super::error::{AmountError, LoadError};
use super::kind::{ThreadLoad, buffers, check_bytes, check_count, given, threads_text};
use super::request::LoadRequestError;
use super::settings::{Settings, size_text, word_of};
use super::workers::{Turn, Workers, placed};

/// Threads that repeatedly read, write or copy a whole buffer, to use memory bandwidth.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryLoad {
    /// Bytes of each thread's buffer: it must exceed the last-level cache to reach memory. `None`: twice that cache, at least 64 MiB and at most 1
    /// GiB.
    pub size: Option<u64>,
    /// Access to it.
    pub access: Access,
    /// Number of threads, distributed over the CPUs in turn; `None`: one per CPU.
    pub threads: Option<usize>,
}

/// Ways to access the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Access {
    /// Read it.
    Read,
    /// Write it.
    Write,
    /// Copy one half to the other.
    Copy,
    /// These three in turn, each for a whole pass.
    #[default]
    Mix,
}

const ACCESS: [(&str, Access); 4] = [
    ("read", Access::Read),
    ("write", Access::Write),
    ("copy", Access::Copy),
    ("mix", Access::Mix),
];
/// Words of 8 bytes between two checks of the stop flag: 1 MiB, about 100 us of work.
const PIECE: usize = (1 << 20) / 8;
/// Size if that of the cache cannot be read, and the smallest automatic one.
const LEAST_CHOSEN: u64 = 64 << 20;
const MOST_CHOSEN: u64 = 1 << 30;
/// Two words, so that there are halves.
const LEAST_BYTES: u64 = 16;
/// More than any machine has (4 PiB, the address range of an x86-64 processor).
const MOST_BYTES: u64 = 1 << 52;

impl MemoryLoad {
    pub(super) const NAME: &str = "memory";

    pub(super) fn read(settings: &mut Settings) -> Result<Self, LoadRequestError> {
        Ok(Self {
            size: settings.bytes("size")?,
            access: settings.word("access", &ACCESS)?.unwrap_or_default(),
            threads: settings.count("threads")?,
        })
    }

    fn bytes(&self) -> u64 {
        let chosen = || {
            let cache = host::Host::live().last_level_cache_bytes().unwrap_or(0);
            (2 * cache).clamp(LEAST_CHOSEN, MOST_CHOSEN)
        };
        self.size.unwrap_or_else(chosen)
    }
}

impl ThreadLoad for MemoryLoad {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let access = word_of(&ACCESS, &self.access).to_owned();
        let optional = [given("size", self.size.map(size_text)), given("threads", self.threads)];
        std::iter::once(("access", access))
            .chain(optional.into_iter().flatten())
            .collect()
    }

    fn check(&self) -> Result<(), AmountError> {
        check_count(Self::NAME, "threads", self.threads.unwrap_or(1))?;
        check_bytes(Self::NAME, "size", self.bytes(), LEAST_BYTES..=MOST_BYTES)
    }

    fn describe(&self) -> String {
        let what = match self.access {
            Access::Read => "reading",
            Access::Write => "writing",
            Access::Copy => "copying in",
            Access::Mix => "reading, writing and copying in",
        };
        format!(
            "{}, {what} {} each",
            threads_text(self.threads),
            size_text(self.bytes())
        )
    }

    fn unit(&self) -> &'static str {
        "octets"
    }

    fn start(&self, cpus: &CpuList) -> Result<Workers, LoadError> {
        let places = placed(self.threads, cpus).collect();
        let access = self.access;
        let mut workers = Workers::new(Self::NAME);
        for (cpu, mut buffer) in buffers(Self::NAME, places, self.bytes())? {
            let words = buffer.capacity();
            workers.spawn(cpu, move |turn| {
                if fill(&mut buffer, words, turn) {
                    stream(&mut buffer, access, turn);
                }
                Ok(())
            })?;
        }
        Ok(workers)
    }
}

/// Fills the buffer to its length; returns false if the load was stopped before.
fn fill(buffer: &mut Vec<u64>, words: usize, turn: &Turn) -> bool {
    while buffer.len() < words && turn.goes_on() {
        let piece = PIECE.min(words - buffer.len());
        buffer.resize(buffer.len() + piece, 0);
        turn.did(8 * piece as u64);
    }
    turn.goes_on()
}

/// Repeats passes until the load stops.
fn stream(buffer: &mut [u64], access: Access, turn: &Turn) {
    let laps: &[fn(&mut [u64], &Turn)] = match access {
        Access::Read => &[read],
        Access::Write => &[write],
        Access::Copy => &[copy],
        Access::Mix => &[read, write, copy],
    };
    for lap in laps.iter().cycle() {
        if !turn.goes_on() {
            return;
        }
        lap(buffer, turn);
    }
}

fn read(buffer: &mut [u64], turn: &Turn) {
    for piece in buffer.chunks(PIECE).take_while(|_| turn.goes_on()) {
        black_box(piece.iter().fold(0, |all, word| all ^ word));
        turn.did(8 * piece.len() as u64);
    }
}

fn write(buffer: &mut [u64], turn: &Turn) {
    for piece in buffer.chunks_mut(PIECE).take_while(|_| turn.goes_on()) {
        let value = piece[0].wrapping_add(1);
        piece.fill(value);
        black_box(&mut *piece);
        turn.did(8 * piece.len() as u64);
    }
}

/// Copies. Bytes read and bytes written both count, as in STREAM (McCalpin, "What is this STREAM benchmark?").
fn copy(buffer: &mut [u64], turn: &Turn) {
    let (from, to) = buffer.split_at_mut(buffer.len() / 2);
    let pieces = from.chunks(PIECE).zip(to.chunks_mut(PIECE));
    for (from, to) in pieces.take_while(|_| turn.goes_on()) {
        to[..from.len()].copy_from_slice(from);
        black_box(&mut *to);
        turn.did(2 * 8 * from.len() as u64);
    }
}
