//! Finds threads that a thread spinning on a CPU at real-time priority would delay: other real-time threads, virtual CPUs, and threads that
//! serve the interrupts of a network interface in use. An interrupt without a thread is not delayed: it interrupts.

use std::fmt;

use units::CpuList;

use super::owners::{allowed_cpus, is_virtual_cpu, numbers, own_number, thread};
use crate::error::HostError;
use crate::nic::{interface, interrupts};
use crate::reader::Reader;
use crate::stat::ThreadStat;

/// Name of this program's processes, whatever file they were started from: simultaneous measurements are reported as a doubt of their runs.
const OURS: &str = "triptime";

/// A thread that last ran on one of the CPUs, or may run nowhere else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resident {
    /// The CPU.
    pub cpu: u32,
    /// Description of the thread for a person.
    pub who: String,
}

impl fmt::Display for Resident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cpu{}: {}", self.cpu, self.who)
    }
}

/// Residents of `cpus` among the visible threads.
pub fn read(reader: &Reader, cpus: &CpuList) -> Result<Vec<Resident>, HostError> {
    let own = own_number(reader);
    let served = served(reader);
    let mut residents = Vec::new();
    for pid in numbers(reader, "/proc")?.into_iter().filter(|pid| Some(*pid) != own) {
        let directory = format!("/proc/{pid}");
        // A process that ends during the reading runs nowhere.
        let Some(process) = thread(reader, &directory).filter(|process| !process.name.starts_with(OURS)) else {
            continue;
        };
        for task in numbers(reader, &format!("{directory}/task")).unwrap_or_default() {
            let directory = format!("{directory}/task/{task}");
            let Some(thread) = thread(reader, &directory) else {
                continue;
            };
            let Some(what) = what(&thread, &served) else { continue };
            let who = format!("{what} {} of {} (pid {pid})", thread.name, process.name);
            let there = where_it_is(reader, &directory, &thread, cpus);
            residents.extend(there.map(|cpu| Resident { cpu, who }));
        }
    }
    Ok(residents)
}

/// Kind of a thread that would wait, in words; `None` if this one would not.
fn what(thread: &ThreadStat, served: &Served) -> Option<&'static str> {
    if thread.is_kernel {
        return served
            .by(&thread.name)
            .then_some("interrupt thread of a network interface in use:");
    }
    match is_virtual_cpu(&thread.name) {
        true => Some("virtual CPU"),
        false => thread.is_real_time.then_some("real-time thread"),
    }
}

/// First of `cpus` that a thread last ran on, or the first one it may run on if it may run nowhere else.
fn where_it_is(reader: &Reader, directory: &str, thread: &ThreadStat, cpus: &CpuList) -> Option<u32> {
    let last = thread.cpu.filter(|cpu| cpus.contains(*cpu));
    last.or_else(|| {
        let allowed = allowed_cpus(reader, directory)?;
        (!allowed.is_empty() && allowed.without(cpus).is_empty()).then(|| allowed.first())?
    })
}

/// Name prefixes of kernel threads that serve network interfaces in use.
struct Served {
    interrupts: Vec<String>,
    interfaces: Vec<String>,
}

impl Served {
    fn by(&self, thread: &str) -> bool {
        let begins = |names: &[String]| names.iter().any(|name| thread.starts_with(name.as_str()));
        begins(&self.interrupts) || begins(&self.interfaces)
    }
}

