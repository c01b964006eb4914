//! Finds every network namespace that a process is in or holds, with its interfaces.

use super::holders::{numbers, text};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use sys::SysError;
use sys::link::{LinkInfo, list, namespace_id};
use sys::netns::NetNs;

/// Folder of named namespaces (ip-netns(8)).
const NAMED: &str = "/run/netns";

/// A network namespace.
pub(super) struct Namespace {
    pub(super) inode: u32,
    /// Its owner; `None`: this process.
    pub(super) whose: Option<String>,
    pub(super) links: Vec<LinkInfo>,
    /// Its numbers for other namespaces, which identify the places of peers.
    pub(super) others: BTreeMap<i32, u32>,
}

/// All namespaces, that of this process first, and the reason why some cannot be entered.
pub(super) fn all() -> Result<(Vec<Namespace>, Option<String>), SysError> {
    let own = NetNs::current()?;
    let own_inode = own.inode()?;
    let mut found = vec![(own_inode, None, own)];
    let mut refused = 0;
    for (inode, (path, whose)) in places() {
        if inode == own_inode {
            continue;
        }
        match NetNs::open(&path) {
            // A descriptor of another process may by now refer to something else: then that process no longer holds the namespace.
            Ok(namespace) if namespace.inode().ok() != Some(inode) => {}
            Ok(namespace) => found.push((inode, Some(whose), namespace)),
            Err(_) => refused += 1,
        }
    }
    let mut namespaces = Vec::new();
    for (inode, whose, namespace) in &found {
        let looked = || -> Result<_, SysError> { Ok((list()?, ids(&found, *inode)?)) };
        let entered = if whose.is_none() {
            looked()
        } else {
            namespace.run(looked).flatten()
        };
        match entered {
            Ok((links, others)) => namespaces.push(Namespace {
                inode: *inode,
                whose: whose.clone(),
                links,
                others,
            }),
            Err(error) if whose.is_none() => return Err(error),
            Err(_) => refused += 1,
        }
    }
    let unseen = format!("{refused} network namespaces cannot be entered (that needs CAP_SYS_ADMIN)");
    Ok((namespaces, (refused > 0).then_some(unseen)))
}

type Found = (u32, Option<String>, NetNs);

/// The numbers of other namespaces in the calling thread's namespace.
fn ids(all: &[Found], own: u32) -> Result<BTreeMap<i32, u32>, SysError> {
    let mut ids = BTreeMap::new();
    for (inode, _, namespace) in all.iter().filter(|(inode, ..)| *inode != own) {
        if let Some(id) = namespace_id(namespace)? {
            ids.insert(id, *inode);
        }
    }
    Ok(ids)
}

/// Owners of network namespaces by inode number, as far as they can be read.
pub fn namespace_owners() -> BTreeMap<u32, String> {
    let places = places().into_iter();
    places.map(|(inode, (_, whose))| (inode, whose)).collect()
}

/// For each inode, a file that represents the namespace, and its owner.
fn places() -> BTreeMap<u32, (PathBuf, String)> {
    let mut places = BTreeMap::new();
    let proc = Path::new("/proc");
    for pid in numbers(proc) {
        let path = proc.join(pid.to_string()).join("ns/net");
        if let Some(inode) = inode_of(&path) {
            places.entry(inode).or_insert_with(|| (path, owner(proc, pid)));
        }
    }
    for entry in std::fs::read_dir(NAMED).into_iter().flatten().flatten() {
        if let Some(inode) = inode_of(&entry.path()) {
            let name = entry.file_name().to_string_lossy().into_owned();
            places.entry(inode).or_insert_with(|| (entry.path(), name));
        }
    }
    held_by_descriptor(proc, &mut places);
    places
}

/// Adds namespaces that no process is in, but some process holds open.
fn held_by_descriptor(proc: &Path, places: &mut BTreeMap<u32, (PathBuf, String)>) {
    for pid in numbers(proc) {
        let directory = proc.join(pid.to_string()).join("fd");
        for descriptor in numbers(&directory) {
            let path = directory.join(descriptor.to_string());
            let Ok(target) = std::fs::read_link(&path) else {
                continue;
            };
            let inode = target.to_string_lossy();
            let inode = inode
                .strip_prefix("net:[")
                .and_then(|rest| rest.strip_suffix(']')?.parse().ok());
            if let Some(inode) = inode {
                places.entry(inode).or_insert_with(|| (path, owner(proc, pid)));
            }
        }
    }
}

/// The container of a process, or else the process.
fn owner(proc: &Path, pid: u32) -> String {
    let process = proc.join(pid.to_string());
    let name = text(&process.join("comm")).trim().to_owned();
    match container(&text(&process.join("cgroup"))) {
        Some(container) => format!("container {container} (pid {pid}, {name})"),
        None => format!("process {name} (pid {pid})"),
    }
}

/// The name that a container's runtime gave it, from the paths of its control groups: docker and podman use 64 hexadecimal digits,
/// LXC and systemd-nspawn names.
fn container(cgroups: &str) -> Option<String> {
    let paths = cgroups.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    let parts = paths.flat_map(|path| path.split('/').map(str::to_owned).collect::<Vec<_>>());
    parts.into_iter().find_map(|part| {
        let digits = part.rsplit('-').next().unwrap_or(&part).trim_end_matches(".scope");
        let is_id = digits.len() == 64 && digits.chars().all(|c| c.is_ascii_hexdigit());
        if is_id {
            // The short form that its runtime shows.
            return Some(digits[..12].to_owned());
        }
        let named = part
            .strip_prefix("lxc.payload.")
            .or_else(|| part.strip_prefix("machine-"));
        named.map(|name| name.trim_end_matches(".scope").to_owned())
    })
}

/// The inode number of a namespace, from a file that represents it.
pub(super) fn inode_of(path: &Path) -> Option<u32> {
    u32::try_from(std::fs::metadata(path).ok()?.ino()).ok()
}

#[cfg(test)]
mod tests {
    use super::container;

    #[test]
    fn containers_are_named_as_their_runtimes_do() {
        let id = "3f2a".repeat(16);
        assert_eq!(
            container(&format!("4:cpu:/docker/{id}\n")).as_deref(),
            Some("3f2a3f2a3f2a")
        );
        assert_eq!(
            container(&format!("0::/machine.slice/libpod-{id}.scope/container")).as_deref(),
            Some("3f2a3f2a3f2a")
        );
        assert_eq!(
            container("0::/lxc.payload.relay1/init.scope").as_deref(),
            Some("relay1")
        );
        assert_eq!(container("0::/system.slice/ssh.service\n1:cpu:/\n"), None);
    }
}
