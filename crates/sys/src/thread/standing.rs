//! The real policy and CPUs of a thread: read from the kernel, not taken from the request.

use super::cpus;
use crate::error::SysError;
use rustix::io::Errno;
use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};
use std::fmt;
use units::CpuList;

/// The present policy and CPUs of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Its policy with priority or nice value: `fifo:60`, `other`, `other, nice 5`.
    pub policy: String,
    /// True if its policy is a real-time one.
    pub is_real_time: bool,
    /// The CPUs that it may run on.
    pub cpus: CpuList,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on cpu {}", self.policy, self.cpus)
    }
}

/// Policy and CPUs of the thread `number` of any visible process; 0 is the calling thread. Needs no privilege. `None`: it has
/// ended.
pub fn standing(number: i32) -> Option<Standing> {
    let attributes = attributes(number)?;
    let pid = match number {
        0 => None,
        number => Some(Pid::from_raw(number.max(0))?),
    };
    let set = sched_getaffinity(pid).ok()?;
    let (is_real_time, policy) = described(&attributes);
    Some(Standing {
        policy,
        is_real_time,
        cpus: cpus::members(&set),
    })
}

/// Reads the attributes of a thread by sched_getattr(2); 0 is the calling thread. The C library has no wrapper for it.
pub(super) fn attributes(number: i32) -> Option<libc::sched_attr> {
    let mut attributes = super::policy::NO_ATTRIBUTES;
    let size = size_of::<libc::sched_attr>();
    // SAFETY: the pointer is to a sched_attr of `size` bytes, and the kernel fills no more; no flags.
    let refused = unsafe { libc::syscall(libc::SYS_sched_getattr, number, &raw mut attributes, size, 0) };
    (refused == 0).then_some(attributes)
}

/// The CPU of the thread `number` of any process, if it may run on one only; cheaper than [`standing`]. `None`: several, or it has
/// ended.
pub fn only_cpu(number: i32) -> Option<u32> {
    let set = sched_getaffinity(Some(Pid::from_raw(number.max(0))?)).ok()?;
    match set.count() {
        1 => cpus::members(&set).first(),
        _ => None,
    }
}

/// The CPUs that the thread `number` of any process may run on.
///
/// # Errors
/// The thread has ended.
pub fn affinity_of(number: u32) -> Result<CpuList, SysError> {
    let read = thread_of(number).and_then(sched_getaffinity_of);
    let set = read.map_err(|errno| SysError::refused("sched_getaffinity", format!("thread {number}"), errno))?;
    Ok(cpus::members(&set))
}

/// Moves the thread `number` of any process to `cpus`. Needs CAP_SYS_NICE for threads of other users.
///
/// # Errors
/// The thread has ended, the kernel binds it to its CPUs (EINVAL), or this user may not move it (EPERM).
pub fn set_affinity_of(number: u32, cpus: &CpuList) -> Result<(), SysError> {
    let mut set = CpuSet::new();
    for cpu in cpus.iter().filter(|cpu| (*cpu as usize) < CpuSet::MAX_CPU) {
        set.set(cpu as usize);
    }
    let moved = thread_of(number).and_then(|thread| sched_setaffinity(Some(thread), &set));
    moved.map_err(|errno| SysError::refused("sched_setaffinity", format!("thread {number}"), errno))
}

/// 0 would mean the calling thread.
fn thread_of(number: u32) -> Result<Pid, Errno> {
    i32::try_from(number).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)
}

fn sched_getaffinity_of(thread: Pid) -> Result<CpuSet, Errno> {
    sched_getaffinity(Some(thread))
}

fn described(attributes: &libc::sched_attr) -> (bool, String) {
    let priority = attributes.sched_priority;
    let with_nice = |name: &str| match attributes.sched_nice {
        0 => name.to_owned(),
        nice => format!("{name}, nice {nice}"),
    };
    match i32::try_from(attributes.sched_policy).unwrap_or(-1) {
        libc::SCHED_OTHER => (false, with_nice("other")),
        libc::SCHED_BATCH => (false, with_nice("batch")),
        libc::SCHED_IDLE => (false, "idle".to_owned()),
        libc::SCHED_FIFO => (true, format!("fifo:{priority}")),
        libc::SCHED_RR => (true, format!("rr:{priority}")),
        libc::SCHED_DEADLINE => {
            let (runtime, deadline) = (attributes.sched_runtime, attributes.sched_deadline);
            let policy = super::Policy::Deadline {
                runtime_ns: runtime,
                deadline_ns: deadline,
                period_ns: attributes.sched_period,
            };
            (true, policy.to_string())
        }
        other => (false, format!("policy {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::{only_cpu, standing};
    use crate::thread::{Policy, RtThread, allowed_cpus, number};
    use std::sync::mpsc;

    #[test]
    fn the_policy_and_cpus_of_another_thread_are_read() {
        let cpu = allowed_cpus().first().expect("a CPU");
        let (said, heard) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let pinned = RtThread {
                policy: Policy::Other,
                cpu: Some(cpu),
                stack_bytes: 0,
            };
            pinned.enter().expect("an ordinary thread may be pinned");
            said.send((number(), standing(0))).expect("heard");
            let _ = ended.recv();
        });
        let (number, by_itself) = heard.recv().expect("said");
        let from_here = standing(number).expect("it lives");
        assert_eq!(Some(&from_here), by_itself.as_ref());
        assert_eq!(from_here.cpus.to_string(), cpu.to_string());
        assert_eq!(only_cpu(number), Some(cpu));
        assert!(from_here.policy.starts_with("other") && !from_here.is_real_time);
        drop(end);
        thread.join().expect("no panic");
        assert_eq!((standing(-1), only_cpu(-1)), (None, None));
    }
}
