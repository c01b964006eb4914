//! Groups of resctrl and their masks (Linux: filesystems/resctrl.rst).

use std::collections::BTreeMap;

use units::CpuList;

use crate::value::Unknown;
use host::cpuinfo::CpuInfo;
use host::error::HostError;
use host::reader::Reader;

const ROOT: &str = "/sys/fs/resctrl";
/// Folders of the root that are not groups.
const OTHERS: [&str; 3] = ["info", "mon_groups", "mon_data"];
/// Maximum number of tasks looked up per group: a larger group is not one of real-time threads.
const MOST_TASKS: usize = 4096;

/// Masks of one resource in each of its domains, such as `L3` by cache id.
pub type Masks = BTreeMap<String, BTreeMap<u32, u64>>;

/// One group; the first is the root, which contains everything else.
pub(super) struct Group {
    pub(super) name: String,
    /// CPUs of the group, and those of its tasks.
    pub(super) cpus: CpuList,
    pub(super) masks: Masks,
    /// Its share of the memory bandwidth in each domain; `None` without a line `MB:`.
    pub(super) bandwidth: Option<BTreeMap<u32, u64>>,
}

/// Limits on the masks of a resource.
struct Limits {
    full: u64,
    fewest_bits: u32,
    shareable: u64,
    sparse: bool,
    most_groups: usize,
}

/// The allocation in force.
pub(super) struct Allocation {
    pub(super) groups: Vec<Group>,
    limits: BTreeMap<String, Limits>,
}

pub(super) fn read(reader: &Reader) -> Result<Allocation, HostError> {
    let mut groups = vec![group(reader, String::new())?];
    let is_group = |name: &str| !OTHERS.contains(&name);
    for name in reader.names(ROOT, is_group)? {
        if reader.exists(&format!("{ROOT}/{name}/schemata"))? {
            groups.push(group(reader, name)?);
        }
    }
    let mut limits = BTreeMap::new();
    for resource in groups[0].masks.keys() {
        limits.insert(resource.clone(), self::limits(reader, resource)?);
    }
    Ok(Allocation { groups, limits })
}

fn group(reader: &Reader, name: String) -> Result<Group, HostError> {
    let folder = format!("{ROOT}/{name}").trim_end_matches('/').to_owned();
    let path = format!("{folder}/schemata");
    let text = reader.text(&path)?;
    let masks = masks(&text).ok_or_else(|| HostError::unexpected(&path, "lines such as L3:0=fff;1=fff", &text))?;
    let mut cpus = reader.cpus(&format!("{folder}/cpus_list"))?;
    if !name.is_empty() {
        let tasks = reader.text(&format!("{folder}/tasks")).unwrap_or_default();
        let of_tasks = tasks
            .lines()
            .take(MOST_TASKS)
            .filter_map(|task| allowed(reader, task.trim()));
        cpus = of_tasks.fold(cpus, |all, cpus| all.iter().chain(cpus.iter()).collect());
    }
    Ok(Group {
        name,
        cpus,
        masks,
        bandwidth: super::bandwidth::shares(&text),
    })
}

/// CPUs of a task, such as a virtual CPU that libvirt put into the group.
fn allowed(reader: &Reader, task: &str) -> Option<CpuList> {
    let status = reader.text(&format!("/proc/{task}/status")).ok()?;
    let mut lines = status.lines();
    lines
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?
        .parse()
        .ok()
}

/// Parses lines `L3:0=fff;1=fff` as masks. Bandwidth (`MB:`) has no masks.
pub fn masks(text: &str) -> Option<Masks> {
    let mut all = Masks::new();
    for line in text.lines().map(str::trim).filter(|line| line.starts_with('L')) {
        let (resource, rest) = line.split_once(':')?;
        let mut domains = BTreeMap::new();
        for entry in rest.split(';') {
            let (id, mask) = entry.split_once('=')?;
            domains.insert(id.trim().parse().ok()?, u64::from_str_radix(mask.trim(), 16).ok()?);
        }
        all.insert(resource.trim().to_owned(), domains);
    }
    Some(all)
}

fn limits(reader: &Reader, resource: &str) -> Result<Limits, HostError> {
    let folder = format!("{ROOT}/info/{resource}");
    let hex = |file: &str| {
        let path = format!("{folder}/{file}");
        let line = reader.line(&path)?;
        u64::from_str_radix(&line, 16).map_err(|_| HostError::unexpected(&path, "a mask in hexadecimal", &line))
    };
    Ok(Limits {
        full: hex("cbm_mask")?,
        fewest_bits: reader.parsed(&format!("{folder}/min_cbm_bits"), "a number of bits")?,
        shareable: hex("shareable_bits")?,
        sparse: is_sparse(reader, &folder)?,
        most_groups: reader.parsed(&format!("{folder}/num_closids"), "a number of groups")?,
    })
}

