//! The rings that the eBPF programs write, one per CPU.

use super::layout::{CHUNKS_PER_CPU, Chunk, EVENTS_PER_CHUNK, Event as Slot, Head};
use super::slot::{decode, instant, lap_of};
use crate::error::{TraceError, with_sources};
use crate::event::{Event, What};
use crate::layout::{Layout, words};
use crate::snapshot::Snapshot;
use aya::maps::{Array, MapData, MapError};
use units::Monotonic;
use zerocopy::{transmute, transmute_ref};

/// Events in a chunk, by position.
const OF_CHUNK: u64 = EVENTS_PER_CHUNK as u64;
/// Events in a CPU's ring.
const OF_CPU: u64 = OF_CHUNK * CHUNKS_PER_CPU as u64;
/// Events that are looked at before an instant to find out who had the CPU then. A thread that spins has it for as long as no switch
/// is found, and reading the whole ring for each question takes milliseconds.
const FARTHEST_OPENING: usize = 8_192;

/// Octets of one CPU's ring.
pub(super) const RING_OCTETS: usize = CHUNKS_PER_CPU * Chunk::OCTETS;

/// The rings as the programs share them with us.
pub(super) struct Rings {
    chunks: Array<MapData, [u64; words::<Chunk>()]>,
    heads: Array<MapData, [u64; words::<Head>()]>,
    cpus: u32,
}

impl Rings {
    pub(super) fn new(chunks: aya::maps::Map, heads: aya::maps::Map) -> Result<Self, MapError> {
        let heads: Array<MapData, [u64; words::<Head>()]> = heads.try_into()?;
        Ok(Self {
            chunks: chunks.try_into()?,
            cpus: heads.len(),
            heads,
        })
    }

    /// Events written so far on all CPUs.
    pub(super) fn written(&self) -> Result<u64, TraceError> {
        (0..self.cpus).map(|cpu| self.head(cpu)).sum()
    }

    /// The events of a CPU between two instants; `started`: when the recorder began, and what is older does not count.
    ///
    /// Goes back from the newest until it has what was asked for and the switch before it, which tells who had the CPU at
    /// `from`. The programs go on writing meanwhile: a slot that they may have taken again is left out.
    pub(super) fn snapshot(
        &self,
        cpu: u32,
        from: Monotonic,
        to: Monotonic,
        started: Monotonic,
    ) -> Result<Snapshot, TraceError> {
        if cpu >= self.cpus {
            return Err(TraceError::NoSuchCpu { cpu, count: self.cpus });
        }
        let newest = self.head(cpu)?;
        let oldest = newest.saturating_sub(OF_CPU);
        let mut kept: Vec<(u64, Event)> = Vec::new();
        let mut reached_start = false;
        let mut before = 0;
        let mut end = newest;
        'back: while end > oldest {
            let begin = (end - 1) / OF_CHUNK * OF_CHUNK;
            let words = self.chunk(cpu, begin)?;
            let chunk: &Chunk = transmute_ref!(&words);
            for position in (begin.max(oldest)..end).rev() {
                let Some(slot) = slot(chunk, position).filter(|slot| instant(slot) <= Some(to)) else {
                    continue;
                };
                let Some(event) = decode(cpu, slot) else { continue };
                reached_start = event.at < started;
                if reached_start {
                    break 'back;
                }
                kept.push((position, event));
                before += usize::from(event.at < from);
                if before > 0 && (matches!(event.what, What::Switch { .. }) || before >= FARTHEST_OPENING) {
                    break 'back;
                }
            }
            end = begin;
        }
        let safe_from = self.head(cpu)?.saturating_sub(OF_CPU);
        let safe = kept.into_iter().filter(|(position, _)| *position >= safe_from);
        let mut events: Vec<Event> = safe.map(|(_, event)| event).collect();
        events.sort_by_key(|event| event.at);
        let whole = (safe_from == 0 || reached_start) && started <= from;
        Ok(Snapshot::of(cpu, from, to, &events, whole))
    }

    /// The words of the chunk that begins at this position: a copy of so many octets is enough.
    fn chunk(&self, cpu: u32, begin: u64) -> Result<[u64; words::<Chunk>()], TraceError> {
        let chunks = CHUNKS_PER_CPU as u64;
        let number = u64::from(cpu) * chunks + begin / OF_CHUNK % chunks;
        let index = u32::try_from(number).unwrap_or(u32::MAX);
        self.chunks.get(&index, 0).map_err(|error| failed(cpu, &error))
    }

    fn head(&self, cpu: u32) -> Result<u64, TraceError> {
        let words = self.heads.get(&cpu, 0).map_err(|error| failed(cpu, &error))?;
        let head: Head = transmute!(words);
        Ok(head.written)
    }
}

/// The slot of this position in its chunk; `None` when it holds an event of another lap: it is being written.
fn slot(chunk: &Chunk, position: u64) -> Option<&Slot> {
    let slot = chunk.events.get((position % OF_CHUNK) as usize)?;
    let lap = (position / OF_CPU) as u8;
    (lap_of(slot) == lap).then_some(slot)
}

fn failed(cpu: u32, error: &MapError) -> TraceError {
    TraceError::Read {
        cpu,
        reason: with_sources(error),
    }
}
