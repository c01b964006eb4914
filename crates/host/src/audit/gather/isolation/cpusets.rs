//! Cpusets: which CPUs they take from the scheduler's balancing, and which of them are broken.

use units::CpuList;

use crate::audit::facts::Facts;
use crate::audit::gather::cpus;
use crate::audit::value::Unknown;
use crate::cgroup::Hierarchy;
use crate::error::HostError;
use crate::mounts;
use crate::reader::Reader;

/// Where version 2 is when the table of mounts cannot be read.
const USUAL: &str = "/sys/fs/cgroup";
/// Exists on every Linux.
const WITNESS: &str = "/sys/devices/system/cpu/online";
/// Beginnings of the files in a group: the other names are groups.
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
/// Deepest group that is looked at.
const DEEPEST: usize = 16;

pub(in crate::audit::gather) fn gather(reader: &Reader, facts: &mut Facts) {
    let found = read(reader, facts);
    let of = |pick: fn(&Cpusets) -> CpuList| found.as_ref().map(pick).map_err(Unknown::clone);
    facts.set("cpus.partitions", of(|found| found.apart.clone()));
    let version = found.as_ref().map_err(Unknown::clone).map(|found| found.version);
    facts.set("isolation.cpuset", version);
    let invalid = found.as_ref().map_err(Unknown::clone);
    facts.set(
        "isolation.invalid-partitions",
        invalid.map(|found| found.invalid.clone()),
    );
}

struct Cpusets {
    version: &'static str,
    /// CPUs without load balancing.
    apart: CpuList,
    /// Partitions that are none, each with what the kernel says of it.
    invalid: Vec<String>,
}

fn read(reader: &Reader, facts: &Facts) -> Result<Cpusets, Unknown> {
    match root(reader)? {
        Some((2, point)) => unified(reader, &point),
        Some((_, point)) => Ok(Cpusets {
            version: "version 1",
            apart: legacy(reader, &point, facts)?,
            invalid: Vec::new(),
        }),
        None => Ok(Cpusets {
            version: "none",
            apart: CpuList::default(),
            invalid: Vec::new(),
        }),
    }
}

/// The version that has the cpuset controller, and where it is mounted.
pub(super) fn root(reader: &Reader) -> Result<Option<(u8, String)>, Unknown> {
    let mounted = match mounts::read(reader) {
        Ok(mounted) => mounted,
        Err(error) => {
            return match has_cpusets(reader, USUAL)? {
                true => Ok(Some((2, USUAL.to_owned()))),
                // No cgroup file system at its usual place either, on a machine that is there: none is mounted.
                false if error.is_absent() && reader.exists(WITNESS)? => Ok(None),
                false => Err(error.into()),
            };
        }
    };
    let legacy = mounted
        .iter()
        .find(|mount| mount.kind == "cgroup" && mount.options.iter().any(|option| option == "cpuset"));
    if let Some(mount) = legacy {
        return Ok(Some((1, mount.point.clone())));
    }
    match Hierarchy::read(reader)?.unified_mount() {
        Some(point) if has_cpusets(reader, &point)? => Ok(Some((2, point))),
        _ => Ok(None),
    }
}

fn has_cpusets(reader: &Reader, point: &str) -> Result<bool, Unknown> {
    match reader.line_or_blank(&format!("{point}/cgroup.controllers")) {
        Ok(names) => Ok(names.split_whitespace().any(|name| name == "cpuset")),
        Err(error) if error.is_absent() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn unified(reader: &Reader, point: &str) -> Result<Cpusets, Unknown> {
    let mut found = Cpusets {
        version: "version 2",
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
    // In a cgroup namespace the root is a group as any other.
    if let Ok(kind) = reader.line(&format!("{point}/{PARTITION}")) {
        visit(point, &kind)?;
    }
    walk(reader, point, PARTITION, DEEPEST, &mut visit)?;
    // Kernels since 6.7 list them at the root.
    match reader.cpus(&format!("{point}/cpuset.cpus.isolated")) {
        Ok(cpus) => isolated.extend(cpus.iter()),
        Err(error) if error.is_absent() => {}
        Err(error) => return Err(error.into()),
    }
    found.apart = isolated.into_iter().collect();
    Ok(found)
}

/// A CPU is balanced when any group that has it says so; the root group has all.
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

/// Calls `visit` with each group below `parent` that has `file`, and its line. A group without it has none below.
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
