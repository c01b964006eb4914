//! CPUs: which exist, which of them this process may use, and pinning to one.

use crate::error::SysError;
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::sync::OnceLock;
use units::CpuList;

/// The CPUs that are online (`/sys/devices/system/cpu/online`).
pub fn online_cpus() -> CpuList {
    read_list("/sys/devices/system/cpu/online")
        .unwrap_or_else(|| (0..std::thread::available_parallelism().map_or(1, |n| n.get() as u32)).collect())
}

/// The CPUs that this process was allowed to use when this function, or [`super::RtThread::enter`], was first called.
///
/// It is the affinity of the process's first thread at that moment, so `taskset` and cpusets count.
pub fn allowed_cpus() -> CpuList {
    static AT_START: OnceLock<CpuList> = OnceLock::new();
    AT_START
        .get_or_init(|| match sched_getaffinity(Some(rustix::process::getpid())) {
            Ok(set) => members(&set),
            Err(_) => online_cpus(),
        })
        .clone()
}

/// CPUs of a machine, as far as a thread can run on them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuSets {
    /// CPUs that exist.
    pub present: CpuList,
    /// CPUs that are switched on.
    pub online: CpuList,
    /// CPUs that the cpuset of this process allows; empty if unknown.
    pub cpuset: CpuList,
}

impl CpuSets {
    /// The CPUs of this machine, for this process.
    pub fn live() -> Self {
        Self {
            cpuset: cpuset_cpus(),
            ..Self::of_machine()
        }
    }

    /// The CPUs of this machine without the cpuset, whose query needs a thread.
    fn of_machine() -> Self {
        Self {
            present: read_list("/sys/devices/system/cpu/present").unwrap_or_default(),
            online: online_cpus(),
            cpuset: CpuList::default(),
        }
    }

    /// Checks that a thread can run on this CPU.
    ///
    /// # Errors
    /// The thread cannot run there; the error lists the possible CPUs.
    pub fn check(&self, cpu: u32) -> Result<(), SysError> {
        let online = || self.online.clone();
        match cpu {
            cpu if !self.online.contains(cpu) && self.present.contains(cpu) => {
                Err(SysError::CpuOffline { cpu, online: online() })
            }
            cpu if !self.online.contains(cpu) => Err(SysError::NoSuchCpu { cpu, online: online() }),
            cpu if !self.cpuset.is_empty() && !self.cpuset.contains(cpu) => Err(SysError::CpuNotAllowed {
                cpu,
                allowed: self.cpuset.clone(),
            }),
            _ => Ok(()),
        }
    }
}

/// Pins the calling thread to one CPU.
pub(super) fn pin(cpu: u32) -> Result<(), SysError> {
    // Read before the first pinning of this process changes it.
    allowed_cpus();
    CpuSets::of_machine().check(cpu)?;
    let index = cpu as usize;
    if index >= CpuSet::MAX_CPU {
        return Err(SysError::Invalid {
            what: format!(
                "CPU {cpu}: threads can be pinned to CPUs up to {} only",
                CpuSet::MAX_CPU - 1
            ),
        });
    }
    let mut set = CpuSet::new();
    set.set(index);
    sched_setaffinity(None, &set).map_err(|errno| match errno {
        Errno::INVAL => SysError::CpuNotAllowed {
            cpu,
            allowed: cpuset_cpus(),
        },
        errno => SysError::refused("pin this thread to CPU", cpu.to_string(), errno),
    })
}

/// Restores the calling thread's access to every CPU that this process was allowed to use at its start.
pub(super) fn unpin() -> Result<(), SysError> {
    let allowed = allowed_cpus();
    let mut set = CpuSet::new();
    allowed
        .iter()
        .filter(|cpu| (*cpu as usize) < CpuSet::MAX_CPU)
        .for_each(|cpu| set.set(cpu as usize));
    sched_setaffinity(None, &set)
        .map_err(|errno| SysError::refused("let this thread run on CPUs", allowed.to_string(), errno))
}

/// The CPUs that the calling thread may run on now.
pub(super) fn current_affinity() -> CpuList {
    sched_getaffinity(None).map_or_else(|_| CpuList::default(), |set| members(&set))
}

/// The CPUs that the cpuset of this process allows, whatever its initial mask was: a short-lived thread requests all CPUs and reads
/// the kernel's answer. Empty if the kernel does not report it.
pub fn cpuset_cpus() -> CpuList {
    // Read before this thread changes it.
    allowed_cpus();
    let ask = || {
        let mut all = CpuSet::new();
        (0..CpuSet::MAX_CPU).for_each(|cpu| all.set(cpu));
        let _ = sched_setaffinity(None, &all);
        current_affinity()
    };
    std::thread::scope(|scope| scope.spawn(ask).join()).unwrap_or_default()
}

pub(super) fn members(set: &CpuSet) -> CpuList {
    (0..CpuSet::MAX_CPU)
        .filter(|cpu| set.is_set(*cpu))
        .filter_map(|cpu| u32::try_from(cpu).ok())
        .collect()
}

fn read_list(path: &str) -> Option<CpuList> {
    std::fs::read_to_string(path).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{allowed_cpus, current_affinity, online_cpus, pin};
    use crate::{ErrorKind, SysError};

    #[test]
    fn a_cpu_that_does_not_exist_is_a_usage_error_that_lists_those_online() {
        let error = pin(4_000).expect_err("no such CPU");
        assert!(matches!(&error, SysError::NoSuchCpu { cpu: 4_000, .. }), "{error}");
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert_eq!(
            error.to_string(),
            format!("CPU 4000: no such CPU (online: {})", online_cpus())
        );
    }

    #[test]
    fn pinning_one_thread_leaves_what_the_process_may_use() {
        let cpu = allowed_cpus().first().expect("at least one CPU");
        let pinned = std::thread::spawn(move || pin(cpu).map(|()| current_affinity()))
            .join()
            .expect("no panic");
        assert_eq!(pinned.expect("pinned").to_string(), cpu.to_string());
        assert_eq!(allowed_cpus().without(&online_cpus()).len(), 0);
    }
}
