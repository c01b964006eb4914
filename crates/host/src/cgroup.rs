//! Control groups: mounted hierarchies, and the groups of this process in them.

use crate::error::HostError;
use crate::mounts::{self, Mount};
use crate::reader::Reader;
use crate::scheduler::RtRuntime;

pub(crate) const OWN: &str = "/proc/self/cgroup";

/// The mounted hierarchies.
pub struct Hierarchy {
    mounts: Vec<Mount>,
}

/// Place of a process in one hierarchy: a line of `/proc/self/cgroup`.
pub(crate) struct Membership {
    /// Controllers of the hierarchy; empty for version 2.
    pub(crate) controllers: Vec<String>,
    /// Path of the group.
    pub(crate) path: String,
}

/// Directories of a group, from its own up to the mount point.
pub struct Group {
    /// Version of control groups: 1 or 2.
    pub version: u8,
    /// Full paths, the group's own first.
    pub directories: Vec<String>,
}

impl Hierarchy {
    /// Reads the mounts.
    ///
    /// # Errors
    /// The mounts cannot be read.
    pub fn read(reader: &Reader) -> Result<Self, HostError> {
        let mounts = mounts::read(reader)?;
        Ok(Self {
            mounts: mounts
                .into_iter()
                .filter(|mount| mount.kind == "cgroup" || mount.kind == "cgroup2")
                .collect(),
        })
    }

    /// Mount point of version 2.
    pub(crate) fn unified_mount(&self) -> Option<String> {
        self.unified().map(|mount| mount.point.clone())
    }

    /// Versions that are mounted.
    pub(crate) fn version(&self) -> &'static str {
        match (
            self.mounts.iter().any(|mount| mount.kind == "cgroup"),
            self.unified().is_some(),
        ) {
            (true, true) => "version 1 and 2 side by side",
            (true, false) => "version 1",
            (false, true) => "version 2",
            (false, false) => "not mounted",
        }
    }

    /// Group of this process for `controller`: in the version 1 hierarchy with that controller, else in version 2.
    pub fn own_group(&self, reader: &Reader, controller: &str) -> Result<Group, HostError> {
        let memberships = memberships(reader)?;
        if let Some(mount) = self.legacy(controller) {
            let own = memberships
                .iter()
                .find(|own| own.controllers.iter().any(|name| name == controller));
            return group(1, mount, own);
        }
        match self.unified() {
            Some(mount) => group(2, mount, memberships.iter().find(|own| own.controllers.is_empty())),
            None => Err(HostError::Undecided("no cgroup file system is mounted".to_owned())),
        }
    }

    /// Version that has `controller`, and its mount point.
    pub fn mount_of(&self, controller: &str) -> Option<(u8, String)> {
        let legacy = self.legacy(controller).map(|mount| (1, mount.point.clone()));
        legacy.or_else(|| self.unified_mount().map(|point| (2, point)))
    }

    fn legacy(&self, controller: &str) -> Option<&Mount> {
        let has = |mount: &&Mount| mount.kind == "cgroup" && mount.options.iter().any(|option| option == controller);
        self.mounts.iter().find(has)
    }

    fn unified(&self) -> Option<&Mount> {
        self.mounts.iter().find(|mount| mount.kind == "cgroup2")
    }
}

/// Parses lines such as `3:cpu,cpuacct:/path` and `0::/path`.
pub(crate) fn memberships(reader: &Reader) -> Result<Vec<Membership>, HostError> {
    let text = reader.text(OWN)?;
    let memberships: Vec<Membership> = text.lines().filter_map(membership).collect();
    if memberships.is_empty() {
        Err(HostError::unexpected(OWN, "lines such as 0::/", &text))
    } else {
        Ok(memberships)
    }
}

