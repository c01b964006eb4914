//! The kernel's counts for caches and memory bandwidth, by groups of CPUs (Linux: filesystems/resctrl.rst, mon_data).
//!
//! To read a counter, the kernel lets a CPU of the cache's domain ask its hardware: the first one outside `nohz_full`. If that CPU is
//! measured, the request would appear in the figures, or wait for a thread that spins there; such a counter is not read.

use std::collections::BTreeMap;

use units::CpuList;

use crate::error::HostError;
use crate::isolation;
use crate::reader::Reader;

const ROOT: &str = "/sys/fs/resctrl";
const CPUS: &str = "/sys/devices/system/cpu";
/// Folders of the root that are not groups.
const OTHERS: [&str; 3] = ["info", "mon_groups", "mon_data"];
/// Maximum number of groups whose counters are read.
const MOST_GROUPS: usize = 16;

/// Kinds of counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheCounter {
    /// Bytes of the cache that the group occupies.
    Occupancy,
    /// Bytes that the group moved from and to memory, since some instant.
    Total,
    /// Part of `Total` for this cache's own memory.
    Local,
}

/// Counters, their files, and the suffixes of their names.
const COUNTERS: [(CacheCounter, &str, &str); 3] = [
    (CacheCounter::Occupancy, "llc_occupancy", "occupancy"),
    (CacheCounter::Total, "mbm_total_bytes", "total"),
    (CacheCounter::Local, "mbm_local_bytes", "local"),
];

/// A counter of one group in one domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheMonitor {
    /// Group, domain and counter: `rt/L3:0/occupancy`; for the default group `L3:0/occupancy`.
    pub name: String,
    /// The kind of counter.
    pub counter: CacheCounter,
    path: String,
    /// Reason for not reading it.
    refused: Option<String>,
}

/// Counters of the default group and of every group with one of the `measured` CPUs; empty if no file system for them is mounted.
pub(crate) fn find(reader: &Reader, measured: &CpuList) -> Result<Vec<CacheMonitor>, HostError> {
    if !reader.exists(&format!("{ROOT}/mon_data"))? {
        return Ok(Vec::new());
    }
    let groups = groups(reader, measured)?;
    let mut refusals = BTreeMap::new();
    let mut found = Vec::new();
    for group in groups {
        let folder = format!("{ROOT}/{group}mon_data");
        for domain in reader.names(&folder, |name| name.starts_with("mon_L3_"))? {
            let Ok(id) = domain["mon_L3_".len()..].parse::<u32>() else {
                continue;
            };
            let refused = refusals.entry(id).or_insert_with(|| refusal(reader, id, measured));
            for (counter, file, word) in COUNTERS {
                let path = format!("{folder}/{domain}/{file}");
                if reader.exists(&path)? {
                    found.push(CacheMonitor {
                        name: format!("{group}L3:{id}/{word}"),
                        counter,
                        path,
                        refused: refused.clone(),
                    });
                }
            }
        }
    }
    Ok(found)
}

/// Groups as parts of a path: nothing for the root, else `rt/` or `mon_groups/relay/` or `rt/mon_groups/relay/`.
fn groups(reader: &Reader, measured: &CpuList) -> Result<Vec<String>, HostError> {
    let mut found = vec![String::new()];
    let mut allocating = vec![String::new()];
    for name in reader.names(ROOT, |name| !OTHERS.contains(&name))? {
        let group = format!("{name}/");
        if reader.exists(&format!("{ROOT}/{group}mon_data"))? {
            if has_any(reader, &group, measured) {
                found.push(group.clone());
            }
            allocating.push(group);
        }
    }
    for parent in allocating {
        let names = reader.names(&format!("{ROOT}/{parent}mon_groups"), |_| true);
        for name in names.unwrap_or_default() {
            let group = format!("{parent}mon_groups/{name}/");
            if has_any(reader, &group, measured) {
                found.push(group);
            }
        }
    }
    found.truncate(MOST_GROUPS);
    Ok(found)
}

fn has_any(reader: &Reader, group: &str, measured: &CpuList) -> bool {
    let cpus = reader.cpus(&format!("{ROOT}/{group}cpus_list"));
    cpus.is_ok_and(|cpus| cpus.iter().any(|cpu| measured.contains(cpu)))
}

/// Reason for not reading the counters of this domain, if any.
fn refusal(reader: &Reader, id: u32, measured: &CpuList) -> Option<String> {
    let domain = match domain(reader, id) {
        Ok(domain) => domain,
        Err(error) => return Some(format!("not read: the CPUs of L3 {id} are not known ({error})")),
    };
    let full = match isolation::nohz_full(reader) {
        Ok(full) => full,
        Err(error) => return Some(format!("not read: the CPU that would read it is not known ({error})")),
    };
    let asked = domain.without(&full).first().or(domain.first());
    let asked = asked.filter(|cpu| measured.contains(*cpu))?;
    Some(format!(
        "not read: the kernel would use the measured CPU {asked} to read it (measure other CPUs, or boot with nohz_full for this one)"
    ))
}

