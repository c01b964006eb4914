//! Number of interruptions by the firmware, counted twice.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use sys::SysError;
use sys::perf::{Counter as Events, Event};

use super::super::observed::{Counter, Reading};
use super::super::shared;
use crate::facts::Facts;
use host::cpuinfo::CpuInfo;
use host::error::{HostError, Unreadable};
use host::reader::Reader;

/// Place of the count in a recorded tree.
const PATH: &str = "/.answers/smi-count";
/// Intel's counter `MSR_SMI_COUNT` (Software Developer's Manual, volume 4).
const MSR_SMI_COUNT: u64 = 0x34;
/// AMD's event `ls_smi_rx`, since Zen: firmware interrupts that a CPU received (Linux: tools/perf/pmu-events/arch/x86/amdzen1/other.json).
const LS_SMI_RX: Event = Event::Raw(0x2b);
/// Lowest family of Zen, AMD's and Hygon's.
const ZEN: u32 = 0x17;

/// Stores the number of interruptions by the firmware.
pub(in super::super) fn smi(reader: &Reader, facts: &Facts, reading: &mut Reading) {
    let counter = Counter {
        part: None,
        fact: "smi.per-s".to_owned(),
    };
    reading.insert(counter, count(reader, facts));
}

fn count(reader: &Reader, facts: &Facts) -> Result<f64, HostError> {
    let cpus = CpuInfo::read(reader)?;
    let (vendor, family) = (cpus.distinct("vendor_id")?, cpus.distinct("cpu family"));
    let zen = family.is_ok_and(|family| family.parse().is_ok_and(|family: u32| family >= ZEN));
    let ask: fn(u32) -> Result<u64, HostError> = match vendor.as_str() {
        "GenuineIntel" => |cpu| register(cpu, MSR_SMI_COUNT),
        "AuthenticAMD" | "HygonGenuine" if zen => received,
        _ => {
            let why = "only Intel and AMD since Zen count them: let the hwlat tracer look for gaps instead";
            return Err(HostError::Undecided(why.to_owned()));
        }
    };
    // Every such interrupt stops all CPUs, so the count of a CPU without real-time work is enough.
    let cpu = shared::cpus(facts, "hk_cpus")
        .ok()
        .and_then(|cpus| cpus.first())
        .unwrap_or(0);
    let answer = reader.answer("smi-count", || ask(cpu).map(|count| count.to_string()))?;
    let count: Result<u64, _> = answer.trim().parse();
    count
        .map(|count| count as f64)
        .map_err(|_| HostError::unexpected(PATH, "a number of interrupts", &answer))
}

/// Firmware interrupts of `cpu` since the first call, which starts the counter.
fn received(cpu: u32) -> Result<u64, HostError> {
    static EVENTS: OnceLock<Result<Events, SysError>> = OnceLock::new();
    let events = EVENTS.get_or_init(|| Events::open(LS_SMI_RX, cpu));
    let unclear = |why: String| HostError::Undecided(format!("AMD's event ls_smi_rx: {why}"));
    let events = events.as_ref().map_err(|why| unclear(why.to_string()))?;
    let count = events.read().map_err(|why| unclear(why.to_string()))?;
    count.ok_or_else(|| unclear("other programs use all counters of the CPU (perf)".to_owned()))
}

/// A model-specific register of a CPU of this machine.
pub(in super::super) fn register(cpu: u32, number: u64) -> Result<u64, HostError> {
    let path = format!("/dev/cpu/{cpu}/msr");
    let mut octets = [0; 8];
    let read = File::open(&path).and_then(|file| file.read_exact_at(&mut octets, number));
    read.map_err(|error| HostError::Unreadable {
        path,
        why: Unreadable::from_io(&error),
    })?;
    Ok(u64::from_le_bytes(octets))
}
