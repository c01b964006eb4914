//! Processors: model, topology, caches, microcode, mitigations.

use std::collections::BTreeSet;

use units::{CpuList, parse_bytes};

use crate::cpuinfo::{self, CpuInfo};
use crate::error::HostError;
use crate::fact::Sheet;
use crate::reader::Reader;
use model::Fact;

const ROOT: &str = "/sys/devices/system/cpu";

/// Online CPUs: see [`crate::Host::online_cpus`].
///
/// # Errors
/// The file cannot be read or is not a CPU list.
pub fn online(reader: &Reader) -> Result<CpuList, HostError> {
    let path = format!("{ROOT}/online");
    let cpus = reader.cpus(&path)?;
    if cpus.is_empty() {
        Err(HostError::unexpected(&path, "at least one CPU", ""))
    } else {
        Ok(cpus)
    }
}

pub(crate) fn facts(reader: &Reader) -> Vec<Fact> {
    let mut sheet = Sheet::new(reader, "cpu");
    let info = CpuInfo::read(reader);
    let named = |key: &str| info.as_ref().map_err(Clone::clone).and_then(|info| info.distinct(key));
    sheet.add("model", cpuinfo::PATH, named("model name"));
    sheet.add("vendor", cpuinfo::PATH, named("vendor_id"));
    sheet.add("microcode", cpuinfo::PATH, named("microcode"));
    let online = online(reader);
    let count = online.as_ref().map_err(Clone::clone);
    sheet.add(
        "online CPUs",
        "/sys/devices/system/cpu/online",
        count.map(|cpus| format!("{cpus} ({} CPUs)", cpus.len())),
    );
    let present = reader
        .cpus("/sys/devices/system/cpu/present")
        .map(|cpus| cpus.to_string());
    sheet.add("present CPUs", "/sys/devices/system/cpu/present", present);
    topology(&mut sheet);
    sheet.switch(
        "SMT active",
        "/sys/devices/system/cpu/smt/active",
        "kernel before 5.1 or not in this kernel",
    );
    sheet.line("SMT control", "/sys/devices/system/cpu/smt/control");
    sheet.line_or("NUMA nodes", "/sys/devices/system/node/online", "kernel without NUMA");
    let cache = last_level_cache_bytes(reader).map(|bytes| format!("{} KiB", bytes / 1024));
    sheet.add(
        "last-level cache",
        "/sys/devices/system/cpu/cpu0/cache/index*/size",
        cache,
    );
    mitigations(&mut sheet);
    sheet.finish()
}

/// `path` of every CPU, as the name of a source.
pub(crate) fn each(path: &str) -> String {
    format!("{ROOT}/cpu*/{path}")
}

/// A file of every online CPU: a single value if all agree, else each value with its CPUs.
pub(crate) fn by_cpu(reader: &Reader, path: &str) -> Result<String, HostError> {
    values_by_cpu(reader, |cpu| reader.line(&format!("{ROOT}/cpu{cpu}/{path}")))
}

/// Same as [`by_cpu`], for values that are computed.
pub(crate) fn values_by_cpu(
    reader: &Reader,
    value: impl Fn(u32) -> Result<String, HostError>,
) -> Result<String, HostError> {
    let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
    let mut join = |text: String, cpu| match groups.iter_mut().find(|(known, _)| *known == text) {
        Some((_, cpus)) => cpus.push(cpu),
        None => groups.push((text, vec![cpu])),
    };
    let mut first_error = None;
    let mut known = 0;
    for cpu in online(reader)?.iter() {
        match value(cpu) {
            Ok(value) => {
                known += 1;
                join(value, cpu);
            }
            Err(error) => {
                join(format!("unknown ({})", error.reason()), cpu);
                first_error.get_or_insert(error);
            }
        }
    }
    match (known, first_error) {
        (0, Some(error)) => Err(error),
        _ => Ok(grouped(&groups)),
    }
}

fn grouped(groups: &[(String, Vec<u32>)]) -> String {
    if let [(value, _)] = groups {
        return value.clone();
    }
    let parts = groups.iter().map(|(value, cpus)| {
        let cpus: CpuList = cpus.iter().copied().collect();
        format!("{value} on CPU {cpus}")
    });
    parts.collect::<Vec<_>>().join("; ")
}

/// Adds the number of sockets and cores, from the ids that the kernel gives each online CPU.
fn topology(sheet: &mut Sheet<'_>) {
    let of_cpu = |cpu: u32| {
        sheet
            .reader
            .line(&format!("{ROOT}/cpu{cpu}/topology/physical_package_id"))
    };
    let sockets = online(sheet.reader).and_then(|cpus| cpus.iter().map(of_cpu).collect::<Result<BTreeSet<_>, _>>());
    let sockets = sockets.map(|ids| ids.len().to_string());
    let siblings = distinct_siblings(sheet.reader);
    let cores = siblings
        .as_ref()
        .map(|lists| lists.len().to_string())
        .map_err(Clone::clone);
    sheet.add("sockets", &each("topology/physical_package_id"), sockets);
    sheet.add("cores", &each("topology/thread_siblings_list"), cores);
    let siblings = siblings.map(|lists| lists.join("; "));
    sheet.add("CPUs of each core", &each("topology/thread_siblings_list"), siblings);
}

/// CPUs of each core, in the order of their first CPU.
fn distinct_siblings(reader: &Reader) -> Result<Vec<String>, HostError> {
    let mut cores = Vec::new();
    for cpu in online(reader)?.iter() {
        let siblings = reader.line(&format!("{ROOT}/cpu{cpu}/topology/thread_siblings_list"))?;
        if !cores.contains(&siblings) {
            cores.push(siblings);
        }
    }
    Ok(cores)
}

/// Size of the largest cache of CPU 0, in bytes: see [`crate::Host::last_level_cache_bytes`].
///
/// # Errors
/// No cache size can be read.
pub fn last_level_cache_bytes(reader: &Reader) -> Result<u64, HostError> {
    let folder = format!("{ROOT}/cpu0/cache");
    let mut largest = None;
    for index in reader.names(&folder, |name| name.starts_with("index"))? {
        let path = format!("{folder}/{index}/size");
        let size = reader.line(&path)?;
        let bytes = parse_bytes(&format!("{size}iB"))
            .map_err(|_| HostError::unexpected(&path, "a size such as 512K", &size))?;
        largest = largest.max(Some(bytes));
    }
    largest.ok_or_else(|| HostError::Undecided(format!("{folder} lists no cache")))
}

/// One fact per known weakness of the processor; weaknesses that do not affect it are combined in one.
fn mitigations(sheet: &mut Sheet<'_>) {
    let folder = "/sys/devices/system/cpu/vulnerabilities";
    let names = match sheet.reader.names(folder, |_| true) {
        Ok(names) => names,
        Err(error) => return sheet.explained("mitigations", folder, Err(error), "not in this kernel"),
    };
    let mut unaffected = Vec::new();
    for name in names {
        let path = format!("{folder}/{name}");
        match sheet.reader.line(&path) {
            Ok(state) if state == "Not affected" => unaffected.push(name),
            state => sheet.add(&format!("mitigation {name}"), &path, state),
        }
    }
    let unaffected = if unaffected.is_empty() {
        "none".to_owned()
    } else {
        unaffected.join(", ")
    };
    sheet.add("not affected by", folder, Ok(unaffected));
}
