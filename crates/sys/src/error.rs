//! Refusals of the kernel, and advice on each.

use crate::privilege::{Capability, advice};
use rustix::io::Errno;
use std::sync::Arc;
use units::CpuList;

/// Meaning of an error for the person who started the tool; the command line chooses its exit status by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request names something that does not exist here, or an impossible value: exit status 2.
    Usage,
    /// The request is sound, but a privilege or a kernel feature is missing, or the kernel refused: exit status 3.
    CouldNotMeasure,
}

/// Why an operation on the kernel failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SysError {
    /// No interface of that name in the calling thread's network namespace.
    #[error("{name}: no such interface (have: {})", list(.have))]
    NoSuchInterface {
        /// The name asked for.
        name: String,
        /// The interfaces there are.
        have: Vec<String>,
    },
    /// The interface carries no Ethernet frames.
    #[error("{name}: not an Ethernet interface")]
    NotEthernet {
        /// The interface.
        name: String,
    },
    /// The interface is administratively down.
    #[error("{name} is down: bring it up with `ip link set {name} up`")]
    InterfaceDown {
        /// The interface.
        name: Arc<str>,
    },
    /// The interface is no longer there: its driver is gone, or somebody deleted it.
    #[error("{name} was removed during the run; the measurement ends there")]
    InterfaceGone {
        /// The interface.
        name: Arc<str>,
    },
    /// An impossible setting.
    #[error("{what}")]
    Invalid {
        /// The mistake, and a value that would work.
        what: String,
    },
    /// The machine has no such CPU.
    #[error("CPU {cpu}: no such CPU (online: {online})")]
    NoSuchCpu {
        /// The CPU asked for.
        cpu: u32,
        /// The CPUs that are online.
        online: CpuList,
    },
    /// The CPU exists but is switched off.
    #[error(
        "CPU {cpu} is offline (online: {online}): switch it on with \
         `echo 1 > /sys/devices/system/cpu/cpu{cpu}/online`, or choose another"
    )]
    CpuOffline {
        /// The CPU asked for.
        cpu: u32,
        /// The CPUs that are online.
        online: CpuList,
    },
    /// The CPU is outside the cpuset of this process.
    #[error(
        "CPU {cpu} is outside the cpuset of this process (allowed: {allowed}): choose one of these, or widen the cpuset"
    )]
    CpuNotAllowed {
        /// The CPU asked for.
        cpu: u32,
        /// The CPUs the cpuset allows.
        allowed: CpuList,
    },
    /// The effective capabilities lack one.
    #[error("{what}: needs {capability} ({})", advice(&[*.capability]))]
    MissingCapability {
        /// The capability.
        capability: Capability,
        /// The purpose that needs it.
        what: String,
    },
    /// File permissions forbid it.
    #[error("{what}: permission denied: {remedy}")]
    PermissionDenied {
        /// The refused operation.
        what: String,
        /// Advice.
        remedy: &'static str,
    },
    /// The cgroup has no real-time budget (`CONFIG_RT_GROUP_SCHED`).
    #[error("{what}: the cgroup of this process has no real-time budget: {remedy}")]
    NoRealTimeBudget {
        /// The refused operation.
        what: String,
        /// Advice.
        remedy: String,
    },
    /// `SCHED_DEADLINE` cannot be combined with an affinity narrower than the root domain.
    #[error(
        "{what}: the thread may run on CPU {allowed} only, and SCHED_DEADLINE needs all CPUs of its scheduling domain: \
         leave out the CPU, or make those CPUs an exclusive cpuset"
    )]
    DeadlinePinned {
        /// The refused operation.
        what: String,
        /// The CPUs the thread may use.
        allowed: CpuList,
    },
    /// `SCHED_DEADLINE` admission control: the CPUs do not have that much time left.
    #[error(
        "{what}: refused by admission control, the deadline threads would need more than the CPUs have \
         (kernel.sched_rt_runtime_us bounds their sum): ask for less runtime per period"
    )]
    DeadlineOverbooked {
        /// The refused operation.
        what: String,
    },
    /// `RLIMIT_MEMLOCK` limits what can be locked, and `CAP_IPC_LOCK` is missing.
    #[error(
        "lock memory: RLIMIT_MEMLOCK is {limit_kib} KiB and CAP_IPC_LOCK is missing (ulimit -l unlimited, or {})",
        advice(&[Capability::IpcLock])
    )]
    MemoryLockLimit {
        /// The limit.
        limit_kib: u64,
    },
    /// An interface that was made did not come up.
    #[error("{interface}: no carrier {seconds} s after it was set up: is the machine overloaded, or is its peer down?")]
    NoCarrier {
        /// The interface.
        interface: String,
        /// How long the caller waited for it, in s.
        seconds: u64,
    },
    /// The kernel is too old, or built without the feature.
    #[error("{what}: this kernel lacks it ({needs})")]
    MissingFeature {
        /// The request.
        what: String,
        /// The version or option that provides it.
        needs: &'static str,
    },
    /// The transmit queue was full for this frame; the next frame may pass. Made without allocating.
    #[error("{interface}: transmit queue full ({errno})")]
    SendQueueFull {
        /// The interface.
        interface: Arc<str>,
        /// `EAGAIN` or `ENOBUFS`.
        errno: Errno,
    },
    /// The frame is longer than the interface's MTU allows. Made without allocating.
    #[error("{interface}: a frame of {bytes} bytes does not fit its MTU of {mtu} (plus 14 bytes of header)")]
    FrameTooLong {
        /// The interface.
        interface: Arc<str>,
        /// Length of the frame, without FCS.
        bytes: usize,
        /// MTU when the port was opened.
        mtu: u32,
    },
    /// Nothing on the interface supports launch times.
    #[error("{interface}: {why}")]
    NoLaunchTime {
        /// The interface.
        interface: Arc<str>,
        /// The missing part, and advice.
        why: String,
    },
    /// The frame fits the interface, but not the memory of this AF_XDP port. Made without allocating.
    #[error("{interface}: a frame of {bytes} bytes exceeds the {chunk} bytes that this AF_XDP port was opened for")]
    FrameBeyondChunk {
        /// The interface.
        interface: Arc<str>,
        /// Length of the frame, without FCS.
        bytes: usize,
        /// Longest frame the port can send.
        chunk: usize,
    },
    /// None of the allowed forms of XDP runs on the interface.
    #[error("{interface}: {why}")]
    XdpRefused {
        /// The interface.
        interface: Arc<str>,
        /// Each form tried, and why it was refused.
        why: String,
    },
    /// The kernel refused; the message shows the kernel's own reason. Made without allocating where `target` is shared.
    #[error("{operation} {target}: {errno}")]
    Refused {
        /// The operation that was tried.
        operation: &'static str,
        /// The object of the operation.
        target: Arc<str>,
        /// The error number.
        errno: Errno,
    },
}

