//! Facts about the machine, read from files under any root directory.
//!
//! [`Host::live`] reads this machine, [`Host::at`] a recorded tree: both use the same code, which only
//! reads files, follows links and lists directories below its root. A fact is a value or the reason that there is none;
//! an unknown fact is never empty and never zero.

#![forbid(unsafe_code)]

mod cache_monitor;
pub mod capability;
pub mod capture;
pub mod cgroup;
mod cgroup_facts;
pub mod clock;
pub mod cmdline;
pub mod cmdline_facts;
pub mod config;
pub mod connection;
pub mod console;
pub mod container;
pub mod cpu;
pub mod cpuinfo;
pub mod error;
mod fact;
mod files;
mod firmware;
pub mod hypervisor;
mod hypervisor_version;
pub mod idle;
mod idle_holders;
mod installed;
pub mod interrupt_counts;
pub mod isolation;
pub mod kernel;
mod kvm_exits;
mod limits;
pub mod memory;
pub mod mounts;
mod network;
pub mod nic;
pub mod nodes;
mod open_text;
mod power;
pub mod processes;
mod quota;
pub mod reader;
mod resolve;
pub mod roles;
mod scheduler;
pub mod stat;
mod storage;
mod throttled;
pub mod virtualisation;
mod written;

use std::path::Path;

use model::Fact;
use units::CpuList;

pub use cache_monitor::{CacheCounter, CacheMonitor};
pub use cgroup::GroupMemory;
pub use clock::{Steal, StealTicks, USER_HZ};
pub use connection::ssh_client;
pub use container::Container;
pub use error::{HostError, Unreadable};
pub use fact::to_text;
pub use files::{Member, TreeInMemory};
pub use hypervisor::{Hypervisor, HypervisorKind};
pub use idle::{DeepIdle, KeptOut};
pub use idle_holders::IdleHolder;
pub use installed::{InstalledKernel, InstalledKernels};
pub use kvm_exits::KvmExits;
pub use nic::interface::{Interface, InterfaceKind};
pub use nic::interrupts::NicInterrupt;
pub use quota::CpuStatFiles;
pub use roles::{CpuFacts, Owner, Ownership, Resident};
pub use scheduler::RtRuntime;
pub use stat::ThreadStat;
pub use throttled::Throttled;

use reader::Reader;

/// A machine, as its files under one root directory show it.
#[derive(Debug)]
pub struct Host {
    reader: Reader,
}

impl Host {
    /// This machine.
    pub fn live() -> Self {
        Self {
            reader: Reader::new(Path::new("/")),
        }
    }

    /// The machine whose `/proc`, `/sys`, `/etc`… are under `root`: a recorded tree, or another machine's mounted root.
    ///
    /// A file `.unreadable` in `root` names the paths that were refused when the tree was recorded, one per line, errno
    /// first (`EACCES /proc/1/environ`): they are refused again.
    ///
    /// # Errors
    /// The root is not a readable directory, or a line of its `.unreadable` names no errno.
    pub fn at(root: &Path) -> Result<Self, HostError> {
        Ok(Self {
            reader: Reader::of_tree(root)?,
        })
    }

    /// Same as [`Host::at`], for a tree in memory.
    ///
    /// # Errors
    /// A line of its `.unreadable` names no errno.
    pub fn held(tree: TreeInMemory) -> Result<Self, HostError> {
        Ok(Self {
            reader: Reader::of_held(tree)?,
        })
    }

    /// Stores from now on everything it reads, for [`Host::capture`].
    #[must_use]
    pub fn remembering(self) -> Self {
        Self {
            reader: self.reader.remembering(),
        }
    }

    /// Files read since [`Host::remembering`], as a tree for reading elsewhere. Empty for a host that does not store its reads.
    pub fn capture(&self, processes: capture::Processes) -> capture::Capture {
        capture::Capture::of(&self.reader.touched(), processes)
    }

    /// All facts of the machine, in reading order. Never empty: an unreadable fact is included with its reason.
    pub fn facts(&self) -> Vec<Fact> {
        let groups: [fn(&Reader) -> Vec<Fact>; 15] = [
            kernel::facts,
            cmdline_facts::facts,
            cpu::facts,
            power::facts,
            isolation::facts,
            scheduler::facts,
            clock::facts,
            memory::facts,
            virtualisation::facts,
            cgroup_facts::facts,
            limits::facts,
            network::facts,
            processes::facts,
            firmware::facts,
            storage::facts,
        ];
        groups.iter().flat_map(|group| group(&self.reader)).collect()
    }

