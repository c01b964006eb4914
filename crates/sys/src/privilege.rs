//! Privileges of the calling thread.

use crate::error::SysError;
use rustix::thread::{CapabilitySet, capabilities};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A capability that some operation of this crate or its users needs (capabilities(7)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// All capabilities that are known here.
    pub const ALL: [Self; 7] = [
        Self::SysNice,
        Self::IpcLock,
        Self::NetRaw,
        Self::NetAdmin,
        Self::SysAdmin,
        Self::Bpf,
        Self::Perfmon,
    ];

    /// The name for `setcap`, such as `cap_net_raw`.
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

/// True if the calling thread has the capability in its effective set.
///
/// In a user namespace of its own a process has capabilities that do not reach the host; there the kernel's answer decides.
pub fn has(capability: Capability) -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(capability.flag()))
}

/// True if the capability applies to the machine as a whole, as scheduling and memory locking require. It does not in a user
/// namespace (rootless containers), where root is root of the namespace only (user_namespaces(7)).
pub fn has_on_host(capability: Capability) -> bool {
    // In the first user namespace every identifier maps to itself.
    let first = std::fs::read_to_string("/proc/self/uid_map")
        .is_ok_and(|map| map.split_whitespace().eq(["0", "0", "4294967295"]));
    first && has(capability)
}

/// True if the effective user is root. Root in a container may still lack capabilities: check those with [`has`].
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Capabilities that this run is known to need so far.
static NEEDED: Mutex<BTreeSet<Capability>> = Mutex::new(BTreeSet::new());

/// Records capabilities that this run needs, whether it has them or not. The advice on a missing one then names all of them.
pub fn will_need(capabilities: &[Capability]) {
    NEEDED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .extend(capabilities);
}

/// The command that gives this program `missing`, and everything else that the run needs with it: each `setcap` replaces the
/// capabilities given before. Also names the other needed capabilities that are missing.
pub fn advice(missing: &[Capability]) -> String {
    let mut all = NEEDED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    all.extend(missing);
    setcap(&all, missing, has, &own_program())
}

fn setcap(
    all: &BTreeSet<Capability>,
    missing: &[Capability],
    has: impl Fn(Capability) -> bool,
    program: &str,
) -> String {
    let names: Vec<&str> = all.iter().map(|capability| capability.setcap_name()).collect();
    let others = all.iter().filter(|other| !missing.contains(other) && !has(**other));
    let others: Vec<String> = others.map(Capability::to_string).collect();
    let note = match others.as_slice() {
        [] => String::new(),
        others => format!("; this run also lacks {}", others.join(" and ")),
    };
    format!("run as root, or: setcap {}+ep {program}{note}", names.join(","))
}

/// The running program's file.
fn own_program() -> String {
    std::env::current_exe().map_or_else(|_| "triptime".to_owned(), |path| path.display().to_string())
}

/// Errors if the capability is missing; `what` names the operation that needs it ("open a packet socket on eth0").
///
/// # Errors
/// [`SysError::MissingCapability`], with advice.
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
    use super::{Capability, setcap};
    use crate::SysError;
    use std::collections::BTreeSet;

    #[test]
    fn one_command_gives_all_that_the_run_needs() {
        let all = BTreeSet::from([Capability::NetRaw, Capability::SysNice, Capability::IpcLock]);
        let text = setcap(
            &all,
            &[Capability::NetRaw],
            |one| one == Capability::IpcLock,
            "/opt/triptime",
        );
        assert_eq!(
            text,
            "run as root, or: setcap cap_sys_nice,cap_ipc_lock,cap_net_raw+ep /opt/triptime; this run also lacks CAP_SYS_NICE"
        );
    }

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
