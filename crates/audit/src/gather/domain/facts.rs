//! Facts of a definition, one by one.

use std::collections::BTreeMap;

use units::CpuList;

use super::{Scene, differences, functions, hardware, nics, slice, threads};
use crate::definition::domain::Domain;
use crate::facts::{IntoKnown, Subject};
use crate::value::{Known, Unknown, Value};

/// Facts of a definition, by their names after `dom.` and `stored.`.
type Fact = (&'static str, fn(&Scene<'_>, &Domain) -> Known);

const FACTS: [Fact; 50] = [
    ("is-x86", |_, domain| yes(domain.is_x86())),
    ("vcpus", |_, domain| domain.tuning.vcpus.into_known()),
    ("vcpu-ids", |_, domain| domain.tuning.ids().into_known()),
    ("pinned-vcpus", |_, domain| keys(&domain.tuning.pins)),
    ("scheduled-vcpus", |_, domain| keys(&domain.tuning.policies)),
    ("topology-vcpus", |_, domain| {
        let vcpus = domain.cpu.topology.as_ref().map(|topology| topology.vcpus);
        vcpus.ok_or_else(|| silent("<topology>")).into_known()
    }),
    ("vcpus-not-on-one-cpu", |_, domain| loose_vcpus(domain).into_known()),
    ("vcpu-cpus", |_, domain| domain.tuning.vcpu_cpus().into_known()),
    ("all-vcpu-cpus", |scene, domain| {
        all_vcpu_cpus(scene, domain).into_known()
    }),
    ("shared-cpus", |scene, domain| shared_cpus(scene, domain).into_known()),
    ("shares-cpus-with", |scene, domain| {
        shares_with(scene, domain).into_known()
    }),
    ("wanted-pins", wanted_pins),
    ("rt-cpus", |scene, _| scene.rt_cpus.clone().into_known()),
    ("emulator-cpus", |_, domain| {
        let cpus = domain.tuning.emulator.clone();
        cpus.ok_or_else(|| silent("<emulatorpin>")).into_known()
    }),
    ("vcpus-not-real-time", |_, domain| not_real_time(domain).into_known()),
    ("priority", |_, domain| {
        let priorities = domain.tuning.policies.values().map(|(_, priority)| *priority);
        priorities.max().ok_or_else(|| silent("<vcpusched>")).into_known()
    }),
    ("kernel-priority", |scene, domain| {
        scene.here.clone()?;
        threads::kernel_priority(scene, domain)
    }),
    ("huge-pages", |_, domain| yes(domain.memory.huge_pages_kib.is_some())),
    ("huge-page-kib", |scene, domain| hardware::page_kib(scene, domain)),
    ("locked", |_, domain| yes(domain.memory.locked)),
    ("no-share-pages", |_, domain| yes(domain.memory.no_share)),
    ("numa-modes", |_, domain| domain.numa.modes.clone().into_known()),
    ("numa-nodes", |_, domain| numa_nodes(domain)),
    ("host-nodes", |scene, _| hardware::nodes(scene)),
    ("cpu-nodes", |scene, domain| {
        hardware::nodes_of(scene.reader, &domain.tuning.vcpu_cpus())
    }),
    ("nic-nodes", |scene, domain| {
        hardware::nodes_of_devices(scene.reader, domain)
    }),
    ("cpu-mode", |_, domain| text("<cpu mode>", &domain.cpu.mode)),
    ("cpu-migratable", |_, domain| {
        text("<cpu migratable>", &domain.cpu.migratable)
    }),
    ("cpu-required", |_, domain| domain.cpu.required.clone().into_known()),
    ("threads-are-siblings", |scene, domain| {
        hardware::siblings(scene.reader, domain)
    }),
    ("pmu", |_, domain| text("<pmu>", &domain.pmu)),
    ("vmport", |_, domain| text("<vmport>", &domain.vmport)),
    ("hpet", |_, domain| text("the timer hpet", &domain.hpet)),
    ("pit", |_, domain| text("the timer pit", &domain.pit)),
    ("suspend-to-mem", |_, domain| {
        text("<suspend-to-mem>", &domain.suspend[0])
    }),
    ("suspend-to-disk", |_, domain| {
        text("<suspend-to-disk>", &domain.suspend[1])
    }),
    ("balloon", |_, domain| text("<memballoon>", &domain.devices.balloon)),
    ("needless-devices", |_, domain| {
        domain.devices.needless.clone().into_known()
    }),
    ("usb-named", |_, domain| yes(domain.devices.usb_named)),
    ("watchdog-acts", |_, domain| watchdog_acts(domain).into_known()),
    ("nics", |_, domain| {
        let devices = &domain.devices;
        (devices.interfaces.len() + devices.host_devices.len()).into_known()
    }),
    ("passed-nics", |scene, domain| nics::passed(scene.reader, domain)),
    ("nics-emulated", |scene, domain| nics::emulated(scene.reader, domain)),
    ("nics-tuned", |scene, domain| nics::tuned(scene.reader, domain)),
    ("disks-cached", |_, domain| disks_cached(domain).into_known()),
    ("io-threads", |_, domain| domain.tuning.io_threads.into_known()),
    ("io-thread-cpus", |_, domain| io_thread_cpus(domain)),
    ("disks-without-io-thread", |_, domain| {
        disks_without_io_thread(domain).into_known()
    }),
    ("quotas", |_, domain| domain.tuning.quotas.clone().into_known()),
    ("lifted-quotas", |_, domain| lifted(&domain.tuning.quotas).into_known()),
];