impl SysError {
    /// Meaning of the error for the person who started the tool.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSuchInterface { .. }
            | Self::NotEthernet { .. }
            | Self::Invalid { .. }
            | Self::NoSuchCpu { .. }
            | Self::CpuOffline { .. }
            | Self::CpuNotAllowed { .. }
            | Self::FrameBeyondChunk { .. }
            | Self::FrameTooLong { .. } => ErrorKind::Usage,
            Self::InterfaceDown { .. }
            | Self::InterfaceGone { .. }
            | Self::NoCarrier { .. }
            | Self::MissingCapability { .. }
            | Self::PermissionDenied { .. }
            | Self::NoRealTimeBudget { .. }
            | Self::DeadlinePinned { .. }
            | Self::DeadlineOverbooked { .. }
            | Self::MemoryLockLimit { .. }
            | Self::MissingFeature { .. }
            | Self::SendQueueFull { .. }
            | Self::XdpRefused { .. }
            | Self::NoLaunchTime { .. }
            | Self::Refused { .. } => ErrorKind::CouldNotMeasure,
        }
    }

    /// True if only this frame was refused because the transmit queue was full (`EAGAIN`, `ENOBUFS`): the caller counts it and
    /// continues.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::SendQueueFull { .. })
    }

    /// True if frames may be taken again later: the transmit queue was full, or the link is down.
    pub fn is_passing(&self) -> bool {
        self.is_transient() || matches!(self, Self::InterfaceDown { .. })
    }

    /// The kernel's error number, if there is one.
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::Refused { errno, .. } | Self::SendQueueFull { errno, .. } => Some(errno.raw_os_error()),
            _ => None,
        }
    }

    pub(crate) fn refused(operation: &'static str, target: impl Into<Arc<str>>, errno: Errno) -> Self {
        Self::Refused {
            operation,
            target: target.into(),
            errno,
        }
    }

    /// Turns `EPERM` and `EACCES` into the missing capability; keeps any other error number.
    pub(crate) fn or_capability(
        capability: Capability,
        operation: &'static str,
        target: impl Into<Arc<str>>,
        errno: Errno,
    ) -> Self {
        let target = target.into();
        match errno {
            Errno::PERM | Errno::ACCESS if !crate::privilege::has(capability) => Self::MissingCapability {
                capability,
                what: format!("{operation} {target}"),
            },
            _ => Self::refused(operation, target, errno),
        }
    }
}

/// The errno of a failed standard library call.
pub(crate) fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// The errno that the last failed C library call of this thread set.
pub(crate) fn last_errno() -> Errno {
    errno_of(&std::io::Error::last_os_error())
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}
