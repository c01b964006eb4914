//! Detects a container around this process.
//!
//! No single file is conclusive: `/.dockerenv` also exists in virtual machines whose disk was made from a container image, and a container
//! may share the host's process namespace. All findings are kept as evidence.

use crate::error::HostError;
use crate::mounts;
use crate::reader::Reader;

/// The container in which this process runs, if any, with the evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Container {
    /// Program that runs the container, such as `docker`; `None`: no container.
    pub runtime: Option<String>,
    /// Evidence, each piece with its file; never empty.
    pub evidence: Vec<String>,
}

/// Pieces of a cgroup path, and the runtime that makes such paths. A path that begins with `/..` belongs to a process outside this cgroup
/// namespace, so this process is in one.
const PATHS: [(&str, &str); 8] = [
    ("kubepods", "kubernetes"),
    ("/docker/", "docker"),
    ("docker-", "docker"),
    ("libpod", "podman"),
    ("/lxc", "lxc"),
    ("machine.slice/systemd-nspawn", "systemd-nspawn"),
    ("cri-containerd", "containerd"),
    ("/../", UNNAMED),
];

/// Name of a runtime that no evidence names.
const UNNAMED: &str = "of unknown make";

/// Detects a container around this process: see [`crate::Host::container`].
///
/// # Errors
/// No conclusive file can be read.
pub fn detect(reader: &Reader) -> Result<Container, HostError> {
    let mut evidence = Vec::new();
    let named = by_environment(reader, &mut evidence)
        .or_else(|| by_marker(reader, &mut evidence))
        .or_else(|| by_cgroup(reader, &mut evidence));
    let docker_file = reader.exists("/.dockerenv").unwrap_or(false);
    if docker_file {
        evidence.push("/.dockerenv exists".to_owned());
    }
    let own_root = layered_root(reader, &mut evidence);
    let own_processes = own_processes(reader, &mut evidence);
    let runtime = match (named, own_root, own_processes) {
        (Some(runtime), _, _) => Some(runtime),
        (None, Some(true), _) if docker_file => Some("docker".to_owned()),
        (None, _, Some(true)) if docker_file => Some("docker".to_owned()),
        (None, _, Some(true)) => Some(UNNAMED.to_owned()),
        (None, _, Some(false)) | (None, Some(false), None) => None,
        (None, _, None) => {
            return Err(HostError::Undecided(
                "neither process 1 nor the root mount can be read".to_owned(),
            ));
        }
    };
    Ok(Container { runtime, evidence })
}

/// Runtimes that follow systemd's container interface set `container=` in the environment of process 1.
fn by_environment(reader: &Reader, evidence: &mut Vec<String>) -> Option<String> {
    let path = "/proc/1/environ";
    let bytes = reader.bytes(path, 1 << 20).ok()?;
    let value = bytes
        .split(|&b| b == 0)
        .find_map(|entry| entry.strip_prefix(b"container="))?;
    let value: String = String::from_utf8_lossy(value)
        .chars()
        .filter(|c| !c.is_control())
        .take(40)
        .collect();
    evidence.push(format!("container={value} in {path}"));
    Some(if value.is_empty() { UNNAMED.to_owned() } else { value })
}

fn by_marker(reader: &Reader, evidence: &mut Vec<String>) -> Option<String> {
    if reader.exists("/run/.containerenv").unwrap_or(false) {
        evidence.push("/run/.containerenv exists".to_owned());
        return Some("podman".to_owned());
    }
    let path = "/run/systemd/container";
    let value = reader.line(path).ok()?;
    evidence.push(format!("{value} in {path}"));
    Some(value)
}

fn by_cgroup(reader: &Reader, evidence: &mut Vec<String>) -> Option<String> {
    ["/proc/1/cgroup", "/proc/self/cgroup"].into_iter().find_map(|path| {
        let text = reader.text(path).ok()?;
        let (piece, runtime) = PATHS.iter().find(|(piece, _)| text.contains(piece))?;
        evidence.push(format!("{piece} in {path}"));
        Some((*runtime).to_owned())
    })
}

/// True if the root file system is layered over an image, or is a directory of another file system.
fn layered_root(reader: &Reader, evidence: &mut Vec<String>) -> Option<bool> {
    let mounts = mounts::read(reader).ok()?;
    let root = mounts.iter().rfind(|mount| mount.point == "/")?;
    let layered = root.kind.contains("overlay") || root.kind == "aufs" || root.root != "/";
    evidence.push(format!("root is {} on {} in {}", root.kind, root.source, mounts::PATH));
    Some(layered)
}

/// The kernel thread `kthreadd` is process 2 of the host: if process 2 is missing or another program, process 1 is the first of a namespace
/// of its own.
fn own_processes(reader: &Reader, evidence: &mut Vec<String>) -> Option<bool> {
    let path = "/proc/2/comm";
    reader.line("/proc/1/comm").ok()?;
    let own = match reader.line(path) {
        Ok(name) => name != "kthreadd",
        Err(error) if error.is_absent() => true,
        Err(_) => return None,
    };
    let what = if own {
        "no kernel threads among the processes"
    } else {
        "kernel threads among the processes"
    };
    evidence.push(format!("{what} ({path})"));
    Some(own)
}
