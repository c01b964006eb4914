//! Facts for choosing the measured CPUs: existing CPUs, usable CPUs, those free of the kernel's work, and their owners.

mod movable;
mod owners;
mod residents;

use units::CpuList;

use crate::cgroup::Hierarchy;
use crate::error::HostError;
use crate::reader::Reader;
use crate::{cpu, isolation};

pub use movable::{Movable, read as movable};
pub use owners::{Owner, Ownership};
pub use owners::{is_virtual_cpu, numbers, own_number};
pub use residents::Resident;
pub use residents::read as residents;

/// CPUs of a machine and facts about them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuFacts {
    /// Online.
    pub online: CpuList,
    /// CPUs in the cpuset of this process; `None`: unknown.
    pub cpuset: Option<CpuList>,
    /// Without load balancing since boot (`isolcpus=`).
    pub isolated: CpuList,
    /// With adaptive ticks (`nohz_full=`).
    pub nohz_full: CpuList,
    /// In isolated cpuset partitions.
    pub partitions: CpuList,
    /// Threads of other processes with CPUs to themselves.
    pub owners: Vec<Owner>,
    /// Reason that owners are unknown, if they are.
    pub owners_unknown: Option<String>,
    /// Online CPUs of each core that has several: hyper-threads, which slow each other.
    pub cores: Vec<CpuList>,
    /// Reason that the core of some CPU is unknown, if it is.
    pub cores_unknown: Option<String>,
}

impl CpuFacts {
    /// CPUs that are online and in this process's cpuset.
    pub fn usable(&self) -> CpuList {
        self.online.without(&self.forbidden())
    }

    /// Online CPUs that this process's cpuset forbids.
    pub fn forbidden(&self) -> CpuList {
        let allowed = self.cpuset.as_ref();
        allowed.map_or_else(CpuList::default, |allowed| self.online.without(allowed))
    }

    /// Usable CPUs that the kernel keeps work away from, by any of the three means.
    pub fn kept_free(&self) -> CpuList {
        let by_any = |cpu: &u32| {
            let lists = [&self.isolated, &self.nohz_full, &self.partitions];
            lists.iter().any(|list| list.contains(*cpu))
        };
        self.usable().iter().filter(by_any).collect()
    }

    /// CPUs that a thread of another process has to itself.
    pub fn owned(&self) -> CpuList {
        self.owners.iter().flat_map(|owner| owner.cpus.iter()).collect()
    }

    /// Owner that has this CPU to itself.
    pub fn owner_of(&self, cpu: u32) -> Option<&Owner> {
        self.owners.iter().find(|owner| owner.cpus.contains(cpu))
    }

    /// Other CPUs on the cores of these.
    pub fn siblings(&self, cpus: &CpuList) -> CpuList {
        let shared = self
            .cores
            .iter()
            .filter(|core| core.iter().any(|cpu| cpus.contains(cpu)));
        shared.flat_map(CpuList::iter).collect::<CpuList>().without(cpus)
    }

    /// CPUs of `cpus` that are threads of the same core, core by core.
    pub fn threads_of_one_core(&self, cpus: &CpuList) -> Vec<CpuList> {
        let of_core = |core: &CpuList| core.iter().filter(|cpu| cpus.contains(*cpu)).collect::<CpuList>();
        let cores = self.cores.iter().map(of_core);
        cores.filter(|threads| threads.len() > 1).collect()
    }

    /// Means by which any of `cpus` is kept free of work: `isolcpus, nohz_full`.
    pub fn means(&self, cpus: &CpuList) -> String {
        let by = [
            ("isolcpus", &self.isolated),
            ("nohz_full", &self.nohz_full),
            ("isolated cpuset partition", &self.partitions),
        ];
        let used = by.iter().filter(|(_, list)| cpus.iter().any(|cpu| list.contains(cpu)));
        used.map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }
}

/// Reads the facts. Only the online CPUs must be readable: other unreadable facts restrict nothing.
pub fn read(reader: &Reader) -> Result<CpuFacts, HostError> {
    let own = own_cpuset(reader);
    let listed = isolation::partition_cpus(reader).unwrap_or_default();
    let mut facts = CpuFacts {
        online: cpu::online(reader)?,
        partitions: listed.iter().chain(own.partition.iter()).collect(),
        cpuset: own.cpus,
        isolated: isolation::isolated(reader).unwrap_or_default(),
        nohz_full: isolation::nohz_full(reader).unwrap_or_default(),
        ..CpuFacts::default()
    };
    match owners::read(reader, &facts) {
        Ok(owners) => facts.owners = owners,
        Err(error) => facts.owners_unknown = Some(error.reason()),
    }
    match cores(reader, &facts.online) {
        Ok(cores) => facts.cores = cores,
        Err(error) => facts.cores_unknown = Some(error.reason()),
    }
    Ok(facts)
}

/// Online CPUs of each core that has several.
fn cores(reader: &Reader, online: &CpuList) -> Result<Vec<CpuList>, HostError> {
    let mut cores: Vec<CpuList> = Vec::new();
    for cpu in online.iter() {
        let all = reader.cpus(&format!(
            "/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
        ))?;
        let core: CpuList = all.iter().filter(|cpu| online.contains(*cpu)).collect();
        if core.len() > 1 && !cores.contains(&core) {
            cores.push(core);
        }
    }
    Ok(cores)
}

/// The cpuset of this process.
struct OwnCpuset {
    /// Its CPUs; `None`: unknown.
    cpus: Option<CpuList>,
    /// Part of `cpus` in an isolated partition. Kernels before 6.7 list these nowhere else.
    partition: CpuList,
}

/// Reads the files of this process's group, or of the nearest ancestor that has them.
fn own_cpuset(reader: &Reader) -> OwnCpuset {
    let mut own = OwnCpuset {
        cpus: None,
        partition: CpuList::default(),
    };
    let group = Hierarchy::read(reader).and_then(|mounted| mounted.own_group(reader, "cpuset"));
    let Ok(group) = group else { return own };
    let file = match group.version {
        1 => "cpuset.effective_cpus",
        _ => "cpuset.cpus.effective",
    };
    let nearest = group.directories.iter().find_map(|directory| {
        let cpus = reader.cpus(&format!("{directory}/{file}")).ok()?;
        (!cpus.is_empty()).then_some((directory, cpus))
    });
    if let Some((directory, cpus)) = nearest {
        // An invalid partition shows it after the word: `isolated invalid (...)`.
        let kind = reader.line(&format!("{directory}/cpuset.cpus.partition"));
        if kind.is_ok_and(|kind| kind == "isolated") {
            own.partition = cpus.clone();
        }
        own.cpus = Some(cpus);
    }
    own
}
