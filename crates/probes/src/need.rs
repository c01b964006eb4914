//! Needs of probes, and known facts about a machine. From the facts it is decided whether a probe can run, before anything is
//! changed.

use crate::error::ProbeError;
use std::collections::BTreeSet;
use sys::SysError;
use sys::privilege::{Capability, has, has_on_host, will_need};
use sys::thread::{CpuSets, Policy, free_priority, standing};

/// A need of a probe.
#[derive(Debug, Clone, PartialEq)]
pub enum Need {
    /// A capability without which nothing can be measured, and its purpose, to be followed by "on" and the interface.
    Capability(Capability, &'static str),
    /// A capability that the probe can run without; the run then names the missing part.
    Wish(Capability),
    /// Threads with this policy.
    Policy(Policy),
    /// This CPU, for a thread that is pinned to it.
    Cpu(u32),
    /// eBPF programs on the kernel's tracepoints.
    Tracing,
}

/// Facts about a machine that needs are checked against.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Capabilities of this program.
    pub capabilities: BTreeSet<Capability>,
    /// Highest real-time priority that needs no capability.
    pub free_priority: u64,
    /// Policy of this program at its start, which its threads may keep.
    pub own_policy: Policy,
    /// CPUs of the machine.
    pub cpus: CpuSets,
    /// Reason why the kernel's type information (BTF) cannot be read; `None` if it can.
    pub types_missing: Option<String>,
}

impl Machine {
    /// Reads the facts of this machine.
    pub fn live() -> Self {
        let has = |capability: &Capability| match capability {
            // In a separate user namespace these capabilities have no effect, even if they are in the set.
            Capability::SysNice | Capability::IpcLock => has_on_host(*capability),
            _ => has(*capability),
        };
        Self {
            capabilities: Capability::ALL.into_iter().filter(has).collect(),
            free_priority: free_priority(),
            own_policy: own_policy(),
            cpus: CpuSets::live(),
            types_missing: ::trace::types_missing(),
        }
    }

    fn has(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }

    /// True if threads with this policy are permitted. If a control group has no real-time budget, the kernel refuses only when
    /// the thread starts.
    fn permits(&self, policy: Policy) -> bool {
        let (priority, own) = match (policy, self.own_policy) {
            (Policy::Other, _) => return true,
            (Policy::Fifo(priority), Policy::Fifo(own)) | (Policy::RoundRobin(priority), Policy::RoundRobin(own)) => {
                (u64::from(priority), u64::from(own))
            }
            (Policy::Fifo(priority) | Policy::RoundRobin(priority), _) => (u64::from(priority), 0),
            // No resource limit permits this policy.
            (Policy::Deadline { .. }, _) => return self.has(Capability::SysNice),
        };
        self.has(Capability::SysNice) || priority <= own.max(self.free_priority)
    }
}

/// Policy that the kernel reports for this thread.
fn own_policy() -> Policy {
    let own = standing(0).and_then(|standing| standing.policy.parse().ok());
    own.unwrap_or(Policy::Other)
}

impl Need {
    /// Checks that the need is met, on this interface if the probe measures on one.
    ///
    /// # Errors
    /// The need is not met; the text says what to do.
    pub fn check(&self, machine: &Machine, interface: Option<&str>) -> Result<(), ProbeError> {
        let missing = |capability, what| Err(SysError::MissingCapability { capability, what }.into());
        match self {
            Self::Capability(capability, what) if !machine.has(*capability) => {
                let on = interface.map_or_else(String::new, |name| format!(" on {name}"));
                missing(*capability, format!("{what}{on}"))
            }
            Self::Policy(policy) if !machine.permits(*policy) => {
                missing(Capability::SysNice, format!("run with policy {policy}"))
            }
            Self::Capability(..) | Self::Policy(_) | Self::Wish(_) => Ok(()),
            Self::Cpu(cpu) => Ok(machine.cpus.check(*cpu)?),
            Self::Tracing => Ok(::trace::can_run_with(machine.types_missing.clone(), &|one| {
                machine.has(one)
            })?),
        }
    }

    /// Capabilities that this need requires.
    pub fn capabilities(&self) -> &[Capability] {
        match self {
            Self::Capability(capability, _) | Self::Wish(capability) => std::slice::from_ref(capability),
            Self::Policy(Policy::Other) | Self::Cpu(_) => &[],
            Self::Policy(_) => &[Capability::SysNice],
            Self::Tracing => &[Capability::Bpf, Capability::Perfmon],
        }
    }

