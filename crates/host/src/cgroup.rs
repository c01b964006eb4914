//! Control groups: which hierarchies are mounted, and where this process is in them.

use crate::error::HostError;
use crate::mounts::{self, Mount};
use crate::reader::Reader;

pub(crate) const OWN: &str = "/proc/self/cgroup";

/// The mounted hierarchies.
pub(crate) struct Hierarchy {
    mounts: Vec<Mount>,
}

/// Where a process is in one hierarchy: a line of `/proc/self/cgroup`.
pub(crate) struct Membership {
    /// Controllers of the hierarchy; none for version 2.
    pub(crate) controllers: Vec<String>,
    /// Path of the group.
    pub(crate) path: String,
}

/// A group's directories, from its own up to the mount point.
pub(crate) struct Group {
    pub(crate) version: u8,
    pub(crate) directories: Vec<String>,
}

impl Hierarchy {
    pub(crate) fn read(reader: &Reader) -> Result<Self, HostError> {
        let mounts = mounts::read(reader)?;
        Ok(Self {
            mounts: mounts
                .into_iter()
                .filter(|mount| mount.kind == "cgroup" || mount.kind == "cgroup2")
                .collect(),
        })
    }

    /// Where version 2 is mounted.
    pub(crate) fn unified_mount(&self) -> Option<String> {
        self.unified().map(|mount| mount.point.clone())
    }

    /// Which versions are mounted.
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

    /// The group of this process for `controller`: in the version 1 hierarchy that has it, else in version 2.
    pub(crate) fn own_group(&self, reader: &Reader, controller: &str) -> Result<Group, HostError> {
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

    /// The version that has `controller`, and where it is mounted.
    pub(crate) fn mount_of(&self, controller: &str) -> Option<(u8, String)> {
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

/// Lines such as `3:cpu,cpuacct:/path` and `0::/path`.
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
    // In a cgroup namespace the mount's root and the path are both as seen from the namespace. A path that leaves it
    // (`/../x`) has no directory here: then only the mount point is left to look at.
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

/// Whether a version 1 cpu controller shows real-time budgets, which only kernels with RT group scheduling do, and the
/// file that tells. `None`: there is no such controller.
pub(crate) fn rt_budget_file(reader: &Reader) -> Result<Option<(String, bool)>, HostError> {
    let hierarchy = Hierarchy::read(reader)?;
    let Some(mount) = hierarchy.legacy("cpu") else {
        return Ok(None);
    };
    let path = format!("{}/cpu.rt_runtime_us", mount.point);
    let exists = reader.exists(&path)?;
    Ok(Some((path, exists)))
}
