//! The engine that runs in the kernel: eBPF programs on BTF tracepoints.

mod check;
mod cost;
mod layout;
mod ring;
mod slot;

use crate::attachment::{ATTACHMENTS, Attachment, Program};
use crate::error::{TraceError, with_sources};
use crate::event::Event;
use crate::snapshot::Snapshot;
use aya::maps::{Array, Map, MapData};
use aya::programs::BtfTracePoint;
use aya::programs::tp_btf::BtfTracePointLinkId;
use aya::{Btf, Ebpf, EbpfError, EbpfLoader};
use layout::{EVENTS_PER_CPU, WATCHED_BITS};
use ring::Rings;
use std::sync::{Mutex, PoisonError};
use units::Monotonic;

pub(crate) use check::{can_run, kernel_release, memory_hint, possible_cpus, program_refused};
pub use check::{can_run_with, types_missing};
pub use cost::Cost;
pub(crate) use cost::{Runs, program_runs, read_runs};

/// `bpf/flight.bpf.c`, built by `bpf/build.sh`.
static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("CARGO_MANIFEST_DIR"), "/bpf/flight.o"));

/// The types of the running kernel, for programs that are attached to them.
///
/// They take some twenty megabytes, and each loader reads its own copy: drop one before reading the next, so that only one is in
/// memory.
pub(crate) fn kernel_types() -> Result<Btf, TraceError> {
    Btf::from_sys_fs().map_err(|error| TraceError::NoBtf(with_sources(&error)))
}

/// Loaded and attached programs; detached when dropped.
pub(crate) struct BpfEngine {
    // Contains the links, too.
    ebpf: Mutex<Ebpf>,
    rings: Rings,
    watched: Mutex<Array<MapData, u64>>,
    programs: Vec<Program>,
    links: Vec<Link>,
    started: Monotonic,
}

/// An attached program.
struct Link {
    program: &'static str,
    id: BtfTracePointLinkId,
}

impl BpfEngine {
    /// Loads and attaches the programs that this kernel supports.
    pub(crate) fn start() -> Result<Self, TraceError> {
        can_run()?;
        let cpus = possible_cpus();
        let megabytes = (cpus as usize * ring::RING_OCTETS) >> 20;
        let mut ebpf = EbpfLoader::new()
            .map_max_entries("rings", cpus * EVENTS_PER_CPU as u32)
            .map_max_entries("heads", cpus)
            .load(OBJECT)
            .map_err(|error| refused(&error, megabytes))?;
        let rings = Rings::new(&ebpf, cpus)?;
        let watched: Array<MapData, u64> = take(&mut ebpf, "watched")?
            .try_into()
            .map_err(|error| TraceError::Object(with_sources(&error)))?;
        let btf = kernel_types()?;
        cost::load(&mut ebpf, &btf)?;
        let programs = load_all(&mut ebpf, &btf)?;
        let mut engine = Self {
            ebpf: Mutex::new(ebpf),
            rings,
            watched: Mutex::new(watched),
            programs,
            links: Vec::new(),
            started: sys::clock::monotonic(),
        };
        engine.resume()?;
        Ok(engine)
    }

    /// Detaches every program.
    pub(crate) fn pause(&mut self) -> Result<(), TraceError> {
        let ebpf = self.ebpf.get_mut().unwrap_or_else(PoisonError::into_inner);
        for Link { program, id } in self.links.drain(..) {
            let detached =
                tracepoint(ebpf, program).and_then(|program| program.detach(id).map_err(|error| with_sources(&error)));
            detached.map_err(|reason| TraceError::Object(format!("{program}: {reason}")))?;
        }
        Ok(())
    }

    /// Attaches every loaded program. Events recorded earlier no longer count.
    pub(crate) fn resume(&mut self) -> Result<(), TraceError> {
        let ebpf = self.ebpf.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (point, known) in ATTACHMENTS.iter().zip(&mut self.programs) {
            if known.missing.is_some() {
                continue;
            }
            let attached = tracepoint(ebpf, point.program)
                .and_then(|program| program.attach().map_err(|error| with_sources(&error)));
            match attached {
                Ok(id) => self.links.push(Link {
                    program: point.program,
                    id,
                }),
                Err(reason) => known.missing = Some(needless(point, reason)?),
            }
        }
        self.started = sys::clock::monotonic();
        Ok(())
    }

    /// Records the wake-ups of this thread whatever its priority.
    pub(crate) fn watch(&self, thread: i32) -> Result<(), TraceError> {
        let bit = thread.cast_unsigned() % WATCHED_BITS;
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let index = bit / 64;
        let changed = watched
            .get(&index, 0)
            .and_then(|bits| watched.set(index, bits | 1 << (bit % 64), 0));
        changed.map_err(|error| TraceError::Object(with_sources(&error)))
    }

    pub(crate) fn programs(&self) -> &[Program] {
        &self.programs
    }

    pub(crate) fn events_recorded(&self) -> Result<u64, TraceError> {
        self.rings.written()
    }

    /// The events between two instants; they are put into `room`, which is emptied first.
    pub(crate) fn snapshot(
        &self,
        cpu: u32,
        span: (Monotonic, Monotonic),
        room: Vec<Event>,
    ) -> Result<Snapshot, TraceError> {
        self.rings.snapshot(cpu, span, self.started, room)
    }
}

fn take(ebpf: &mut Ebpf, name: &str) -> Result<Map, TraceError> {
    ebpf.take_map(name)
        .ok_or_else(|| TraceError::Object(format!("it has no map {name}")))
}

fn refused(error: &EbpfError, megabytes: usize) -> TraceError {
    let reason = with_sources(error);
    match error {
        EbpfError::MapError(_) => TraceError::Memory {
            megabytes,
            reason: format!("{reason}{}", memory_hint()),
        },
        _ => TraceError::Object(reason),
    }
}

/// Loads every program; if this kernel lacks its tracepoint, the reason is kept.
fn load_all(ebpf: &mut Ebpf, btf: &Btf) -> Result<Vec<Program>, TraceError> {
    let programs = ATTACHMENTS.iter().map(|point| {
        let loaded = tracepoint(ebpf, point.program)
            .and_then(|program| program.load(point.name, btf).map_err(|error| with_sources(&error)));
        let missing = loaded.err().map(|reason| needless(point, reason)).transpose()?;
        Ok(Program::of(point, missing))
    });
    programs.collect()
}

/// Returns the reason why a tracepoint is not used; errors if it is needed.
fn needless(point: &Attachment, reason: String) -> Result<String, TraceError> {
    if point.needed {
        return Err(program_refused(format!("{}/{}", point.group, point.name), reason));
    }
    Ok(reason)
}

fn tracepoint<'a>(ebpf: &'a mut Ebpf, name: &str) -> Result<&'a mut BtfTracePoint, String> {
    let program = ebpf.program_mut(name).ok_or("not in the eBPF object")?;
    program.try_into().map_err(|error| with_sources(&error))
}

#[cfg(test)]
mod tests {
    use super::layout::{Event, Head};
    use super::{ATTACHMENTS, OBJECT};
    use crate::layout::{Layout, assert_object_has};

    #[test]
    fn the_object_has_what_is_taken_from_it() {
        let values = [
            ("rings", Event::OCTETS),
            ("heads", Head::OCTETS),
            ("watched", size_of::<u64>()),
        ];
        assert_object_has(OBJECT, &values, &ATTACHMENTS.map(|point| point.program.to_owned()));
    }
}
