//! What this thread is allowed to do.

use crate::error::SysError;
use rustix::thread::{CapabilitySet, capabilities};
use std::fmt;

/// A capability some operation of this crate or its users needs (capabilities(7)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Capability {
    /// Real-time policies and affinity.
    SysNice,
    /// Locking memory beyond `RLIMIT_MEMLOCK`.
    IpcLock,
    /// Packet sockets.
    NetRaw,
    /// Creating and changing interfaces.
    NetAdmin,
    /// Creating and entering namespaces.
    SysAdmin,
    /// Loading eBPF programs.
    Bpf,
    /// Attaching eBPF programs to tracepoints.
    Perfmon,
}

impl Capability {
    /// The name `setcap` takes: `cap_net_raw`.
    pub fn setcap_name(self) -> &'static str {
        match self {
            Self::SysNice => "cap_sys_nice",
            Self::IpcLock => "cap_ipc_lock",
            Self::NetRaw => "cap_net_raw",
            Self::NetAdmin => "cap_net_admin",
            Self::SysAdmin => "cap_sys_admin",
            Self::Bpf => "cap_bpf",
            Self::Perfmon => "cap_perfmon",
        }
    }

    fn flag(self) -> CapabilitySet {
        match self {
            Self::SysNice => CapabilitySet::SYS_NICE,
            Self::IpcLock => CapabilitySet::IPC_LOCK,
            Self::NetRaw => CapabilitySet::NET_RAW,
            Self::NetAdmin => CapabilitySet::NET_ADMIN,
            Self::SysAdmin => CapabilitySet::SYS_ADMIN,
            Self::Bpf => CapabilitySet::BPF,
            Self::Perfmon => CapabilitySet::PERFMON,
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.setcap_name().to_uppercase())
    }
}

/// Whether the calling thread has the capability in its effective set.
///
/// In a user namespace of its own a process has capabilities that do not reach the host: the kernel decides.
pub fn has(capability: Capability) -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(capability.flag()))
}

/// Whether the capability counts for the machine as a whole, as scheduling and locked memory ask: not in a user namespace
/// (rootless containers), where root is root of the namespace only (user_namespaces(7)).
pub(crate) fn has_on_host(capability: Capability) -> bool {
    // In the first user namespace every identifier maps to itself.
    let first = std::fs::read_to_string("/proc/self/uid_map")
        .is_ok_and(|map| map.split_whitespace().eq(["0", "0", "4294967295"]));
    first && has(capability)
}

/// Whether the effective user is root. Root in a container may still lack capabilities: ask [`has`] for those.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Refuses when the capability is missing; `what` says what it is needed for ("open a packet socket on eth0").
///
/// # Errors
/// [`SysError::MissingCapability`], with what to do.
pub fn require(capability: Capability, what: &str) -> Result<(), SysError> {
    if has(capability) {
        Ok(())
    } else {
        Err(SysError::MissingCapability {
            capability,
            what: what.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Capability;
    use crate::SysError;

    #[test]
    fn the_message_says_what_it_was_for_and_what_to_do() {
        let error = SysError::MissingCapability {
            capability: Capability::NetRaw,
            what: "open a packet socket on eth0".into(),
        };
        let text = error.to_string();
        assert!(
            text.starts_with(
                "open a packet socket on eth0: needs CAP_NET_RAW (run as root, or: setcap cap_net_raw+ep /"
            )
        );
    }
}