/// True if masks may have gaps. Kernels before 6.7 do not report it: AMD's may (Linux 6.12: arch/x86/kernel/cpu/resctrl/core.c,
/// rdt_init_res_defs_amd).
fn is_sparse(reader: &Reader, folder: &str) -> Result<bool, HostError> {
    match reader.line(&format!("{folder}/sparse_masks")) {
        Err(error) if error.is_absent() => {
            let vendor = CpuInfo::read(reader)?.distinct("vendor_id")?;
            Ok(["AuthenticAMD", "HygonGenuine"].contains(&vendor.as_str()))
        }
        line => Ok(line? == "1"),
    }
}

impl Group {
    pub(super) fn is_real_time(&self, rt_cpus: &CpuList) -> bool {
        !self.name.is_empty() && !self.cpus.is_empty() && self.cpus.without(rt_cpus).is_empty()
    }

    pub(super) fn shown(&self) -> &str {
        if self.name.is_empty() {
            "the default group"
        } else {
            &self.name
        }
    }
}

/// Reasons that real-time CPUs lack cache of their own: CPUs in no group for them, and masks that overlap those of others.
pub(super) fn shared(found: &Allocation, rt_cpus: &CpuList) -> Result<Vec<String>, Unknown> {
    let (own, others): (Vec<&Group>, Vec<&Group>) = found.groups.iter().partition(|group| group.is_real_time(rt_cpus));
    let covered: CpuList = own.iter().flat_map(|group| group.cpus.iter()).collect();
    let mut all = Vec::new();
    let bare = rt_cpus.without(&covered);
    if !bare.is_empty() {
        all.push(format!("CPU {bare} is in no group that has only real-time CPUs"));
    }
    for group in own {
        for (resource, id, mask) in entries(group) {
            let shareable = found.limits.get(resource).map_or(0, |limits| limits.shareable);
            let overlapping = others.iter().filter(|other| {
                let theirs = other.masks.get(resource).and_then(|domains| domains.get(&id));
                theirs.is_none_or(|theirs| theirs & mask & !shareable != 0)
            });
            let with: Vec<&str> = overlapping.map(|other| other.shown()).collect();
            if !with.is_empty() {
                all.push(format!("{resource}:{id} of {} with {}", group.name, with.join(", ")));
            }
        }
    }
    Ok(all)
}

fn entries(group: &Group) -> impl Iterator<Item = (&String, u32, u64)> {
    let resources = group.masks.iter();
    resources.flat_map(|(resource, domains)| domains.iter().map(move |(id, mask)| (resource, *id, *mask)))
}

/// Masks that the hardware refuses, or that devices fill as well.
pub(super) fn illegal(found: &Allocation, rt_cpus: &CpuList) -> Result<Vec<String>, Unknown> {
    let mut all = Vec::new();
    for group in &found.groups {
        for (resource, id, mask) in entries(group) {
            let Some(limits) = found.limits.get(resource) else {
                continue;
            };
            let what = if !limits.sparse && !is_contiguous(mask) {
                "is not contiguous"
            } else if mask.count_ones() < limits.fewest_bits {
                "has too few bits"
            } else if mask & !limits.full != 0 {
                "has bits that do not exist"
            } else if group.is_real_time(rt_cpus) && mask & limits.shareable != 0 {
                "has bits that devices use, too"
            } else {
                continue;
            };
            all.push(format!("{resource}:{id}={mask:x} of {} {what}", group.shown()));
        }
    }
    for (resource, limits) in &found.limits {
        if found.groups.len() > limits.most_groups {
            all.push(format!(
                "{} groups, and {resource} has {}",
                found.groups.len(),
                limits.most_groups
            ));
        }
    }
    Ok(all)
}

fn is_contiguous(mask: u64) -> bool {
    let run = mask >> mask.trailing_zeros().min(63);
    mask != 0 && run & run.wrapping_add(1) == 0
}

/// Share of the last-level cache that the groups of real-time CPUs have.
pub(super) fn share(found: &Allocation, rt_cpus: &CpuList) -> Option<f64> {
    let own: Vec<&Group> = found
        .groups
        .iter()
        .filter(|group| group.is_real_time(rt_cpus))
        .collect();
    let (resource, limits) = found
        .limits
        .iter()
        .find(|(name, _)| name.starts_with("L3"))
        .or(found.limits.iter().next())?;
    let masks = own
        .iter()
        .filter_map(|group| group.masks.get(resource)?.values().next().copied());
    let together = masks.reduce(|all, mask| all | mask)?;
    Some(f64::from(together.count_ones()) / f64::from(limits.full.count_ones().max(1)))
}

#[cfg(test)]
mod tests {
    use super::{is_contiguous, masks};

    #[test]
    fn masks_are_read_and_judged() {
        let found = masks("    MB:0=100\n    L3:0=0ff;1=fff\n").expect("masks");
        assert_eq!(found["L3"][&1], 0xfff);
        assert!(masks("L3:0\n").is_none());
        for (mask, contiguous) in [
            (0xff, true),
            (0xf00, true),
            (0xf0f, false),
            (0, false),
            (u64::MAX, true),
        ] {
            assert_eq!(is_contiguous(mask), contiguous, "{mask:x}");
        }
    }
}
