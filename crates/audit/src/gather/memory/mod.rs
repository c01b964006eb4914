//! Memory, swap, huge pages and memory channels.

use super::cpus::number;
use super::shared::{argument, is_number, unclear};
use crate::facts::Facts;
use crate::parameters::Parameters;
use crate::value::{Unknown, Why};
use host::reader::Reader;
use host::stat::ThreadStat;

mod domains;

use domains::Needs;

const CONTROLLERS: &str = "/sys/devices/system/edac/mc";

pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    let needs = Needs::read(reader, parameters);
    let of_needs = |short: fn(&Needs, &Reader) -> Result<Vec<String>, Unknown>| {
        needs
            .as_ref()
            .map_err(Unknown::clone)
            .and_then(|needs| short(needs, reader))
    };
    facts.set("hugepages.short-of-1g", of_needs(Needs::short_of_1g));
    facts.set("hugepages.short", of_needs(Needs::short_of_any));
    let pages = needs.as_ref().map_err(Unknown::clone);
    let pages = pages.and_then(|needs| needs.pages(reader, number(facts, "kernel.number")));
    facts.set("hugepages.wanted-pages", pages);
    facts.set("hugepages.needed-mib", needs.map(|needs| needs.mib()));
    facts.set("platform.vhost-iommu", domains::virtio_behind_iommu(reader));
    facts.set("hugepages.1g-mib", domains::reserved_mib(reader, |kib| kib == 1 << 20));
    facts.set("hugepages.all-mib", domains::reserved_mib(reader, |_| true));
    facts.set("hugepages.booted", argument(reader, "hugepages"));
    facts.set("hugepages.at-boot", at_boot(reader));
    let devices = swap_devices(reader);
    // Without swap nothing can be swapped out, so no process is examined.
    let real_time = match &devices {
        Ok(devices) if devices.is_empty() => Err(Unknown::absent("there is no swap")),
        _ => real_time(reader),
    };
    facts.set("swap.devices", devices);
    let of = |pick: fn(&RealTime) -> Result<f64, Unknown>| real_time.as_ref().map_err(Unknown::clone).and_then(pick);
    facts.set("swap.real-time-kib", of(|found| Ok(found.swapped_kib)));
    facts.set(
        "swap.real-time-unlocked",
        real_time
            .as_ref()
            .map_err(Unknown::clone)
            .map(|found| found.unlocked.clone()),
    );
    facts.set("memory.modules", modules(reader));
}

/// True if pages were reserved before memory became fragmented: by the kernel's arguments.
fn at_boot(reader: &Reader) -> Result<bool, Unknown> {
    match argument(reader, "hugepages") {
        Ok(_) => Ok(true),
        Err(unknown) if unknown.why == Why::Absent => Ok(false),
        Err(unknown) => Err(unknown),
    }
}

fn swap_devices(reader: &Reader) -> Result<Vec<String>, Unknown> {
    let path = "/proc/swaps";
    let text = reader.text(path).map_err(unclear)?;
    let mut lines = text.lines();
    if !lines.next().is_some_and(|head| head.starts_with("Filename")) {
        return Err(Unknown::unclear(format!("{path} has no head")));
    }
    let names = lines.filter_map(|line| line.split_whitespace().next());
    Ok(names.map(str::to_owned).collect())
}

/// Memory of processes with real-time threads.
struct RealTime {
    swapped_kib: f64,
    unlocked: Vec<String>,
}

fn real_time(reader: &Reader) -> Result<RealTime, Unknown> {
    let mut found = RealTime {
        swapped_kib: 0.0,
        unlocked: Vec::new(),
    };
    let mut seen = false;
    for pid in reader.names("/proc", is_number).map_err(unclear)? {
        let Some(name) = real_time_name(reader, &pid) else {
            continue;
        };
        // A process may end during the reading.
        let Ok(status) = reader.text(&format!("/proc/{pid}/status")) else {
            continue;
        };
        seen = true;
        let kib = |entry: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(entry))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        let swapped = kib("VmSwap:").ok_or_else(|| Unknown::unclear(format!("/proc/{pid}/status: no VmSwap")))?;
        found.swapped_kib += swapped as f64;
        if kib("VmLck:").unwrap_or(0) == 0 {
            found.unlocked.push(format!("{name} (pid {pid})"));
        }
    }
    if seen {
        Ok(found)
    } else {
        Err(Unknown::unclear(
            "no process with real-time threads can be seen: nothing is known about their memory",
        ))
    }
}

/// Name of a process that has a real-time thread and is not a kernel thread.
fn real_time_name(reader: &Reader, pid: &str) -> Option<String> {
    let stat = |path: &str| ThreadStat::parse(&reader.line(path).ok()?);
    let first = stat(&format!("/proc/{pid}/stat"))?;
    if first.is_kernel {
        return None;
    }
    let folder = format!("/proc/{pid}/task");
    let tasks = reader.names(&folder, |_| true).unwrap_or_default();
    let mut threads = tasks.iter().filter_map(|task| stat(&format!("{folder}/{task}/stat")));
    (first.is_real_time || threads.any(|thread| thread.is_real_time)).then_some(first.name)
}

/// Memory of each channel of each controller in MiB: different sizes are unbalanced. Controllers that count by chip select have ranks in
/// place of modules (Linux: drivers/edac/edac_mc_sysfs.c, csbased).
fn modules(reader: &Reader) -> Result<Vec<String>, Unknown> {
    let is_controller = |name: &str| name.strip_prefix("mc").is_some_and(|rest| rest.parse::<u32>().is_ok());
    let mut sizes = Vec::new();
    for controller in reader.names(CONTROLLERS, is_controller).map_err(unclear)? {
        let folder = format!("{CONTROLLERS}/{controller}");
        for module in reader
            .names(&folder, |name| name.starts_with("dimm") || name.starts_with("rank"))
            .map_err(unclear)?
        {
            let mib: u64 = reader
                .parsed(&format!("{folder}/{module}/size"), "a size in MiB")
                .map_err(unclear)?;
            if mib > 0 && !sizes.contains(&format!("{mib} MiB")) {
                sizes.push(format!("{mib} MiB"));
            }
        }
    }
    if sizes.is_empty() {
        return Err(Unknown::unclear(format!("{CONTROLLERS}: no module is listed")));
    }
    Ok(sizes)
}
