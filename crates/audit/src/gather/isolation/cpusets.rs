//! Cpusets: the CPUs that they remove from load balancing, and broken cpusets.

use units::CpuList;

use crate::facts::Facts;
use crate::gather::cpus;
use crate::value::Unknown;
use host::error::HostError;
use host::mounts;
use host::reader::Reader;

/// Place of version 2 if the mount table is unreadable.
const USUAL: &str = "/sys/fs/cgroup";
/// A file that every Linux has.
const WITNESS: &str = "/sys/devices/system/cpu/online";
/// Prefixes of the files in a group folder: all other names are groups.
const FILES: [&str; 13] = [
    "cgroup.",
    "cpu.",
    "cpuset.",
    "memory.",
    "io.",
    "pids.",
    "hugetlb.",
    "misc.",
    "rdma.",
    "dmem.",
    "irq.",
    "perf_event.",
    "tasks",
];
const PARTITION: &str = "cpuset.cpus.partition";
/// Maximum depth of the groups examined.
const DEEPEST: usize = 16;

pub(in crate::gather) fn gather(reader: &Reader, facts: &mut Facts) {
    let found = read(reader, facts);
    let of = |pick: fn(&Cpusets) -> CpuList| found.as_ref().map(pick).map_err(Unknown::clone);
    facts.set("cpus.partitions", of(|found| found.apart.clone()));
    let version = found.as_ref().map_err(Unknown::clone);
    let version = version.and_then(|found| found.version.clone());
    facts.set("isolation.cpuset", version);
    let invalid = found.as_ref().map_err(Unknown::clone);
    facts.set(
        "isolation.invalid-partitions",
        invalid.map(|found| found.invalid.clone()),
    );
}

struct Cpusets {
    version: Result<&'static str, Unknown>,
    /// CPUs without load balancing.
    apart: CpuList,
    /// Partitions that are invalid, each with the kernel's message.
    invalid: Vec<String>,
}

fn read(reader: &Reader, facts: &Facts) -> Result<Cpusets, Unknown> {
    match root(reader)? {
        Some((2, point)) => unified(reader, &point),
        Some((_, point)) => Ok(Cpusets {
            version: Ok("version 1"),
            apart: legacy(reader, &point, facts)?,
            invalid: Vec::new(),
        }),
        None => Ok(Cpusets {
            version: Ok("none"),
            apart: CpuList::default(),
            invalid: Vec::new(),
        }),
    }
}

/// Version whose groups have cpusets, and its mount point.
pub fn root(reader: &Reader) -> Result<Option<(u8, String)>, Unknown> {
    let mounted = match mounts::read(reader) {
        // A live machine without a mount table: the usual place counts.
        Err(error) if error.is_absent() && reader.exists(WITNESS)? => {
            return Ok(reader.exists(USUAL)?.then(|| (2, USUAL.to_owned())));
        }
        mounted => mounted?,
    };
    let has_cpusets =
        |mount: &&mounts::Mount| mount.kind == "cgroup" && mount.options.iter().any(|option| option == "cpuset");
    let legacy = mounted.iter().find(has_cpusets);
    let unified = mounted.iter().find(|mount| mount.kind == "cgroup2");
    let chosen = legacy.map(|mount| (1, mount)).or(unified.map(|mount| (2, mount)));
    Ok(chosen.map(|(version, mount)| (version, mount.point.clone())))
}

/// True if the groups of version 2 can have cpusets.
pub(super) fn can_have_cpusets(reader: &Reader, point: &str) -> Result<bool, HostError> {
    let names = reader.line_or_blank(&format!("{point}/cgroup.controllers"))?;
    Ok(names.split_whitespace().any(|name| name == "cpuset"))
}

fn unified(reader: &Reader, point: &str) -> Result<Cpusets, Unknown> {
    let mut found = Cpusets {
        version: version_2(reader, point),
        apart: CpuList::default(),
        invalid: Vec::new(),
    };
    let mut isolated: Vec<u32> = Vec::new();
    let mut visit = |group: &str, kind: &str| {
        if kind.contains("invalid") {
            found
                .invalid
                .push(format!("{}: {kind}", group.trim_start_matches(point)));
        } else if kind == "isolated" {
            isolated.extend(reader.cpus(&format!("{group}/cpuset.cpus.effective"))?.iter());
        }
        Ok(())
    };
    // In a cgroup namespace the root is an ordinary group.
    if let Ok(kind) = reader.line(&format!("{point}/{PARTITION}")) {
        visit(point, &kind)?;
    }
    walk(reader, point, PARTITION, DEEPEST, &mut visit)?;
    // Kernels since 6.7 list the isolated CPUs at the root.
    match reader.cpus(&format!("{point}/cpuset.cpus.isolated")) {
        Ok(cpus) => isolated.extend(cpus.iter()),
        Err(error) if error.is_absent() => {}
        Err(error) => return Err(error.into()),
    }
    found.apart = isolated.into_iter().collect();
    Ok(found)
}

fn version_2(reader: &Reader, point: &str) -> Result<&'static str, Unknown> {
    let can = can_have_cpusets(reader, point)?;
    Ok(if can { "version 2" } else { "none" })
}

/// A CPU is balanced if any group that contains it balances; the root group contains all.
fn legacy(reader: &Reader, point: &str, facts: &Facts) -> Result<CpuList, Unknown> {
    let path = format!("{point}/cpuset.sched_load_balance");
    match reader.line(&path)?.as_str() {
        "1" => return Ok(CpuList::default()),
        "0" => {}
        other => return Err(HostError::unexpected(&path, "0 or 1", other).into()),
    }
    let mut balanced: Vec<u32> = Vec::new();
    walk(
        reader,
        point,
        "cpuset.sched_load_balance",
        DEEPEST,
        &mut |group, flag| {
            if flag != "0" {
                balanced.extend(reader.cpus(&format!("{group}/cpuset.cpus"))?.iter());
            }
            Ok(())
        },
    )?;
    let online = cpus::known(facts, "cpus.online")?;
    Ok(online.without(&balanced.into_iter().collect()))
}

/// Calls `visit` with each group below `parent` that has `file`, and its first line. If a group lacks the file, so do its descendants.
fn walk(
    reader: &Reader,
    parent: &str,
    file: &str,
    depth: usize,
    visit: &mut dyn FnMut(&str, &str) -> Result<(), HostError>,
) -> Result<(), HostError> {
    if depth == 0 {
        return Err(HostError::Undecided(format!("{parent}: groups are nested too deeply")));
    }
    let is_group = |name: &str| !FILES.iter().any(|file| name.starts_with(file));
    for name in reader.names(parent, is_group)? {
        let group = format!("{parent}/{name}");
        match reader.line(&format!("{group}/{file}")) {
            Ok(line) => {
                visit(&group, &line)?;
                walk(reader, &group, file, depth - 1, visit)?;
            }
            Err(error) if error.is_absent() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