/// Stores every fact of a domain. If its definition is unreadable, each one is unknown with the reason.
pub(super) fn note(part: &mut Subject, scene: &Scene<'_>) {
    let judged = scene.named.judged();
    for (name, fact) in FACTS {
        let of = |domain: &Result<&Domain, Unknown>| fact(scene, domain.as_ref().copied().map_err(Unknown::clone)?);
        part.set_known(&format!("dom.{name}"), of(&judged));
        let stored = scene.named.stored.as_ref().map_err(Unknown::clone);
        part.set_known(&format!("stored.{name}"), of(&stored));
    }
    let running = scene.named.running.is_some();
    part.set("dom.running", judged.clone().map(|_| running));
    threads::note(part, scene, judged.clone());
    let of_here = judged.and_then(|domain| scene.here.clone().map(|()| domain));
    slice::note(part, scene, of_here.clone());
    functions::note(part, scene, of_here.clone());
    hardware::note(part, scene, of_here);
    part.set_known("dom.differences", differences::known(scene.named));
}

pub(super) fn yes(flag: bool) -> Known {
    Ok(Value::Flag(flag))
}

/// Reason for settings that the definition leaves to the hypervisor.
pub(super) fn silent(what: &str) -> Unknown {
    Unknown::absent(format!("the definition does not contain {what}"))
}

fn text(what: &str, text: &Option<String>) -> Known {
    text.clone().ok_or_else(|| silent(what)).into_known()
}

fn keys<V>(map: &BTreeMap<u32, V>) -> Known {
    map.keys().copied().collect::<CpuList>().into_known()
}

fn loose_vcpus(domain: &Domain) -> Vec<String> {
    let loose = domain.tuning.started_pins().filter_map(|(vcpu, pin)| match pin {
        None => Some(format!("vCPU {vcpu} on any CPU")),
        Some(cpus) if cpus.len() != 1 => Some(format!("vCPU {vcpu} on {cpus}")),
        Some(_) => None,
    });
    loose.collect()
}

fn all_vcpu_cpus(scene: &Scene<'_>, domain: &Domain) -> Result<CpuList, Unknown> {
    let lists = [cpus_of_others(scene)?, vec![domain.tuning.vcpu_cpus()]].concat();
    Ok(lists.iter().flat_map(CpuList::iter).collect())
}

fn cpus_of_others(scene: &Scene<'_>) -> Result<Vec<CpuList>, Unknown> {
    let others = scene.others.as_ref().map_err(Unknown::clone)?;
    Ok(others.iter().map(|other| other.tuning.vcpu_cpus()).collect())
}

/// CPUs on which threads of other domains run: vCPUs, emulators and I/O threads.
fn threads_of_others(scene: &Scene<'_>) -> Result<Vec<CpuList>, Unknown> {
    let others = scene.others.as_ref().map_err(Unknown::clone)?;
    Ok(others.iter().map(|other| threads(other)).collect())
}

fn threads(domain: &Domain) -> CpuList {
    let (vcpus, others) = (domain.tuning.vcpu_cpus(), domain.tuning.other_cpus());
    vcpus.iter().chain(others.iter()).collect()
}