fn membership(line: &str) -> Option<Membership> {
    let (_, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(':')?;
    let controllers = controllers
        .split(',')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    path.starts_with('/').then(|| Membership {
        controllers,
        path: path.to_owned(),
    })
}

fn group(version: u8, mount: &Mount, own: Option<&Membership>) -> Result<Group, HostError> {
    let own = own.ok_or_else(|| HostError::Undecided(format!("{OWN} has no line of that hierarchy")))?;
    // In a cgroup namespace, both the mount's root and the path are relative to the namespace. A path that leaves it (`/../x`) has no
    // directory here: then only the mount point remains.
    let path = if mount.root == "/" {
        own.path.as_str()
    } else {
        own.path.strip_prefix(mount.root.as_str()).unwrap_or("/")
    };
    let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
    let names = if names.contains(&"..") { Vec::new() } else { names };
    let directory = |depth: usize| [&[mount.point.as_str()], &names[..depth]].concat().join("/");
    Ok(Group {
        version,
        directories: (0..=names.len()).rev().map(directory).collect(),
    })
}

/// Path of the version 1 cpu controller's file with the real-time budget, and true if it exists: only kernels with RT group scheduling have
/// it. `None` without such a controller.
pub(crate) fn rt_budget_file(reader: &Reader) -> Result<Option<(String, bool)>, HostError> {
    let hierarchy = Hierarchy::read(reader)?;
    let Some(mount) = hierarchy.legacy("cpu") else {
        return Ok(None);
    };
    let path = format!("{}/cpu.rt_runtime_us", mount.point);
    let exists = reader.exists(&path)?;
    // The kernel creates both files or neither (kernel/sched/core.c, cpu_legacy_files).
    let period = format!("{}/cpu.rt_period_us", mount.point);
    if !exists && reader.exists(&period)? {
        return Err(HostError::Undecided(format!(
            "{path} is missing, and {period} is there"
        )));
    }
    // Every version 1 group of the controller contains its files.
    let has_files = || reader.names(&mount.point, |name| name.starts_with("cpu."));
    if !exists && !has_files().is_ok_and(|names| !names.is_empty()) {
        return Err(HostError::Undecided(format!(
            "{}: no file of the cpu controller is there",
            mount.point
        )));
    }
    Ok(Some((path, exists)))
}

/// Budget of the own group; `None`: this kernel gives groups no budget, or they are of version 2.
pub(crate) fn rt_runtime(reader: &Reader) -> Result<Option<RtRuntime>, HostError> {
    if !rt_budget_file(reader)?.is_some_and(|(_, exists)| exists) {
        return Ok(None);
    }
    let group = Hierarchy::read(reader)?.own_group(reader, "cpu")?;
    let directory = &group.directories[0];
    let file = |name: &str| format!("{directory}/{name}");
    Ok(Some(RtRuntime {
        runtime_us: reader.parsed(&file("cpu.rt_runtime_us"), "a number of microseconds, or -1")?,
        period_us: reader.parsed(&file("cpu.rt_period_us"), "a number of microseconds")?,
    }))
}

/// Budget of the top group less those of the groups below it, in us per second.
pub(crate) fn rt_budget_left_us(reader: &Reader) -> Option<u64> {
    let (path, _) = rt_budget_file(reader).ok()?.filter(|(_, exists)| *exists)?;
    let root = path.strip_suffix("/cpu.rt_runtime_us")?;
    let of = |directory: &str| {
        let number = |name: &str| {
            reader
                .text(&format!("{directory}/{name}"))
                .ok()?
                .trim()
                .parse::<u64>()
                .ok()
        };
        let (runtime, period) = (number("cpu.rt_runtime_us")?, number("cpu.rt_period_us")?);
        (period > 0).then(|| runtime.saturating_mul(1_000_000) / period)
    };
    let taken: u64 = reader
        .names(root, |_| true)
        .ok()?
        .iter()
        .filter_map(|name| of(&format!("{root}/{name}")))
        .sum();
    Some(of(root)?.saturating_sub(taken))
}

/// Memory of a control group with a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupMemory {
    /// Directory of the group.
    pub directory: String,
    /// Maximum in bytes for its processes: above it, the kernel ends or delays one of them.
    pub limit: u64,
    /// Bytes in use, without file pages, which the kernel can reclaim when needed.
    pub held: u64,
}

impl GroupMemory {
    /// Bytes that are left.
    pub fn left(&self) -> u64 {
        self.limit.saturating_sub(self.held)
    }
}

