//! A libvirt domain: the parts of its XML that matter to real-time work.

use super::devices::Devices;
use units::CpuList;

use super::element::{Element, Wrong, cpu_set, document};
use super::tuning::Tuning;
use crate::value::Unknown;

/// A libvirt domain.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Domain {
    pub(crate) name: String,
    /// Instruction set of the guest; `None`: the hypervisor's.
    pub(crate) arch: Option<String>,
    /// Machine type; `None`: the hypervisor's first.
    pub(crate) machine: Option<String>,
    pub(crate) tuning: Tuning,
    pub(crate) memory: Memory,
    /// Memory of the guest in KiB; `None`: missing or unreadable.
    pub(crate) memory_kib: Option<f64>,
    pub(crate) numa: Numa,
    pub(crate) cpu: Cpu,
    /// `state` of `<pmu>` and of `<vmport>`.
    pub(crate) pmu: Option<String>,
    pub(crate) vmport: Option<String>,
    /// `present` of the timer `hpet`, `tickpolicy` of the timer `pit`.
    pub(crate) hpet: Option<String>,
    pub(crate) pit: Option<String>,
    /// `enabled` of `<suspend-to-mem>` and of `<suspend-to-disk>`.
    pub(crate) suspend: [Option<String>; 2],
    /// Place in the tree of control groups, such as `/machine/rt`.
    pub(crate) partition: Option<String>,
    pub(crate) devices: Devices,
    /// The running domain, by its status file.
    pub(crate) running: Option<Running>,
}

/// Process and vCPUs of a running domain, as libvirt records them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Running {
    /// Process of the hypervisor.
    pub(crate) pid: u32,
    /// Each vCPU with its thread id.
    pub(crate) vcpus: Vec<(u32, u32)>,
}

/// Source of the guest memory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Memory {
    /// Sizes of huge pages in KiB; empty: the host's default size; `None`: no huge pages.
    pub(crate) huge_pages_kib: Option<Vec<u64>>,
    pub(crate) locked: bool,
    pub(crate) no_share: bool,
}

/// Nodes that may provide the memory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Numa {
    pub(crate) modes: Vec<String>,
    pub(crate) nodes: Vec<String>,
}

impl Numa {
    /// Nodes of all cells together; empty if the definition names none.
    ///
    /// # Errors
    /// A set cannot be read.
    pub(crate) fn sets(&self) -> Result<CpuList, Unknown> {
        let set = |nodes: &String| {
            cpu_set(nodes).ok_or_else(|| Unknown::unclear(format!("\"{nodes}\" does not name the nodes")))
        };
        let sets = self.nodes.iter().map(set).collect::<Result<Vec<_>, _>>()?;
        Ok(sets.iter().flat_map(CpuList::iter).collect())
    }
}

/// Processor that the guest sees.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cpu {
    pub(crate) mode: Option<String>,
    pub(crate) migratable: Option<String>,
    /// Features with the policy `require` or `force`.
    pub(crate) required: Vec<String>,
    /// Number of sockets, dies, clusters, cores and threads.
    pub(crate) topology: Option<Topology>,
}

/// Grouping of the vCPUs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Topology {
    /// The product of all levels.
    pub(crate) vcpus: u32,
    pub(crate) threads: u32,
}

impl Domain {
    /// Reads a definition, or the status file of a running domain.
    ///
    /// # Errors
    /// The text is neither of these files, or a number or set in it cannot be read.
    pub(crate) fn parse(text: &str) -> Result<Self, Wrong> {
        let tree = document(text)?;
        let root = Element::root(&tree);
        let domain = match root.name() {
            "domain" => root,
            "domstatus" => root.at("domain").ok_or("the status file has no <domain>")?,
            other => return Err(format!("the root is <{other}>: a libvirt <domain> was expected")),
        };
        let name = domain.at("name").map(Element::text).unwrap_or_default();
        if name.is_empty() {
            return Err("the domain has no <name>".to_owned());
        }
        let timer = |name: &str, attribute| {
            let mut timers = domain.at("clock").into_iter().flat_map(|clock| clock.all("timer"));
            let timer = timers.find(|timer| timer.attribute("name") == Some(name))?;
            timer.attribute(attribute).map(str::to_owned)
        };
        Ok(Self {
            name: name.to_owned(),
            arch: domain.attribute_at("os/type", "arch"),
            machine: domain.attribute_at("os/type", "machine"),
            tuning: Tuning::read(domain)?,
            memory: memory(domain)?,
            memory_kib: domain.at("memory").and_then(memory_kib),
            numa: numa(domain),
            cpu: cpu(domain)?,
            pmu: domain.attribute_at("features/pmu", "state"),
            vmport: domain.attribute_at("features/vmport", "state"),
            hpet: timer("hpet", "present"),
            pit: timer("pit", "tickpolicy"),
            suspend: ["pm/suspend-to-mem", "pm/suspend-to-disk"].map(|path| domain.attribute_at(path, "enabled")),
            partition: domain.at("resource/partition").map(|place| place.text().to_owned()),
            devices: Devices::read(domain)?,
            running: running(root)?,
        })
    }

