//! Guests, services that change settings, shells on consoles, and real-time threads of other processes that may run on judged CPUs.

use super::super::neighbours::is_session;
use super::super::processes::{Process, Processes, comm, numbers};
use super::Part;
use super::known::{Found, Item, Listing, Tells};
use host::Host;
use host::processes::{IRQBALANCE, kept};
use model::Subject;
use std::collections::BTreeMap;
use std::fs;
use units::CpuList;

/// Beginnings of the names of hypervisor processes, in the kernel's form.
const HYPERVISORS: [&str; 5] = ["qemu-system-", "qemu-kvm", "cloud-hyperviso", "firecracker", "crosvm"];

/// Programs that change settings, move interrupts, or start guests and containers while they run. Daemons of time have events of their own.
const SERVICES: [&str; 14] = [
    IRQBALANCE,
    "tuned",
    "tuned-ppd",
    "power-profiles-daemon",
    "thermald",
    "stalld",
    "rtkit-daemon",
    "ksmtuned",
    "numad",
    "libvirtd",
    "virtqemud",
    "ovs-vswitchd",
    "dockerd",
    "containerd",
];

/// Beginning of the names of guests that triptime makes.
const OURS: &str = "triptime-";

/// The processes of other programs. Those that descend from this one are loads, places and ends of the run itself.
pub(super) struct Work {
    judged: CpuList,
    processes: Processes,
    /// Names of guests by process.
    guests: BTreeMap<u32, String>,
}

impl Work {
    /// Real-time threads count if they may run on one of these CPUs; on any CPU if there are none.
    pub(super) fn new(judged: CpuList) -> Self {
        Self {
            judged,
            processes: Processes::default(),
            guests: BTreeMap::new(),
        }
    }

    fn strangers(&self) -> impl Iterator<Item = (u32, &Process)> {
        let own = std::process::id();
        let processes = &self.processes;
        processes
            .iter()
            .filter(move |(pid, _)| *pid != own && !processes.descends_from(*pid, own))
    }

    /// The process that started another one, in words.
    fn starter(&self, process: &Process) -> Option<String> {
        let parent = self.processes.get(process.parent).filter(|_| process.parent > 1)?;
        Some(format!("started by {} (pid {})", parent.name, process.parent))
    }

    fn guest(&self, pid: u32, process: &Process) -> Option<Found> {
        let name = self.guests.get(&pid).filter(|name| !name.starts_with(OURS))?;
        let cpus = cpus_of_guest(pid)?;
        let item = Item {
            name: name.clone(),
            value: format!("on CPU {cpus} (pid {pid})"),
            cpus: Some(cpus),
            who: self.starter(process),
            tells: Tells::All,
        };
        Some(((Subject::Guest, pid.to_string()), Ok(item)))
    }

    /// A shell that somebody has opened on a console of the machine, to work there during the run.
    fn console(&self, pid: u32, process: &Process) -> Option<Found> {
        let item = || Item {
            name: format!("{} (pid {pid})", process.name),
            value: "logged in".to_owned(),
            cpus: None,
            who: self.starter(process),
            tells: Tells::All,
        };
        process
            .is_on_console
            .then(|| ((Subject::Console, pid.to_string()), Ok(item())))
    }

    /// Services by name, each with its processes.
    fn services(&self) -> Vec<Found> {
        let mut running: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        // A service forks for a moment to start a program: that is no change of it.
        let is_fork = |process: &Process| {
            let parent = self.processes.get(process.parent);
            parent.is_some_and(|parent| parent.name == process.name)
        };
        for (pid, process) in self
            .strangers()
            .filter(|(_, process)| !process.is_kernel && !is_fork(process))
        {
            if let Some(service) = SERVICES.into_iter().find(|service| kept(service) == process.name) {
                running.entry(service).or_default().push(pid);
            }
        }
        let item = |(service, pids): (&str, Vec<u32>)| {
            let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
            let item = Item {
                name: service.to_owned(),
                value: format!("running (pid {})", pids.join(", ")),
                cpus: None,
                who: None,
                tells: Tells::All,
            };
            ((Subject::Service, service.to_owned()), Ok(item))
        };
        running.into_iter().map(item).collect()
    }

    /// Threads of another triptime are left out: the end of this run in a container is one, and any other that shares a judged CPU is an event.
    fn real_time_threads(&self, pid: u32, process: &Process) -> Vec<Found> {
        let directory = format!("/proc/{pid}/task");
        // A kernel thread is a process of one thread.
        let threads = if process.is_kernel {
            vec![pid]
        } else {
            numbers(&directory)
        };
        let thread = |thread: u32| {
            let standing = sys::thread::standing(i32::try_from(thread).ok()?)?;
            let is_here = self.judged.is_empty() || standing.cpus.iter().any(|cpu| self.judged.contains(cpu));
            (standing.is_real_time && is_here).then(|| {
                let item = Item {
                    name: thread_name((pid, process), thread, &directory),
                    value: format!("{} on CPU {}", standing.policy, standing.cpus),
                    cpus: Some(standing.cpus),
                    who: self.starter(process).filter(|_| !process.is_kernel),
                    tells: Tells::All,
                };
                ((Subject::RealTimeThread, thread.to_string()), Ok(item))
            })
        };
        let found: Vec<Found> = threads.into_iter().filter_map(thread).collect();
        match !found.is_empty() && is_session(&directory) {
            true => Vec::new(),
            false => found,
        }
    }
}

