//! Compares the hardware with the needs of the wanted relays (ABB/University of Torino: hardware prerequisites).

use std::collections::BTreeSet;

use super::super::power::turbo;
use super::super::shared::unclear;
use crate::facts::Facts;
use crate::parameters::Parameters;
use crate::value::{Unknown, Why};
use host::cpuinfo::CpuInfo;
use host::nic::interface::{self, InterfaceKind};
use host::reader::Reader;
use host::{cpu, memory};

/// Needs per relay, and of the operating system: GB of memory, and of disk.
const MEMORY_GB: (f64, f64) = (4.0, 4.0);
const DISK_GB: (f64, f64) = (5.0, 20.0);
/// Wanted clock frequency in GHz.
const ENOUGH_GHZ: f64 = 2.0;
/// Block devices that are not disks.
const NO_DISKS: [&str; 8] = ["loop", "ram", "zram", "dm-", "md", "sr", "fd", "nbd"];

pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    let named = parameters.domains.len() + parameters.vmx.len() + parameters.containers.len();
    let instances = named.max(1);
    let needed = |(each, system): (f64, f64)| each * instances as f64 + system;
    facts.set("sizing.relays", instances);
    facts.set("sizing.memory-needed-gb", needed(MEMORY_GB));
    facts.set("sizing.disk-needed-gb", needed(DISK_GB));
    facts.set("sizing.clock-ghz", clock_ghz(reader));
    facts.set("sizing.cores", cores(reader));
    let cache = cpu::last_level_cache_bytes(reader).map_err(unclear);
    facts.set("sizing.cache-mib", cache.map(|bytes| (bytes >> 20) as f64));
    let memory = memory::total_kib(reader).map_err(unclear);
    facts.set(
        "sizing.memory-gb",
        memory.map(|kib| (kib as f64 * 1.024e-5).round() / 10.0),
    );
    facts.set("sizing.disk-gb", disk_gb(reader));
    facts.set("sizing.ports", ports(reader));
}

/// Guaranteed frequency of the processor: its base, else the one in its name, else the firmware's nominal one (CPPC, in MHz), else the
/// driver's highest, if that is not a turbo frequency.
fn clock_ghz(reader: &Reader) -> Result<f64, Unknown> {
    let number = |file: &str, unit: &'static str| {
        let path = format!("/sys/devices/system/cpu/cpu0/{file}");
        reader.parsed::<u64>(&path, unit).ok().map(|number| number as f64)
    };
    let base = number("cpufreq/base_frequency", "kHz").map(|khz| khz / 1e6);
    let kept = base.or_else(|| named_ghz(reader));
    let kept = kept.or_else(|| number("acpi_cppc/nominal_freq", "MHz").map(|mhz| mhz / 1e3));
    let highest = || {
        let ghz = number("cpufreq/cpuinfo_max_freq", "kHz").map(|khz| khz / 1e6);
        ghz.ok_or_else(|| Unknown::unclear("neither a frequency driver nor the processor's name shows its frequency"))
    };
    kept.map_or_else(|| without_turbo(reader, highest()?), Ok)
}

fn named_ghz(reader: &Reader) -> Option<f64> {
    let model = CpuInfo::read(reader).ok()?.distinct("model name").ok()?;
    let text = model.split_once("@ ")?.1.split_once("GHz")?.0.trim();
    text.parse::<f64>().ok().filter(|ghz| ghz.is_finite())
}

/// If even the highest frequency is too low, turbo does not matter.
fn without_turbo(reader: &Reader, highest: f64) -> Result<f64, Unknown> {
    let is_x86 = CpuInfo::read(reader).ok().and_then(|info| info.has_flag("tsc"));
    match turbo(reader) {
        Ok(false) => Ok(highest),
        Err(unknown) if unknown.why == Why::Absent && is_x86.is_none() => Ok(highest),
        _ if highest <= ENOUGH_GHZ => Ok(highest),
        _ => Err(Unknown::unclear(format!(
            "the driver's highest frequency is {highest} GHz, which may be turbo"
        ))),
    }
}

fn cores(reader: &Reader) -> Result<usize, Unknown> {
    let mut cores = BTreeSet::new();
    for cpu in cpu::online(reader).map_err(unclear)?.iter() {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        cores.insert(reader.line(&path).map_err(unclear)?);
    }
    Ok(cores.len())
}

/// Sum of all disks. Sizes are in sectors of 512 bytes, whatever the disk's own sectors are (Linux: ABI/stable/sysfs-block).
fn disk_gb(reader: &Reader) -> Result<f64, Unknown> {
    let is_disk = |name: &str| !NO_DISKS.iter().any(|other| name.starts_with(other));
    let disks = reader.names("/sys/block", is_disk).map_err(unclear)?;
    if disks.is_empty() {
        return Err(Unknown::unclear("/sys/block has no disk"));
    }
    let mut sectors = 0;
    for disk in disks {
        sectors += reader
            .parsed::<u64>(&format!("/sys/block/{disk}/size"), "a number of sectors")
            .map_err(unclear)?;
    }
    Ok((sectors as f64 * 512.0 / 1e8).round() / 10.0)
}

/// Interfaces with a clock, which stamp frames in hardware. An unknown speed counts: the link is down.
fn ports(reader: &Reader) -> Result<Vec<String>, Unknown> {
    const GIGABIT: u32 = 1000;
    let mut fit = Vec::new();
    let all = interface::all(reader).map_err(unclear)?.into_iter();
    for one in all.filter(|one| one.kind == InterfaceKind::Device) {
        let folder = format!("/sys/class/net/{}", one.name);
        let clocks = match reader.names(&format!("{folder}/device/ptp"), |clock| clock.starts_with("ptp")) {
            // A card without a clock lacks this folder.
            Err(error) if error.is_absent() => Vec::new(),
            clocks => clocks.map_err(unclear)?,
        };
        // Every interface has this file, even if it is unreadable (Linux 6.12: net/core/net-sysfs.c).
        if one.speed_mbit.is_none() && !reader.exists(&format!("{folder}/speed"))? {
            return Err(Unknown::unclear(format!("{folder}/speed is missing")));
        }
        if !clocks.is_empty() && one.speed_mbit.is_none_or(|speed| speed >= GIGABIT) {
            fit.push(one.name);
        }
    }
    Ok(fit)
}