    /// True if an interface without a model is virtio (libvirt: src/qemu/qemu_postparse.c, qemuDomainDefaultNetModel). For other guests it
    /// is an emulated card: rtl8139 or e1000.
    pub(crate) fn defaults_to_virtio(&self) -> bool {
        let arch = self.arch.as_deref().unwrap_or_default();
        let machine = self.machine.as_deref().unwrap_or("virt");
        let is_virt = machine == "virt" || machine.starts_with("virt-");
        let is_other = ["aarch64", "armv7l", "armv6l", "riscv64", "loongarch64"].contains(&arch);
        arch.starts_with("s390") || (is_other && is_virt)
    }

    /// True if the guest is x86, which is assumed if the definition names nothing else.
    pub(crate) fn is_x86(&self) -> bool {
        let arch = self.arch.as_deref();
        arch.is_none_or(|arch| ["x86_64", "i686"].contains(&arch))
    }
}

fn running(root: Element<'_>) -> Result<Option<Running>, Wrong> {
    let Some(pid) = root.number("pid")?.filter(|_| root.name() == "domstatus") else {
        return Ok(None);
    };
    let listed = root.at("vcpus").into_iter().flat_map(|vcpus| vcpus.all("vcpu"));
    let vcpus = listed.map(|vcpu| Ok((vcpu.needed("id")?, vcpu.needed("pid")?)));
    let vcpus = vcpus.collect::<Result<_, Wrong>>()?;
    Ok(Some(Running { pid, vcpus }))
}

fn memory(domain: Element<'_>) -> Result<Memory, Wrong> {
    let has = |path| domain.at(path).is_some();
    let pages = domain.at("memoryBacking/hugepages");
    let sizes = pages.map(|pages| pages.all("page").map(page_kib).collect());
    Ok(Memory {
        huge_pages_kib: sizes.transpose()?,
        locked: has("memoryBacking/locked"),
        no_share: has("memoryBacking/nosharepages"),
    })
}

fn page_kib(page: Element<'_>) -> Result<u64, Wrong> {
    let size = u64::from(page.needed("size")?);
    let unit = page.attribute("unit").unwrap_or("KiB");
    let octets = unit_octets(unit).ok_or_else(|| format!("<page unit='{unit}'>: KiB, M or G was expected"))?;
    Ok(size * octets / 1024)
}

fn memory_kib(memory: Element<'_>) -> Option<f64> {
    let number: u64 = memory.text().parse().ok()?;
    let octets = unit_octets(memory.attribute("unit").unwrap_or("KiB"))?;
    Some(number as f64 * octets as f64 / 1024.0)
}

/// libvirt's units: powers of 1000 for `kB`, `MB` and `GB`, of 1024 for the others (formatdomain: memory allocation).
fn unit_octets(unit: &str) -> Option<u64> {
    match unit.to_ascii_lowercase().as_str() {
        "b" | "bytes" => Some(1),
        "kb" => Some(1000),
        "k" | "kib" => Some(1 << 10),
        "mb" => Some(1_000_000),
        "m" | "mib" => Some(1 << 20),
        "gb" => Some(1_000_000_000),
        "g" | "gib" => Some(1 << 30),
        "tb" => Some(1_000_000_000_000),
        "t" | "tib" => Some(1 << 40),
        _ => None,
    }
}

/// Nodes of guest cells replace those of the whole if they are given.
fn numa(domain: Element<'_>) -> Numa {
    let tune = domain.at("numatune");
    let cells: Vec<Element<'_>> = tune.into_iter().flat_map(|tune| tune.all("memnode")).collect();
    let whole = tune.into_iter().flat_map(|tune| tune.all("memory"));
    let rules: Vec<Element<'_>> = if cells.is_empty() { whole.collect() } else { cells };
    let texts = |name: &str| {
        let texts = rules.iter().filter_map(|rule| rule.attribute(name));
        texts.map(str::to_owned).collect()
    };
    let mut modes: Vec<String> = texts("mode");
    modes.extend((modes.len()..rules.len()).map(|_| "strict".to_owned()));
    Numa {
        modes,
        nodes: texts("nodeset"),
    }
}

fn cpu(domain: Element<'_>) -> Result<Cpu, Wrong> {
    let cpu = domain.at("cpu");
    let features = cpu.into_iter().flat_map(|cpu| cpu.all("feature"));
    let required = features.filter(|feature| matches!(feature.attribute("policy"), None | Some("require" | "force")));
    let names = required.filter_map(|feature| feature.attribute("name"));
    Ok(Cpu {
        mode: cpu.and_then(|cpu| cpu.attribute("mode")).map(str::to_owned),
        migratable: cpu.and_then(|cpu| cpu.attribute("migratable")).map(str::to_owned),
        required: names.map(str::to_owned).collect(),
        topology: domain.at("cpu/topology").map(topology).transpose()?,
    })
}

fn topology(element: Element<'_>) -> Result<Topology, Wrong> {
    let level = |name| Ok::<u32, Wrong>(element.number(name)?.unwrap_or(1));
    let threads = level("threads")?;
    let mut vcpus = threads;
    for name in ["sockets", "dies", "clusters", "cores"] {
        let more = vcpus.checked_mul(level(name)?);
        vcpus = more.ok_or("<topology>: more vCPUs than can be counted")?;
    }
    Ok(Topology { vcpus, threads })
}
