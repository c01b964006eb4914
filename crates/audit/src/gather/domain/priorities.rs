//! Finds vCPUs of a running domain that need another policy, by QEMU's thread names: `CPU 3/KVM`.

use super::moves::running;
use crate::definition::domain::Domain;
use host::reader::Reader;
use host::stat::ThreadStat;

/// Policy of a vCPU if its definition asks for none that can be applied (libvirt kvm-realtime; TuneD realtime-virtual-host).
const LOWEST: (&str, u32) = ("fifo", 1);

/// A vCPU thread and its wanted policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Priority {
    pub tid: u32,
    /// Start time in clock ticks since boot.
    pub started_ticks: u64,
    pub name: String,
    /// Policy and priority, such as `fifo:1`.
    pub policy: String,
    /// Priority in `policy`.
    pub priority: u32,
}

/// vCPUs that are not real-time threads, or that differ from their definition.
///
/// # Errors
/// The domain does not run, or none of its threads is a vCPU.
pub fn priorities(reader: &Reader, name: &str) -> Result<Vec<Priority>, String> {
    let (domain, process) = running(reader, name)?;
    let folder = format!("/proc/{}/task", process.pid);
    let names = reader.names(&folder, |name| name.bytes().all(|octet| octet.is_ascii_digit()));
    let (mut vcpus, mut found) = (0, Vec::new());
    for task in names.map_err(|error| error.to_string())? {
        let Some((tid, stat)) = thread(reader, &folder, &task) else {
            continue;
        };
        let Some(vcpu) = vcpu(&stat.name) else { continue };
        vcpus += 1;
        let (policy, priority) = wanted(&domain, vcpu);
        let policy = format!("{policy}:{priority}");
        if stat.policy.as_ref() != Some(&policy) {
            found.push(Priority {
                tid,
                started_ticks: stat.started_ticks,
                name: stat.name,
                policy,
                priority,
            });
        }
    }
    match vcpus {
        0 => Err(format!("{name}: process {} has no thread CPU n/KVM", process.pid)),
        _ => Ok(found),
    }
}

/// Returns `None` if it has ended.
fn thread(reader: &Reader, folder: &str, task: &str) -> Option<(u32, ThreadStat)> {
    let line = reader.line(&format!("{folder}/{task}/stat")).ok()?;
    Some((task.parse().ok()?, ThreadStat::parse(&line)?))
}

/// Number of the vCPU that a thread of this name runs.
fn vcpu(name: &str) -> Option<u32> {
    name.strip_prefix("CPU ")?.strip_suffix("/KVM")?.parse().ok()
}

fn wanted(domain: &Domain, vcpu: u32) -> (&str, u32) {
    match domain.tuning.policies.get(&vcpu) {
        Some((policy, priority)) if ["fifo", "rr"].contains(&policy.as_str()) && *priority >= 1 => (policy, *priority),
        _ => LOWEST,
    }
}