fn thread_name((pid, process): (u32, &Process), thread: u32, directory: &str) -> String {
    if process.is_kernel {
        return format!("{} (kernel thread {pid})", process.name);
    }
    match thread == pid {
        true => format!("{} (pid {pid})", process.name),
        false => format!(
            "{} of {} (pid {pid})",
            comm(&format!("{directory}/{thread}")),
            process.name
        ),
    }
}

impl Part for Work {
    fn name(&self) -> &'static str {
        "processes"
    }

    fn look(&mut self, _host: &Host) -> Result<Option<Listing>, String> {
        self.processes.refresh();
        if self.processes.iter().next().is_none() {
            return Err("no process can be seen (/proc)".to_owned());
        }
        let is_guest = |process: &Process| {
            let begins = |known: &str| process.name.starts_with(kept(known));
            !process.is_kernel && HYPERVISORS.into_iter().any(begins)
        };
        let guests: Vec<u32> = self
            .strangers()
            .filter(|(_, process)| is_guest(process))
            .map(|(pid, _)| pid)
            .collect();
        self.guests.retain(|pid, _| guests.contains(pid));
        for pid in guests {
            self.guests.entry(pid).or_insert_with(|| name_of_guest(pid));
        }
        let mut found = self.services();
        for (pid, process) in self.strangers() {
            found.extend(self.guest(pid, process));
            found.extend(self.console(pid, process));
            found.extend(self.real_time_threads(pid, process));
        }
        Ok(Some(found))
    }

    fn hint(&self) -> Option<(Subject, String)> {
        let found = self.strangers().find(|(_, process)| process.name == IRQBALANCE);
        found.map(|(pid, _)| {
            (
                Subject::Interrupt,
                format!("{IRQBALANCE} (pid {pid}) runs, and moves interrupts"),
            )
        })
    }
}

/// Name of a guest: that of its command line, else its process.
fn name_of_guest(pid: u32) -> String {
    let octets = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<&str> = octets
        .split(|octet| *octet == 0)
        .filter_map(|word| std::str::from_utf8(word).ok())
        .collect();
    guest_name(&words).unwrap_or_else(|| format!("pid {pid}"))
}

/// The name in a command line: `-name guest=relay-02,debug-threads=on`, `-name relay-02`, `--id relay-02`.
fn guest_name(words: &[&str]) -> Option<String> {
    let at = words
        .iter()
        .position(|word| matches!(*word, "-name" | "--name" | "--id"))?;
    let mut parts = words.get(at + 1)?.split(',');
    let first = parts.clone().next().filter(|part| !part.contains('='));
    let named = parts.find_map(|part| part.strip_prefix("guest="));
    named.or(first).filter(|name| !name.is_empty()).map(str::to_owned)
}

/// CPUs of a guest's virtual CPUs, or of all its threads if none is named so. `None` if it has ended.
fn cpus_of_guest(pid: u32) -> Option<CpuList> {
    let directory = format!("/proc/{pid}/task");
    let threads = numbers(&directory);
    let is_virtual_cpu = |thread: &&u32| {
        let name = comm(&format!("{directory}/{thread}"));
        host::roles::is_virtual_cpu(&name) || name.ends_with("/TCG")
    };
    let virtual_cpus: Vec<&u32> = threads.iter().filter(is_virtual_cpu).collect();
    let counted = if virtual_cpus.is_empty() {
        threads.iter().collect()
    } else {
        virtual_cpus
    };
    let affinity = |thread: &&u32| sys::thread::affinity_of(**thread).ok();
    let lists: Vec<CpuList> = counted.iter().filter_map(affinity).collect();
    let all: CpuList = lists.iter().flat_map(CpuList::iter).collect();
    (!all.is_empty()).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::guest_name;

    #[test]
    fn a_guest_has_the_name_of_its_command_line() {
        for (line, name) in [
            ("qemu -name guest=relay-02,debug-threads=on -S", Some("relay-02")),
            ("qemu -S -name relay-02", Some("relay-02")),
            ("qemu -name relay-02,process=x", Some("relay-02")),
            ("firecracker --id relay-02", Some("relay-02")),
            ("qemu -name debug-threads=on", None),
            ("qemu -name", None),
            ("qemu -S", None),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(guest_name(&words).as_deref(), name, "{line}");
        }
    }
}