    /// Facts about the file system and the disks to which `what`, a file at this absolute path without links, is written.
    pub fn written_to(&self, path: &Path, what: &str) -> Vec<Fact> {
        written::facts(&self.reader, path, what)
    }

    /// True if the tree has evidence of a machine: a folder `proc` or `sys`, and a name in `proc`, `sys` or `etc`. The mounted root of a machine
    /// that is off has empty `proc` and `sys`, and `etc`; a recorded tree may lack `etc`.
    pub fn has_evidence(&self) -> bool {
        let names = |path: &str| self.reader.names(path, |_| true);
        let is_root = names("/proc").is_ok() || names("/sys").is_ok();
        is_root
            && ["/proc", "/sys", "/etc"]
                .iter()
                .any(|path| names(path).is_ok_and(|names| !names.is_empty()))
    }

    /// Files of the machine, for crates that gather more facts than this one.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Online CPUs, from `/sys/devices/system/cpu/online`.
    ///
    /// # Errors
    /// The file cannot be read or is not a CPU list.
    pub fn online_cpus(&self) -> Result<CpuList, HostError> {
        cpu::online(&self.reader)
    }

    /// CPUs without load balancing since boot, from `/sys/devices/system/cpu/isolated`. Empty: none. This is the live state; the
    /// `isolcpus=` argument may name CPUs and not isolate them (flags without `domain`).
    ///
    /// # Errors
    /// The file cannot be read or is not a CPU list.
    pub fn isolated_cpus(&self) -> Result<CpuList, HostError> {
        isolation::isolated(&self.reader)
    }

    /// Facts that decide which CPUs can be measured: online, in the cpuset, free of the kernel's work, and their owners.
    ///
    /// # Errors
    /// The online CPUs cannot be read.
    pub fn cpu_facts(&self) -> Result<CpuFacts, HostError> {
        roles::read(&self.reader)
    }

    /// How long real-time threads may run in each period, from `/proc/sys/kernel/sched_rt_{runtime,period}_us`.
    ///
    /// # Errors
    /// A file cannot be read or contains no number.
    pub fn rt_runtime(&self) -> Result<RtRuntime, HostError> {
        scheduler::rt_runtime(&self.reader)
    }

    /// Budget for real-time threads of this process's control group, if groups have such a budget (`RT_GROUP_SCHED`, version 1).
    ///
    /// # Errors
    /// The group cannot be determined.
    pub fn group_rt_runtime(&self) -> Result<Option<RtRuntime>, HostError> {
        cgroup::rt_runtime(&self.reader)
    }

    /// Memory of the control group of this process, or of the ancestor that has the least left; `None` without a readable limit.
    pub fn group_memory(&self) -> Option<GroupMemory> {
        cgroup::memory(&self.reader)
    }

    /// Budget of real-time threads, in us per second, that is left for new control groups after the budgets of existing ones; `None`: groups
    /// have no such budget. A new group starts without one.
    pub fn rt_budget_left_us(&self) -> Option<u64> {
        cgroup::rt_budget_left_us(&self.reader)
    }

    /// Time that the hypervisor took from each online CPU, from `/proc/stat`, in ticks of [`USER_HZ`]. 0 is no evidence if the hypervisor
    /// does not report it (VMware by default).
    ///
    /// # Errors
    /// The file cannot be read or has no per-CPU lines with a steal column.
    pub fn steal_ticks(&self) -> Result<Vec<Steal>, HostError> {
        clock::steal(&self.reader)
    }

    /// Deepest idle state that these CPUs enter, if deeper than C1; `None`: none of them does.
    pub fn deep_idle(&self, cpus: &CpuList) -> Option<DeepIdle> {
        idle::deep(&self.reader, cpus)
    }

    /// Idle state deeper than C1 that these CPUs would enter, if nothing held a limit for all CPUs; `None`: no limit keeps them out of one.
    ///
    /// # Errors
    /// The CPUs have such a state, and the limit cannot be read.
    pub fn kept_out_of_idle(&self, cpus: &CpuList) -> Result<Option<KeptOut>, HostError> {
        idle::kept_out(&self.reader, cpus)
    }

    /// Programs that hold a limit for all CPUs, as far as they can be seen.
    pub fn idle_holders(&self) -> Vec<IdleHolder> {
        idle_holders::holders(&self.reader)
    }

    /// Files in which the kernel counts the time that CPU quotas of control groups held this process back. Valid until the process moves to
    /// another group.
    ///
    /// # Errors
    /// The group of this process cannot be determined.
    pub fn cpu_stat_files(&self) -> Result<CpuStatFiles, HostError> {
        quota::files(&self.reader)
    }