/// Group of this process, or an ancestor, with the least memory left; `None` if no limit can be read.
pub(crate) fn memory(reader: &Reader) -> Option<GroupMemory> {
    let group = Hierarchy::read(reader).ok()?.own_group(reader, "memory").ok()?;
    let (limits, used, files): (&[&str], _, _) = match group.version {
        1 => (&["memory.limit_in_bytes"], "memory.usage_in_bytes", "total_cache"),
        _ => (&["memory.max", "memory.high"], "memory.current", "file"),
    };
    let of = |directory: &String| {
        let text = |name: &str| reader.text(&format!("{directory}/{name}")).ok();
        // `max` is not a number; a limit above any machine's memory is no limit (version 1 always shows one).
        let limit = limits.iter().filter_map(|name| text(name)?.trim().parse().ok()).min();
        let limit = limit.filter(|limit| *limit < NO_LIMIT)?;
        let used: u64 = text(used)?.trim().parse().ok()?;
        let stat = text("memory.stat").unwrap_or_default();
        let in_files = stat
            .lines()
            .find_map(|line| line.strip_prefix(files)?.trim().parse().ok());
        Some(GroupMemory {
            directory: directory.clone(),
            limit,
            held: used.saturating_sub(in_files.unwrap_or(0)),
        })
    };
    group.directories.iter().filter_map(of).min_by_key(GroupMemory::left)
}

/// From this value on there is no limit: version 1 writes almost 2^63.
const NO_LIMIT: u64 = 1 << 60;

#[cfg(test)]
mod tests {
    use super::{memory, rt_budget_left_us, rt_runtime};
    use crate::reader::Reader;
    use crate::scheduler::RtRuntime;
    use std::fs;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a directory");
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
        root
    }

    #[test]
    fn the_group_with_the_least_memory_left_counts() {
        let root = tree(&[
            (
                "proc/self/mountinfo",
                "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
            ),
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/b/memory.high", "104857600\n"),
            ("sys/fs/cgroup/a/b/memory.current", "5000000\n"),
            (
                "sys/fs/cgroup/a/b/memory.stat",
                "anon 1000000\nfile_mapped 3\nfile 4000000\n",
            ),
            ("sys/fs/cgroup/a/memory.max", "67108864\n"),
            ("sys/fs/cgroup/a/memory.current", "9000000\n"),
        ]);
        let found = memory(&Reader::new(root.path())).expect("a limit");
        assert_eq!((found.directory.as_str(), found.limit), ("/sys/fs/cgroup/a", 64 << 20));
        assert_eq!((found.held, found.left()), (9_000_000, (64 << 20) - 9_000_000));
        fs::write(root.path().join("sys/fs/cgroup/a/memory.max"), "max\n").expect("written");
        let found = memory(&Reader::new(root.path())).expect("a limit");
        assert_eq!(
            (found.limit, found.held),
            (100 << 20, 1_000_000),
            "what can be given back is not held"
        );
    }

    #[test]
    fn budgets_of_groups_are_what_the_own_one_has_and_what_all_leave() {
        let mounts = "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu,cpuacct 0 0\n";
        let root = tree(&[
            ("proc/self/mounts", mounts),
            ("proc/mounts", mounts),
            (
                "proc/self/mountinfo",
                "30 25 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n",
            ),
            ("proc/self/cgroup", "3:cpu,cpuacct:/relay\n"),
            ("sys/fs/cgroup/cpu/cpu.shares", "1024\n"),
            ("sys/fs/cgroup/cpu/cpu.rt_runtime_us", "950000\n"),
            ("sys/fs/cgroup/cpu/cpu.rt_period_us", "1000000\n"),
            ("sys/fs/cgroup/cpu/relay/cpu.rt_runtime_us", "200000\n"),
            ("sys/fs/cgroup/cpu/relay/cpu.rt_period_us", "500000\n"),
            ("sys/fs/cgroup/cpu/other/cpu.rt_runtime_us", "0\n"),
            ("sys/fs/cgroup/cpu/other/cpu.rt_period_us", "1000000\n"),
        ]);
        let reader = Reader::new(root.path());
        let own = RtRuntime {
            runtime_us: 200_000,
            period_us: 500_000,
        };
        assert_eq!(rt_runtime(&reader).expect("a group"), Some(own));
        assert_eq!(rt_budget_left_us(&reader), Some(550_000));
        fs::remove_file(root.path().join("sys/fs/cgroup/cpu/cpu.rt_runtime_us")).expect("removed");
        assert!(rt_runtime(&reader).is_err(), "the kernel makes both or none");
        fs::remove_file(root.path().join("sys/fs/cgroup/cpu/cpu.rt_period_us")).expect("removed");
        assert_eq!(
            (rt_runtime(&reader).expect("none"), rt_budget_left_us(&reader)),
            (None, None)
        );
        fs::remove_file(root.path().join("sys/fs/cgroup/cpu/cpu.shares")).expect("removed");
        assert!(rt_runtime(&reader).is_err(), "a controller without files is none");
    }
}
