//! Threads of other processes with CPUs to themselves: pinned virtual CPUs, pinned real-time threads.

use std::fmt;

use units::CpuList;

use super::CpuFacts;
use crate::container;
use crate::error::HostError;
use crate::reader::Reader;
use crate::stat::ThreadStat;

/// Reason that a CPU counts as a thread's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ownership {
    /// A virtual CPU of a virtual machine, pinned.
    VirtualCpu,
    /// A real-time thread that is not allowed on all CPUs.
    RealTime,
    /// Another thread that was bound to CPUs which the kernel keeps free.
    Pinned,
}

/// A thread of another process with CPUs to itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Process id.
    pub pid: u32,
    /// Name of its process.
    pub process: String,
    /// Its own name.
    pub thread: String,
    /// Policy: `fifo:50`, `other`.
    pub policy: String,
    /// The CPUs.
    pub cpus: CpuList,
    /// Reason that they are its own.
    pub ownership: Ownership,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            pid, process, thread, ..
        } = self;
        let what = match self.ownership {
            Ownership::VirtualCpu => "virtual CPU",
            Ownership::RealTime => "real-time thread",
            Ownership::Pinned => "pinned thread",
        };
        write!(f, "{what} {thread} of {process} (pid {pid}, {})", self.policy)
    }
}

/// Owners among all visible threads of other processes.
pub(super) fn read(reader: &Reader, facts: &CpuFacts) -> Result<Vec<Owner>, HostError> {
    let own = own_number(reader);
    let mut owners = Vec::new();
    let mut seen = 0;
    for pid in numbers(reader, "/proc")? {
        let directory = format!("/proc/{pid}");
        // A process that ends during the reading owns nothing.
        let Some(process) = thread(reader, &directory) else {
            continue;
        };
        if Some(pid) == own {
            continue;
        }
        seen += 1;
        // Kernel threads are part of the machine, except for vhost threads, which move frames for a virtual machine.
        if process.is_kernel && !process.name.starts_with("vhost-") {
            continue;
        }
        for task in numbers(reader, &format!("{directory}/task")).unwrap_or_default() {
            let owner = owner(reader, facts, pid, &process.name, &format!("{directory}/task/{task}"));
            owners.extend(owner);
        }
    }
    match container::detect(reader) {
        _ if seen == 0 => Err(HostError::Undecided("no other process can be seen".to_owned())),
        Ok(found) if found.runtime.is_some() && owners.is_empty() => Err(HostError::Undecided(
            "in a container: the host's processes cannot be seen".to_owned(),
        )),
        _ => Ok(owners),
    }
}

fn owner(reader: &Reader, facts: &CpuFacts, pid: u32, process: &str, directory: &str) -> Option<Owner> {
    let thread = thread(reader, directory)?;
    let allowed = allowed_cpus(reader, directory)?;
    let cpus: CpuList = allowed.iter().filter(|cpu| facts.online.contains(*cpu)).collect();
    if cpus.is_empty() || !is_confined(facts, &cpus) {
        return None;
    }
    let on_free_ones = cpus.without(&facts.isolated).without(&facts.partitions);
    let ownership = if is_virtual_cpu(&thread.name) {
        Ownership::VirtualCpu
    } else if thread.is_real_time {
        Ownership::RealTime
    } else if on_free_ones.without(&facts.nohz_full).is_empty() {
        Ownership::Pinned
    } else {
        return None;
    };
    Some(Owner {
        pid,
        process: process.to_owned(),
        thread: thread.name,
        policy: thread.policy.unwrap_or_else(|| "policy unknown".to_owned()),
        cpus,
        ownership,
    })
}

/// CPUs that a thread may run on.
pub(super) fn allowed_cpus(reader: &Reader, directory: &str) -> Option<CpuList> {
    let status = reader.text(&format!("{directory}/status")).ok()?;
    let mut lines = status.lines();
    lines
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?
        .parse()
        .ok()
}

/// True if some CPU with load balancing is not among `cpus`; if no CPU has load balancing, true if some online CPU is not.
fn is_confined(facts: &CpuFacts, cpus: &CpuList) -> bool {
    let ordinary = facts.online.without(&facts.isolated).without(&facts.partitions);
    let everyones = if ordinary.is_empty() { &facts.online } else { &ordinary };
    !everyones.without(cpus).is_empty()
}

/// Names of virtual CPU threads: QEMU (`CPU 0/KVM`), Firecracker (`fc_vcpu 0`), Cloud Hypervisor (`vcpu0`).
pub fn is_virtual_cpu(name: &str) -> bool {
    name.ends_with("/KVM") || name.starts_with("fc_vcpu") || name.starts_with("vcpu")
}

pub(super) fn thread(reader: &Reader, directory: &str) -> Option<ThreadStat> {
    ThreadStat::parse(&reader.line(&format!("{directory}/stat")).ok()?)
}

/// Id of this process in the tree that is read.
pub fn own_number(reader: &Reader) -> Option<u32> {
    reader.target("/proc/self").ok()?.file_name()?.to_str()?.parse().ok()
}

/// Entries of a folder whose names are numbers: processes, threads.
///
/// # Errors
/// The folder cannot be listed.
pub fn numbers(reader: &Reader, directory: &str) -> Result<Vec<u32>, HostError> {
    let names = reader.names(directory, |name| name.bytes().all(|octet| octet.is_ascii_digit()))?;
    Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
}