    /// The kernel's counters of caches and memory bandwidth: for the groups with one of the `measured` CPUs, and for the default group.
    /// Empty if there are none.
    ///
    /// # Errors
    /// The groups cannot be listed.
    pub fn cache_monitors(&self, measured: &CpuList) -> Result<Vec<CacheMonitor>, HostError> {
        cache_monitor::find(&self.reader, measured)
    }

    /// Value of such a counter, in bytes.
    ///
    /// # Errors
    /// There is no value: the kernel's word, such as `Unavailable`, or the note that reading it would disturb a measured CPU.
    pub fn read_cache_monitor(&self, monitor: &CacheMonitor) -> Result<u64, String> {
        monitor.read(&self.reader)
    }

    /// KVM's counters of the exits of each guest of this machine; empty without guests, or if the kernel does not show them.
    ///
    /// # Errors
    /// A folder of counters cannot be read.
    pub fn kvm_exits(&self) -> Result<Vec<KvmExits>, HostError> {
        kvm_exits::find(&self.reader)
    }

    /// The value of such a counter.
    ///
    /// # Errors
    /// There is no value: the guest has ended, or access is refused.
    pub fn read_kvm_exits(&self, counter: &KvmExits) -> Result<u64, String> {
        counter.read(&self.reader)
    }

    /// Description of the counters for the exits of this process's guest.
    ///
    /// # Errors
    /// They are unknown; with the reason and the remedy.
    pub fn kvm_exits_told(&self, process: u32) -> Result<String, String> {
        kvm_exits::told(&self.reader, process)
    }

    /// The kernel's counters of how often these CPUs slowed themselves down because they were too hot; empty if the processor has none.
    ///
    /// # Errors
    /// A folder of counters cannot be looked into.
    pub fn throttled(&self, cpus: &CpuList) -> Result<Vec<Throttled>, HostError> {
        throttled::find(&self.reader, cpus)
    }

    /// The value of such a counter.
    ///
    /// # Errors
    /// There is no value: the CPU is offline, for example.
    pub fn read_throttled(&self, counter: &Throttled) -> Result<u64, String> {
        counter.read(&self.reader)
    }

    /// The kernels in `/boot` and `/lib/modules`.
    pub fn installed_kernels(&self) -> InstalledKernels {
        installed::find(&self.reader)
    }

    /// The hypervisor below the machine, or the bare hardware, with the evidence.
    ///
    /// # Errors
    /// No conclusive file can be read.
    pub fn hypervisor(&self) -> Result<Hypervisor, HostError> {
        hypervisor::detect(&self.reader)
    }

    /// The container in which this process runs, if any, with the evidence.
    ///
    /// # Errors
    /// No conclusive file can be read.
    pub fn container(&self) -> Result<Container, HostError> {
        container::detect(&self.reader)
    }

    /// Network interfaces of the network namespace whose `/sys` is mounted, by name.
    ///
    /// # Errors
    /// `/sys/class/net` cannot be listed.
    pub fn interfaces(&self) -> Result<Vec<Interface>, HostError> {
        nic::interface::all(&self.reader)
    }

    /// Threads of others that a spinning thread on `cpus` at real-time priority would delay: real-time threads, virtual CPUs, threads that
    /// serve the interrupts of an interface in use. Inside a container only its own threads are visible.
    ///
    /// # Errors
    /// `/proc` cannot be listed.
    pub fn residents(&self, cpus: &CpuList) -> Result<Vec<Resident>, HostError> {
        roles::residents(&self.reader, cpus)
    }

    /// Facts of one network interface from its files, in the group `nic NAME`: place, queues, interrupts. If the interface is outside the
    /// namespace whose `/sys` is mounted, every fact is a reason.
    pub fn nic_facts(&self, name: &str) -> Vec<Fact> {
        nic::files::facts(&self.reader, name)
    }

    /// The interrupts of a network interface, with the CPUs that serve them, by number. Virtual interfaces have none.
    ///
    /// # Errors
    /// `/proc/interrupts` or the list of the device cannot be read.
    pub fn nic_interrupts(&self, name: &str) -> Result<Vec<NicInterrupt>, HostError> {
        nic::interrupts::of_nic(&self.reader, name)
    }

    /// Size in bytes of the largest cache of CPU 0: a buffer must exceed it to reach memory. From
    /// `/sys/devices/system/cpu/cpu0/cache/index*/size`.
    ///
    /// # Errors
    /// No cache size can be read.
    pub fn last_level_cache_bytes(&self) -> Result<u64, HostError> {
        cpu::last_level_cache_bytes(&self.reader)
    }
}