    /// Checks that all needs are met. Advice on one missing capability names the capabilities of all needs.
    ///
    /// # Errors
    /// The first need that is not met; the text says what to do.
    pub fn check_all(needs: &[Self], machine: &Machine, interface: Option<&str>) -> Result<(), ProbeError> {
        needs.iter().for_each(|need| will_need(need.capabilities()));
        needs.iter().try_for_each(|need| need.check(machine, interface))
    }
}

/// Needs of a measuring thread: its policy, its CPUs, and memory that is never paged out.
pub(crate) fn of_thread(policy: Policy, cpus: impl IntoIterator<Item = u32>) -> Vec<Need> {
    let own = [Need::Wish(Capability::IpcLock), Need::Policy(policy)];
    own.into_iter().chain(cpus.into_iter().map(Need::Cpu)).collect()
}

/// Needs of a measuring thread with a packet socket.
pub(crate) fn of_port(policy: Policy, cpus: impl IntoIterator<Item = u32>) -> Vec<Need> {
    let socket = Need::Capability(Capability::NetRaw, "open a packet socket");
    std::iter::once(socket).chain(of_thread(policy, cpus)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Machine, Need};
    use std::collections::BTreeSet;
    use sys::privilege::Capability;
    use sys::thread::{CpuSets, Policy};

    /// A machine with two CPUs, the second one excluded by a cpuset; without capabilities; its kernel has type information.
    fn machine() -> Machine {
        Machine {
            capabilities: BTreeSet::new(),
            free_priority: 0,
            own_policy: Policy::Other,
            cpus: CpuSets {
                present: "0-2".parse().expect("a list"),
                online: "0-1".parse().expect("a list"),
                cpuset: "0".parse().expect("a list"),
            },
            types_missing: None,
        }
    }

    fn refusal(need: &Need, machine: &Machine) -> String {
        need.check(machine, Some("eth1")).expect_err("not met").to_string()
    }

    #[test]
    fn what_is_missing_is_named_with_what_to_do() {
        let plain = machine();
        let socket = Need::Capability(Capability::NetRaw, "open a packet socket");
        assert!(
            refusal(&socket, &plain).starts_with("open a packet socket on eth1: needs CAP_NET_RAW (run as root, or")
        );
        let fifo = Need::Policy(Policy::Fifo(80));
        assert!(refusal(&fifo, &plain).starts_with("run with policy fifo:80: needs CAP_SYS_NICE"));
        assert!(refusal(&Need::Cpu(7), &plain).contains("no such CPU (online: 0-1)"));
        assert!(refusal(&Need::Cpu(2), &plain).contains("is offline"));
        assert!(refusal(&Need::Cpu(1), &plain).contains("outside the cpuset"));
        assert!(refusal(&Need::Tracing, &plain).contains("CAP_BPF and CAP_PERFMON"));
        let old = Machine {
            types_missing: Some("No such file or directory".to_owned()),
            ..machine()
        };
        assert!(refusal(&Need::Tracing, &old).contains("CONFIG_DEBUG_INFO_BTF"));
    }

    #[test]
    fn what_a_machine_has_is_enough() {
        let mut limited = machine();
        limited.free_priority = 80;
        let met = |need: Need, machine: &Machine| need.check(machine, None).is_ok();
        assert!(met(Need::Policy(Policy::Fifo(80)), &limited) && !met(Need::Policy(Policy::Fifo(81)), &limited));
        // Policy of a program started by `chrt --fifo 50`.
        let kept = Machine {
            own_policy: Policy::Fifo(50),
            ..machine()
        };
        assert!(met(Need::Policy(Policy::Fifo(50)), &kept) && !met(Need::Policy(Policy::Fifo(51)), &kept));
        assert!(!met(Need::Policy(Policy::RoundRobin(50)), &kept));
        assert!(met(Need::Wish(Capability::IpcLock), &limited), "measured all the same");
        assert!(met(Need::Cpu(0), &limited) && met(Need::Policy(Policy::Other), &limited));
        // Capabilities as before Linux 5.8.
        limited.capabilities.insert(Capability::SysAdmin);
        assert!(met(Need::Tracing, &limited));
    }
}
