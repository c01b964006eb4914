//! Facts about the machine, read from files under any root directory.
//!
//! [`Host::live`] reads this machine, [`Host::at`] a recorded tree: both go through the same code, which does nothing but
//! read files, follow links and list directories below its root. A fact is a value or the reason why there is none;
//! unknown is never empty and never zero.

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
pub mod container;
pub mod cpu;
pub mod cpuinfo;
pub mod error;
mod fact;
mod files;
mod firmware;
pub mod hypervisor;
pub mod idle;
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
mod open_text;
mod power;
pub mod processes;
mod quota;
pub mod reader;
mod resolve;
pub mod roles;
mod scheduler;
pub mod stat;
pub mod virtualisation;

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
pub use idle::DeepIdle;
pub use installed::{InstalledKernel, InstalledKernels};
pub use kvm_exits::KvmExits;
pub use nic::interface::{Interface, InterfaceKind};
pub use nic::interrupts::NicInterrupt;
pub use quota::CpuStatFiles;
pub use roles::{CpuFacts, Owner, Ownership, Resident};
pub use scheduler::RtRuntime;
pub use stat::ThreadStat;

use reader::Reader;

/// A machine as its files under one root directory show it.
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

    /// The machine whose `/proc`, `/sys`, `/etc`… lie under `root`: a recorded tree, or another machine's mounted root.
    ///
    /// A file `.unreadable` in `root` names the paths that were refused when the tree was recorded, one per line, errno
    /// first (`EACCES /proc/1/environ`): they are refused again.
    ///
    /// # Errors
    /// The root is no readable directory, or its `.unreadable` has a line that names no errno.
    pub fn at(root: &Path) -> Result<Self, HostError> {
        Ok(Self {
            reader: Reader::of_tree(root)?,
        })
    }

    /// As [`Host::at`], of a tree in memory.
    ///
    /// # Errors
    /// Its `.unreadable` has a line that names no errno.
    pub fn held(tree: TreeInMemory) -> Result<Self, HostError> {
        Ok(Self {
            reader: Reader::of_held(tree)?,
        })
    }

    /// Remembers from now on everything it reads, for [`Host::capture`].
    #[must_use]
    pub fn remembering(self) -> Self {
        Self {
            reader: self.reader.remembering(),
        }
    }

    /// The files that were read since [`Host::remembering`], as a tree that can be read elsewhere. Empty for a host that does not remember.
    pub fn capture(&self, processes: capture::Processes) -> capture::Capture {
        capture::Capture::of(&self.reader.touched(), processes)
    }

    /// Everything known about the machine, in reading order. Never empty: what cannot be read is there with its reason.
    pub fn facts(&self) -> Vec<Fact> {
        let groups: [fn(&Reader) -> Vec<Fact>; 14] = [
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
        ];
        groups.iter().flat_map(|group| group(&self.reader)).collect()
    }

    /// Its files, for who gathers more than this crate does.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// CPUs that are online, from `/sys/devices/system/cpu/online`.
    ///
    /// # Errors
    /// The file cannot be read or is no CPU list.
    pub fn online_cpus(&self) -> Result<CpuList, HostError> {
        cpu::online(&self.reader)
    }

    /// CPUs the scheduler leaves alone since boot, from `/sys/devices/system/cpu/isolated`. Empty: none. This is the live
    /// state; the `isolcpus=` argument may name CPUs and not isolate them (flags without `domain`).
    ///
    /// # Errors
    /// The file cannot be read or is no CPU list.
    pub fn isolated_cpus(&self) -> Result<CpuList, HostError> {
        isolation::isolated(&self.reader)
    }

    /// Facts that decide which CPUs can be measured: those online, in the cpuset, kept free of the kernel's work, and their owners.
    ///
    /// # Errors
    /// The CPUs online cannot be read.
    pub fn cpu_facts(&self) -> Result<CpuFacts, HostError> {
        roles::read(&self.reader)
    }

    /// How long real-time threads may run in each period, from `/proc/sys/kernel/sched_rt_{runtime,period}_us`.
    ///
    /// # Errors
    /// A file cannot be read or holds no number.
    pub fn rt_runtime(&self) -> Result<RtRuntime, HostError> {
        scheduler::rt_runtime(&self.reader)
    }

    /// How much real-time threads of this process's control group may run, where groups have such a budget (`RT_GROUP_SCHED`, version 1).
    ///
    /// # Errors
    /// The group cannot be told.
    pub fn group_rt_runtime(&self) -> Result<Option<RtRuntime>, HostError> {
        cgroup::rt_runtime(&self.reader)
    }

    /// The memory of the control group of this process, or of one above it, that has the least left; `None`: there is no limit, or none
    /// that can be read.
    pub fn group_memory(&self) -> Option<GroupMemory> {
        cgroup::memory(&self.reader)
    }

    /// Budget of each second of real-time threads that is left for new control groups, in us, with what others have taken off; `None`:
    /// groups have no such budget. A new group has none of its own.
    pub fn rt_budget_left_us(&self) -> Option<u64> {
        cgroup::rt_budget_left_us(&self.reader)
    }

    /// Time the hypervisor ran something else, per online CPU, from `/proc/stat`, in ticks of [`USER_HZ`]. 0 proves
    /// nothing where the hypervisor does not tell (VMware by default).
    ///
    /// # Errors
    /// The file cannot be read or has no per-CPU lines with a steal column.
    pub fn steal_ticks(&self) -> Result<Vec<Steal>, HostError> {
        clock::steal(&self.reader)
    }

    /// The deepest idle state that these CPUs enter by themselves, where it is deeper than C1; `None`: none of them does.
    pub fn deep_idle(&self, cpus: &CpuList) -> Option<DeepIdle> {
        idle::deep(&self.reader, cpus)
    }

    /// Where the kernel of this machine counts how long CPU quotas of control groups held this process back. Valid until the process is
    /// moved to another group.
    ///
    /// # Errors
    /// The group of this process cannot be told.
    pub fn cpu_stat_files(&self) -> Result<CpuStatFiles, HostError> {
        quota::files(&self.reader)
    }

    /// The kernel's counters of caches and of the memory's bandwidth: of the groups that have one of the `measured` CPUs, and of the
    /// default group. Empty where none are kept.
    ///
    /// # Errors
    /// The groups cannot be listed.
    pub fn cache_monitors(&self, measured: &CpuList) -> Result<Vec<CacheMonitor>, HostError> {
        cache_monitor::find(&self.reader, measured)
    }

    /// The value of such a counter, in octets.
    ///
    /// # Errors
    /// Why there is none, in words: the kernel's own, such as `Unavailable`, or that reading it would disturb a measured CPU.
    pub fn read_cache_monitor(&self, monitor: &CacheMonitor) -> Result<u64, String> {
        monitor.read(&self.reader)
    }

    /// KVM's counters of the exits of each guest of this machine; none where it has no guests, or the kernel does not tell.
    ///
    /// # Errors
    /// A folder of them that cannot be read.
    pub fn kvm_exits(&self) -> Result<Vec<KvmExits>, HostError> {
        kvm_exits::find(&self.reader)
    }

    /// The value of such a counter.
    ///
    /// # Errors
    /// Why there is none, in words: the guest is gone, or nobody may read it.
    pub fn read_kvm_exits(&self, counter: &KvmExits) -> Result<u64, String> {
        counter.read(&self.reader)
    }

    /// How the exits of this process's guest are told.
    ///
    /// # Errors
    /// Why they are unknown, and what to do.
    pub fn kvm_exits_told(&self, process: u32) -> Result<String, String> {
        kvm_exits::told(&self.reader, process)
    }

    /// The kernels in `/boot` and `/lib/modules`.
    pub fn installed_kernels(&self) -> InstalledKernels {
        installed::find(&self.reader)
    }

    /// The hypervisor below the machine, or the bare hardware, with the evidence.
    ///
    /// # Errors
    /// Nothing that would tell can be read.
    pub fn hypervisor(&self) -> Result<Hypervisor, HostError> {
        hypervisor::detect(&self.reader)
    }

    /// The container that this process runs in, if any, with the evidence.
    ///
    /// # Errors
    /// Nothing that would tell can be read.
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

    /// Threads of others that a thread which spins on `cpus` at real-time priority would keep waiting: real-time threads, virtual CPUs,
    /// threads that serve the interrupts of an interface in use. Of a container only its own threads can be seen.
    ///
    /// # Errors
    /// `/proc` cannot be listed.
    pub fn residents(&self, cpus: &CpuList) -> Result<Vec<Resident>, HostError> {
        roles::residents(&self.reader, cpus)
    }

    /// Facts of one network interface by its files, in the group `nic NAME`: place, queues, interrupts. Of an interface that
    /// is not in the namespace whose `/sys` is mounted, every fact is a reason.
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
