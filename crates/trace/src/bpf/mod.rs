//! The engine that runs in the kernel: eBPF programs on BTF tracepoints.

mod check;
mod cost;
mod record;
mod ring;

use crate::error::{TraceError, with_sources};
use crate::point::{POINTS, Point, Program};
use crate::snapshot::Snapshot;
use aya::maps::{Array, Map, MapData};
use aya::programs::BtfTracePoint;
use aya::{Btf, Ebpf, EbpfError, EbpfLoader};
use ring::Rings;
use std::sync::{Mutex, PoisonError};
use units::Monotonic;

pub use cost::Cost;

/// `bpf/flight.bpf.c`, built by `bpf/build.sh`.
static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("CARGO_MANIFEST_DIR"), "/bpf/flight.o"));

/// Bits in the map of watched threads; as in `flight.bpf.c`.
const WATCHED_BITS: u32 = 65_536;

/// Loaded and attached programs; detached when dropped.
pub(crate) struct BpfEngine {
    // The links live in it.
    ebpf: Mutex<Ebpf>,
    rings: Rings,
    watched: Mutex<Array<MapData, u64>>,
    programs: Vec<Program>,
    started: Monotonic,
}

impl BpfEngine {
    /// Loads and attaches what this kernel has.
    pub(crate) fn start() -> Result<Self, TraceError> {
        check::can_run()?;
        let cpus = check::possible_cpus();
        let megabytes = (cpus as usize * ring::RING_OCTETS) >> 20;
        let btf = Btf::from_sys_fs().map_err(|error| TraceError::NoBtf(with_sources(&error)))?;
        let mut ebpf = EbpfLoader::new()
            .btf(Some(&btf))
            .map_max_entries("rings", cpus * ring::CHUNKS_PER_CPU as u32)
            .map_max_entries("heads", cpus)
            .load(OBJECT)
            .map_err(|error| refused(&error, megabytes))?;
        let rings = Rings::new(take(&mut ebpf, "rings")?, take(&mut ebpf, "heads")?)
            .map_err(|error| TraceError::Object(with_sources(&error)))?;
        let watched: Array<MapData, u64> = take(&mut ebpf, "watched")?
            .try_into()
            .map_err(|error| TraceError::Object(with_sources(&error)))?;
        let programs = attach_all(&mut ebpf, &btf)?;
        Ok(Self {
            ebpf: Mutex::new(ebpf),
            rings,
            watched: Mutex::new(watched),
            programs,
            started: sys::clock::monotonic(),
        })
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

    pub(crate) fn snapshot(&self, cpu: u32, from: Monotonic, to: Monotonic) -> Result<Snapshot, TraceError> {
        self.rings.snapshot(cpu, from, to, self.started)
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
            reason: format!("{reason}{}", check::memory_hint()),
        },
        _ => TraceError::Object(reason),
    }
}

/// Loads and attaches every program; one that this kernel has no tracepoint for is noted.
fn attach_all(ebpf: &mut Ebpf, btf: &Btf) -> Result<Vec<Program>, TraceError> {
    let mut programs = Vec::new();
    for point in &POINTS {
        let missing = attach(ebpf, btf, point).err();
        if let (true, Some(reason)) = (point.needed, &missing) {
            return Err(TraceError::Program {
                tracepoint: format!("{}/{}", point.group, point.name),
                reason: reason.clone(),
            });
        }
        programs.push(Program::of(point, missing));
    }
    Ok(programs)
}

fn attach(ebpf: &mut Ebpf, btf: &Btf, point: &Point) -> Result<(), String> {
    let program = ebpf.program_mut(point.program).ok_or("not in the eBPF object")?;
    let program: &mut BtfTracePoint = program.try_into().map_err(|error| with_sources(&error))?;
    program.load(point.name, btf).map_err(|error| with_sources(&error))?;
    program.attach().map_err(|error| with_sources(&error))?;
    Ok(())
}