/// Name prefixes of the threads of interfaces that have a device and are up: `irq/38-`, `napi/eth0-`. Unreadable files add none.
fn served(reader: &Reader) -> Served {
    let all = interface::all(reader).unwrap_or_default();
    let is_in_use =
        |interface: &interface::Interface| interface.operstate.as_deref() == Some("up") && interface.driver.is_some();
    let used: Vec<String> = all
        .into_iter()
        .filter(is_in_use)
        .map(|interface| interface.name)
        .collect();
    let of_each = used
        .iter()
        .flat_map(|name| interrupts::of_nic(reader, name).unwrap_or_default());
    Served {
        interrupts: of_each.map(|one| format!("irq/{}-", one.number)).collect(),
        interfaces: used.iter().map(|name| format!("napi/{name}-")).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::Resident;
    use crate::Host;
    use std::fs;
    use std::path::Path;
    use units::CpuList;

    /// Adds a thread that last ran on `cpu`.
    fn thread(root: &Path, pid: u32, name: &str, (flags, policy, cpu, allowed): (u64, u32, u32, &str)) {
        let directory = root.join(format!("proc/{pid}/task/{pid}"));
        fs::create_dir_all(&directory).expect("a directory");
        let zeros = "0 ".repeat(29);
        let stat = format!("{pid} ({name}) S 0 0 0 0 0 {flags} {zeros}{cpu} 50 {policy} 0 0\n");
        for directory in [root.join(format!("proc/{pid}")), directory] {
            fs::write(directory.join("stat"), &stat).expect("written");
            fs::write(directory.join("status"), format!("Cpus_allowed_list:\t{allowed}\n")).expect("written");
        }
    }

    fn found(root: &Path, cpus: &str) -> Vec<String> {
        let cpus: CpuList = cpus.parse().expect("a list");
        let found = Host::at(root).expect("a tree").residents(&cpus).expect("read");
        found.iter().map(Resident::to_string).collect()
    }

    #[test]
    fn those_that_would_wait_are_named_and_others_are_not() {
        const KERNEL: u64 = 0x0020_0000;
        let tree = tempfile::tempdir().expect("a directory");
        let root = tree.path();
        thread(root, 10, "relay", (0, 1, 1, "0-1"));
        thread(root, 11, "CPU 0/KVM", (0, 0, 1, "0-1"));
        thread(root, 12, "bash", (0, 0, 1, "0-1"));
        thread(root, 13, "migration/1", (KERNEL, 1, 1, "1"));
        thread(root, 14, "pinned", (0, 1, 0, "1"));
        thread(root, 15, "elsewhere", (0, 1, 0, "0-1"));
        thread(root, 16, "triptime", (0, 1, 1, "0-1"));
        assert_eq!(
            found(root, "1"),
            [
                "cpu1: real-time thread relay of relay (pid 10)",
                "cpu1: virtual CPU CPU 0/KVM of CPU 0/KVM (pid 11)",
                "cpu1: real-time thread pinned of pinned (pid 14)",
            ]
        );
        assert!(found(root, "2").is_empty());
    }

    #[test]
    fn threads_of_interfaces_in_use_are_found_by_interrupt_and_by_name() {
        const KERNEL: u64 = 0x0020_0000;
        let tree = tempfile::tempdir().expect("a directory");
        let root = tree.path();
        for (name, state) in [("eth0", "up"), ("eth1", "down")] {
            let net = root.join("sys/class/net").join(name);
            fs::create_dir_all(net.join("device/driver-of")).expect("a directory");
            fs::write(net.join("ifindex"), "2\n").expect("written");
            fs::write(net.join("operstate"), format!("{state}\n")).expect("written");
            std::os::unix::fs::symlink("driver-of", net.join("device/driver")).expect("a link");
        }
        fs::create_dir_all(root.join("proc")).expect("a directory");
        let lines = " 38:  0  5  PCI-MSI  eth0-rx-0\n 39:  0  5  PCI-MSI  eth1-rx-0\n";
        fs::write(root.join("proc/interrupts"), format!("       CPU0 CPU1\n{lines}")).expect("written");
        thread(root, 20, "irq/38-eth0-rx-", (KERNEL, 1, 1, "1"));
        thread(root, 21, "irq/39-eth1-rx-", (KERNEL, 1, 1, "1"));
        thread(root, 22, "napi/eth0-8193", (KERNEL, 0, 1, "0-1"));
        let found = found(root, "1");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].contains("irq/38-eth0-rx-") && found[1].contains("napi/eth0-8193"),
            "{found:?}"
        );
    }
}
