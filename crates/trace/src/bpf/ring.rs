//! The rings that the eBPF programs write, one per CPU, read in place without a system call.

use super::layout::{EVENTS_PER_CPU, Event as Slot, Head};
use super::slot::{decode, instant, lap_of};
use crate::error::{TraceError, with_sources};
use crate::event::{Event, What};
use crate::layout::{Layout, words};
use crate::snapshot::Snapshot;
use aya::Ebpf;
use aya::maps::Map;
use std::mem::offset_of;
use std::os::fd::AsFd;
use sys::mapping::Words;
use units::Monotonic;

/// Number of events in a CPU's ring.
const OF_CPU: u64 = EVENTS_PER_CPU as u64;
/// Maximum number of events that are read before an instant, to find the occupant of the CPU at that instant. If no switch is found, a spinning
/// thread may have had the CPU for that long.
const FARTHEST_OPENING: usize = 8_192;

/// Bytes of one CPU's ring.
pub(super) const RING_OCTETS: usize = EVENTS_PER_CPU * Slot::OCTETS;

/// The rings as shared with the programs.
pub(super) struct Rings {
    events: Words,
    heads: Words,
    cpus: u32,
}

impl Rings {
    /// Maps the rings of this many CPUs.
    pub(super) fn new(ebpf: &Ebpf, cpus: u32) -> Result<Self, TraceError> {
        let of_all = |words: usize| words * cpus as usize;
        Ok(Self {
            events: mapped(ebpf, "rings", of_all(EVENTS_PER_CPU * words::<Slot>()))?,
            heads: mapped(ebpf, "heads", of_all(words::<Head>()))?,
            cpus,
        })
    }

    /// Number of events written so far on all CPUs.
    pub(super) fn written(&self) -> Result<u64, TraceError> {
        (0..self.cpus).map(|cpu| self.head(cpu)).sum()
    }

    /// The events of a CPU between two instants. `started` is the start of the recorder; older events do not count.
    ///
    /// Goes back from the newest until it has the requested events and the switch before them, which shows the occupant of the CPU
    /// at `from`. The programs continue to write meanwhile: slots that they may have reused are left out. The events are put into
    /// `room`, which is emptied first.
    pub(super) fn snapshot(
        &self,
        cpu: u32,
        (from, to): (Monotonic, Monotonic),
        started: Monotonic,
        room: Vec<Event>,
    ) -> Result<Snapshot, TraceError> {
        let newest = self.head(cpu)?;
        let oldest = newest.saturating_sub(OF_CPU);
        let mut events = room;
        events.clear();
        let mut reached_start = false;
        let mut before = 0;
        for position in (oldest..newest).rev() {
            // Most are younger than requested: for these only one word is loaded. A slot of an older lap is left out below.
            if self.instant(cpu, position).is_none_or(|at| at > to) {
                continue;
            }
            let Some(slot) = self.slot(cpu, position).filter(|slot| instant(slot) <= Some(to)) else {
                continue;
            };
            // The slot was loaded before the head is: if the head is not too far, the slot was not reused for the next lap.
            if position < self.head(cpu)?.saturating_sub(OF_CPU) {
                break;
            }
            let Some(event) = decode(cpu, &slot) else { continue };
            reached_start = event.at < started;
            if reached_start {
                break;
            }
            let is_switch = matches!(event.what, What::Switch { .. });
            // Of the older events, one is enough to show that the ring reaches back that far.
            if event.at >= from || is_switch || before == 0 {
                events.push(event);
            }
            before += usize::from(event.at < from);
            if before > 0 && (is_switch || before >= FARTHEST_OPENING) {
                break;
            }
        }
        events.reverse();
        put_in_order(&mut events);
        let has_all = self.head(cpu)? <= OF_CPU;
        let whole = (has_all || reached_start) && started <= from;
        Ok(Snapshot::taking(cpu, from, to, events, whole))
    }

    /// The instant in the slot of this position, whatever its lap.
    fn instant(&self, cpu: u32, position: u64) -> Option<Monotonic> {
        let at = self
            .events
            .load(first_word(cpu, position) + offset_of!(Slot, at) / size_of::<u64>())?;
        i64::try_from(at).ok().map(Monotonic::from_ns)
    }

    /// The slot of this position; `None` if it holds an event of another lap: then it is being written.
    fn slot(&self, cpu: u32, position: u64) -> Option<Slot> {
        let first = first_word(cpu, position);
        let load = |octet: usize| self.events.load(first + octet / size_of::<u64>());
        // Written last, and so loaded first: the other words, loaded later, belong to it or to a later lap.
        let word = load(offset_of!(Slot, word))?;
        let name = offset_of!(Slot, name);
        let slot = Slot {
            at: load(offset_of!(Slot, at))?,
            word,
            name: [load(name)?, load(name + size_of::<u64>())?],
        };
        (lap_of(&slot) == (position / OF_CPU) as u8).then_some(slot)
    }

    /// Number of events written so far on a CPU.
    fn head(&self, cpu: u32) -> Result<u64, TraceError> {
        let first = cpu as usize * words::<Head>();
        let written = self.heads.load(first + offset_of!(Head, written) / size_of::<u64>());
        written.ok_or(TraceError::NoSuchCpu { cpu, count: self.cpus })
    }
}

/// Number of the first word of the slot of a position.
fn first_word(cpu: u32, position: u64) -> usize {
    let number = u64::from(cpu) * OF_CPU + position % OF_CPU;
    number as usize * words::<Slot>()
}

/// Sorts events by their instants. They are nearly in order: an interrupt between taking a slot and reading the time exchanges
/// neighbours. Sorts in place; events of the same instant keep their order.
fn put_in_order(events: &mut [Event]) {
    for next in 1..events.len() {
        let mut at = next;
        while at > 0 && events[at - 1].at > events[at].at {
            events.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// Maps the words of an array; the map itself stays with the programs.
fn mapped(ebpf: &Ebpf, name: &str, words: usize) -> Result<Words, TraceError> {
    let Some(Map::Array(array)) = ebpf.map(name) else {
        return Err(TraceError::Object(format!("it has no array {name}")));
    };
    let mapped = Words::of(name, array.fd().as_fd(), words);
    mapped.map_err(|error| TraceError::Object(with_sources(&error)))
}

#[cfg(test)]
mod tests {
    use super::put_in_order;
    use crate::event::{Event, What};
    use units::Monotonic;

    #[test]
    fn neighbours_change_places_and_events_of_an_instant_stay_as_they_are() {
        let event = |(at, what)| Event {
            at: Monotonic::from_ns(at),
            cpu: 0,
            what,
        };
        let (entry, exit) = (What::IdleEntry(1), What::IdleExit);
        let mut events = [(5, exit), (5, entry), (3, exit), (9, entry), (8, exit)].map(event);
        put_in_order(&mut events);
        assert_eq!(
            events,
            [(3, exit), (5, exit), (5, entry), (8, exit), (9, entry)].map(event)
        );
    }
}
