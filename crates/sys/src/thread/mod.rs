//! Makes the calling thread a real-time thread, and reads the resources that it used.

mod cpus;
mod others;
mod policy;
mod policy_refusal;
mod stack;
mod standing;

use crate::error::SysError;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use rustix::thread::{
    UnshareFlags, sched_getcpu, set_current_timer_slack, set_name as set_thread_name, unshare_unsafe,
};
use rustix::time::{ClockId, clock_gettime};
use std::ffi::CString;
use std::mem::MaybeUninit;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

pub use cpus::{CpuSets, allowed_cpus, cpuset_cpus, online_cpus};
pub use others::{policy_of, set_policy_of};
pub use policy::{Policy, PolicyError, free_priority};
pub use standing::{Standing, affinity_of, only_cpu, set_affinity_of, standing};

/// How a thread must run. [`RtThread::enter`] applies it to the calling thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RtThread {
    /// Scheduling policy.
    pub policy: Policy,
    /// The only CPU that it may run on; `None` leaves the affinity unchanged, except for deadline threads, which the kernel admits
    /// only with all of this process's CPUs.
    pub cpu: Option<u32>,
    /// Bytes of stack to touch now, so that they do not fault later; limited by the remaining stack.
    pub stack_bytes: usize,
}

impl RtThread {
    /// Applies the settings to the calling thread: affinity, policy, timer slack of 1 ns, stack.
    ///
    /// Threads and processes that this thread starts later inherit policy and affinity (but a `SCHED_DEADLINE` thread cannot start
    /// any).
    ///
    /// # Errors
    /// A CPU that does not exist, is offline or outside the cpuset; or a refused policy. The error names the missing capability,
    /// the cgroup without real-time budget, or admission control.
    pub fn enter(&self) -> Result<(), SysError> {
        if let Some(cpu) = self.cpu {
            cpus::pin(cpu)?;
        } else if matches!(self.policy, Policy::Deadline { .. }) {
            cpus::unpin()?;
        }
        policy::apply(self.policy)?;
        // The default slack of 50 us would be added to every sleep of a thread that is not real-time.
        set_current_timer_slack(NonZeroU64::new(1))
            .map_err(|errno| SysError::refused("set the timer slack of", "this thread", errno))?;
        stack::touch(self.stack_bytes);
        Ok(())
    }
}

/// Gives the calling thread its own table of open files, a copy of the present one, which ends with the thread. Then its system
/// calls on them need no reference counting. The table stays shared if the kernel refuses.
pub fn own_files() {
    // SAFETY: the thread gets a copy of every descriptor, so the descriptors that it uses stay valid; none is closed or changed for
    // others.
    let _ = unsafe { unshare_unsafe(UnshareFlags::FILES) };
}

/// Names the calling thread, as `ps -L` and traces show it; the kernel keeps 15 bytes, the rest is cut.
pub fn set_name(name: &str) {
    let mut kept = name.replace('\0', "");
    while kept.len() > 15 {
        kept.pop();
    }
    let kept = CString::new(kept).unwrap_or_default();
    // A thread without its name can still measure.
    let _ = set_thread_name(&kept);
}

/// Lets the calling thread run before other ordinary threads (nice -15), if `CAP_SYS_NICE` allows it; otherwise changes nothing.
pub fn prefer() {
    let _ = rustix::process::setpriority_process(None, -15);
}

/// Like [`prefer`], but for the calling thread alone: threads that it starts are ordinary ones (`SCHED_RESET_ON_FORK`).
pub fn prefer_alone() {
    let parameter = libc::sched_param { sched_priority: 0 };
    let policy = libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the pointer is to a sched_param that outlives the call; 0 means the calling thread.
    if unsafe { libc::sched_setscheduler(0, policy, &raw const parameter) } == 0 {
        prefer();
    }
}

/// The calling thread's number, as used in the kernel's events.
pub fn number() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// The CPU that the calling thread runs on; may change at once unless the thread is pinned.
pub fn current_cpu() -> u32 {
    u32::try_from(sched_getcpu()).unwrap_or(u32::MAX)
}

/// Resource usage of the calling thread since it began (`getrusage(RUSAGE_THREAD)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadUsage {
    /// Page faults served without I/O.
    pub minor_faults: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Number of switches because the thread waited.
    pub voluntary_switches: u64,
    /// Number of switches because another thread was preferred or the time slice was over.
    pub involuntary_switches: u64,
    /// CPU time in ns, as the scheduler accounts it (`CLOCK_THREAD_CPUTIME_ID`).
    pub cpu_ns: u64,
}

/// Resource usage of the calling thread since it began.
pub fn usage() -> ThreadUsage {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a whole rusage, which the kernel fills; all-zero is a valid rusage if it did not.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    let cpu = clock_gettime(ClockId::ThreadCPUTime);
    let count = |value: libc::c_long| u64::try_from(value).unwrap_or(0);
    ThreadUsage {
        minor_faults: count(usage.ru_minflt),
        major_faults: count(usage.ru_majflt),
        voluntary_switches: count(usage.ru_nvcsw),
        involuntary_switches: count(usage.ru_nivcsw),
        cpu_ns: count(cpu.tv_sec) * 1_000_000_000 + count(cpu.tv_nsec),
    }
}

/// Has the kernel kill the child (`SIGKILL`) when the thread that starts it ends, in whatever way.
///
/// The end of the starting *thread* counts (prctl(2)): start such children from a thread that lives as long as they should.
pub fn kill_children_with_us(command: &mut Command) {
    let parent = rustix::process::getpid();
    let arm = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have died before the request took effect.
        if getppid() == Some(parent) {
            Ok(())
        } else {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
    };
    // SAFETY: between fork and exec the closure makes two system calls and neither allocates nor locks.
    unsafe {
        command.pre_exec(arm);
    }
}

/// Leaves an open file to the child that the command starts, under the same number.
pub fn leave_open(command: &mut Command, file: OwnedFd) {
    // The command owns the file until the command is dropped, so that the number stays valid.
    let keep = move || fcntl_setfd(&file, FdFlags::empty()).map_err(Into::into);
    // SAFETY: between fork and exec the closure makes one system call and neither allocates nor locks.
    unsafe {
        command.pre_exec(keep);
    }
}