/// CPUs of a vCPU that another thread may use too: a vCPU of this domain, or any thread of another one.
fn shared_cpus(scene: &Scene<'_>, domain: &Domain) -> Result<CpuList, Unknown> {
    let mut users: BTreeMap<u32, usize> = BTreeMap::new();
    let pins = domain.tuning.started_pins().filter_map(|(_, pin)| pin);
    for cpu in pins.chain(&threads_of_others(scene)?).flat_map(CpuList::iter) {
        *users.entry(cpu).or_default() += 1;
    }
    let own = domain.tuning.vcpu_cpus();
    Ok(own.iter().filter(|cpu| users[cpu] > 1).collect())
}

/// Other domains that have threads on a CPU of a vCPU of this one.
fn shares_with(scene: &Scene<'_>, domain: &Domain) -> Result<Vec<String>, Unknown> {
    let own = domain.tuning.vcpu_cpus();
    let shares = |other: &&&Domain| threads(other).iter().any(|cpu| own.contains(cpu));
    let others = scene.others.as_ref().map_err(Unknown::clone)?;
    Ok(others.iter().filter(shares).map(|other| other.name.clone()).collect())
}

/// Pins each vCPU to a CPU of its own, in the notation of the definition: uses the first real-time CPUs that no other domain has.
fn wanted_pins(scene: &Scene<'_>, domain: &Domain) -> Known {
    let taken: CpuList = threads_of_others(scene)?.iter().flat_map(CpuList::iter).collect();
    let free = scene.rt_cpus.clone()?.without(&taken);
    if free.len() < domain.tuning.vcpus as usize {
        let text = format!(
            "{} CPUs for {} vCPUs: name more with --cpus",
            free.len(),
            domain.tuning.vcpus
        );
        return Err(Unknown::unclear(text));
    }
    let pins = free.iter().take(domain.tuning.vcpus as usize).enumerate();
    let pins = pins.map(|(vcpu, cpu)| format!("<vcpupin vcpu='{vcpu}' cpuset='{cpu}'/>"));
    pins.collect::<String>().into_known()
}

fn not_real_time(domain: &Domain) -> Vec<String> {
    let of = |vcpu| match domain.tuning.policies.get(&vcpu) {
        Some((policy, priority)) if ["fifo", "rr"].contains(&policy.as_str()) && *priority >= 1 => None,
        Some((policy, _)) => Some(format!("vCPU {vcpu}: {policy}")),
        None => Some(format!("vCPU {vcpu}: other")),
    };
    (0..domain.tuning.started).filter_map(of).collect()
}

fn numa_nodes(domain: &Domain) -> Known {
    if domain.numa.nodes.is_empty() {
        return Err(silent("the nodes of the memory"));
    }
    domain.numa.sets().into_known()
}

/// The quotas of the definition as elements without a limit: a negative one is none (libvirt: formatdomain, quota).
fn lifted(quotas: &[String]) -> Result<String, Unknown> {
    let names = quotas.iter().filter_map(|quota| Some(quota.split_once('=')?.0));
    let elements: String = names.map(|name| format!("<{name}>-1</{name}>")).collect();
    match elements.is_empty() {
        true => Err(Unknown::unclear(
            "the definition sets no quota: see the group around the guest",
        )),
        false => Ok(elements),
    }
}

/// Watchdog actions that stop the guest; `none`, `dump` and `inject-nmi` leave it running.
fn watchdog_acts(domain: &Domain) -> Vec<String> {
    let actions = domain.devices.watchdogs.iter();
    let acts = actions.filter(|action| !["none", "dump", "inject-nmi"].contains(&action.as_str()));
    acts.cloned().collect()
}

fn disks_cached(domain: &Domain) -> Vec<String> {
    let disks = domain.devices.disks.iter();
    // Both modes bypass the host's page cache (libvirt: formatdomain, cache).
    let is_direct = |cache: &str| ["none", "directsync"].contains(&cache);
    let cached = disks.filter(|disk| !disk.cache.as_deref().is_some_and(is_direct));
    cached
        .map(|disk| format!("{}: {}", disk.target, disk.cache.as_deref().unwrap_or("default")))
        .collect()
}

fn disks_without_io_thread(domain: &Domain) -> Vec<String> {
    let disks = domain.devices.disks.iter().filter(|disk| !disk.has_io_thread);
    disks.map(|disk| disk.target.clone()).collect()
}

/// An I/O thread without a pin may run on every CPU of the domain.
fn io_thread_cpus(domain: &Domain) -> Known {
    let pins = &domain.tuning.io_pins;
    if (pins.len() as u64) < u64::from(domain.tuning.io_threads) {
        return Err(silent("the CPUs of some I/O threads"));
    }
    pins.values().flat_map(CpuList::iter).collect::<CpuList>().into_known()
}