/// Online CPUs that share the third-level cache with this id.
fn domain(reader: &Reader, id: u32) -> Result<CpuList, HostError> {
    for cpu in crate::cpu::online(reader)?.iter() {
        let folder = format!("{CPUS}/cpu{cpu}/cache");
        for index in reader.names(&folder, |name| name.starts_with("index"))? {
            let line = |file: &str| reader.line(&format!("{folder}/{index}/{file}"));
            if line("level").is_ok_and(|level| level == "3") && line("id").is_ok_and(|own| own == id.to_string()) {
                return reader.cpus(&format!("{folder}/{index}/shared_cpu_list"));
            }
        }
    }
    Err(HostError::Undecided(format!("{CPUS} lists no such cache")))
}

impl CacheMonitor {
    /// Value in bytes.
    ///
    /// # Errors
    /// There is no value: returns the kernel's own word, such as `Unavailable`, or the reason for not reading it.
    pub(crate) fn read(&self, reader: &Reader) -> Result<u64, String> {
        if let Some(why) = &self.refused {
            return Err(why.clone());
        }
        let line = reader.line(&self.path).map_err(|error| error.to_string())?;
        line.parse()
            .map_err(|_| format!("the kernel reports \"{line}\" ({})", self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::find;
    use crate::reader::Reader;
    use std::fs;
    use std::path::Path;
    use units::CpuList;

    fn put(root: &Path, path: &str, text: &str) {
        let file = root.join(path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(file, text).expect("written");
    }

    /// Four CPUs on two caches; a group `rt` with CPU 1, a group `other` with CPU 3.
    fn tree(root: &Path) {
        put(root, "sys/devices/system/cpu/online", "0-3\n");
        for cpu in 0..4 {
            let folder = format!("sys/devices/system/cpu/cpu{cpu}/cache/index3");
            put(root, &format!("{folder}/level"), "3\n");
            put(root, &format!("{folder}/id"), &format!("{}\n", cpu / 2));
            put(root, &format!("{folder}/shared_cpu_list"), ["0-1\n", "2-3\n"][cpu / 2]);
        }
        for (group, cpus) in [
            ("", "0,2\n"),
            ("rt/", "1\n"),
            ("other/", "3\n"),
            ("mon_groups/m/", "1\n"),
        ] {
            put(root, &format!("sys/fs/resctrl/{group}cpus_list"), cpus);
            for domain in ["mon_L3_00", "mon_L3_01"] {
                let folder = format!("sys/fs/resctrl/{group}mon_data/{domain}");
                put(root, &format!("{folder}/llc_occupancy"), "1024\n");
                put(root, &format!("{folder}/mbm_total_bytes"), "Unavailable\n");
            }
        }
        put(root, "sys/fs/resctrl/info/L3/num_closids", "16\n");
    }

    fn read(root: &Path, cpus: &str) -> Vec<(String, Result<u64, String>)> {
        let reader = Reader::new(root);
        let cpus: CpuList = cpus.parse().expect("CPUs");
        let found = find(&reader, &cpus).expect("found");
        found.iter().map(|one| (one.name.clone(), one.read(&reader))).collect()
    }

    #[test]
    fn groups_of_measured_cpus_and_the_default_group_are_read() {
        let root = tempfile::tempdir().expect("tempdir");
        tree(root.path());
        let found = read(root.path(), "1");
        let names: Vec<&str> = found.iter().map(|(name, _)| &**name).collect();
        assert_eq!(
            names,
            [
                "L3:0/occupancy",
                "L3:0/total",
                "L3:1/occupancy",
                "L3:1/total",
                "rt/L3:0/occupancy",
                "rt/L3:0/total",
                "rt/L3:1/occupancy",
                "rt/L3:1/total",
                "mon_groups/m/L3:0/occupancy",
                "mon_groups/m/L3:0/total",
                "mon_groups/m/L3:1/occupancy",
                "mon_groups/m/L3:1/total",
            ]
        );
        assert_eq!(found[4].1, Ok(1024));
        let why = found[5].1.as_ref().expect_err("no number");
        assert!(why.starts_with("the kernel reports \"Unavailable\""), "{why}");
    }

    #[test]
    fn what_a_measured_cpu_would_have_to_read_is_not_read() {
        let root = tempfile::tempdir().expect("tempdir");
        tree(root.path());
        let of_domain = |cpus: &str, domain: usize| {
            let found = read(root.path(), cpus);
            found[2 * domain]
                .1
                .clone()
                .map_err(|why| why.split(" (").next().unwrap_or_default().to_owned())
        };
        let refused = Err("not read: the kernel would use the measured CPU 0 to read it".to_owned());
        assert_eq!(of_domain("0", 0), refused);
        assert_eq!(of_domain("0", 1), Ok(1024));
        put(root.path(), "sys/devices/system/cpu/nohz_full", "0\n");
        assert_eq!(of_domain("0", 0), Ok(1024), "CPU 1 is asked then");
        put(root.path(), "sys/devices/system/cpu/nohz_full", "0-1\n");
        assert_eq!(of_domain("0", 0), refused, "none is left");
    }

    #[test]
    fn without_the_file_system_there_is_nothing() {
        let root = tempfile::tempdir().expect("tempdir");
        put(root.path(), "sys/devices/system/cpu/online", "0\n");
        assert_eq!(read(root.path(), "0"), []);
    }
}
