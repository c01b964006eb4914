//! Users of each real-time CPU: programs, virtual machines, containers and interrupts do not know of each other.

use std::collections::{BTreeMap, BTreeSet};

use units::CpuList;

use super::{Thread, seen};
use crate::facts::{Class, Facts};
use crate::gather::cpus;
use crate::value::Unknown;
use host::error::HostError;
use host::reader::Reader;
use host::roles::numbers;

const IRQS: &str = "/proc/irq";
/// Files in an interrupt's folder; any further folder has the name of its handler.
const FILES: [&str; 7] = [
    "affinity_hint",
    "effective_affinity",
    "effective_affinity_list",
    "node",
    "smp_affinity",
    "smp_affinity_list",
    "spurious",
];

pub(super) fn gather(reader: &Reader, threads: &Result<Vec<Thread>, Unknown>, facts: &mut Facts) {
    let owners = owners(reader, threads, facts);
    let strangers = strangers(reader, facts, &owners);
    let interrupts = interrupts(reader, facts);
    for part in facts.parts_mut(Class::RtCpu) {
        let cpu = part.name.parse::<u32>().unwrap_or_default();
        let of = |map: &BTreeMap<u32, BTreeSet<String>>| -> Vec<String> {
            map.get(&cpu)
                .map(|set| set.iter().cloned().collect())
                .unwrap_or_default()
        };
        part.set("cpu.programs", owners.as_ref().map(of).map_err(Unknown::clone));
        part.set("cpu.interrupts", interrupts.as_ref().map(of).map_err(Unknown::clone));
        let strangers = strangers.get(&cpu).cloned();
        let strangers = strangers.unwrap_or_else(|| Err(Unknown::unclear("not asked")));
        part.set("cpu.strange-siblings", strangers);
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        part.set(
            "cpu.is-second-thread",
            reader.cpus(&path).map(|threads| threads.first() != Some(cpu)),
        );
    }
}

/// Programs by CPU, grouped by unit, container or virtual machine: a relay and helpers on its CPU count as one.
fn owners(
    reader: &Reader,
    threads: &Result<Vec<Thread>, Unknown>,
    facts: &Facts,
) -> Result<BTreeMap<u32, BTreeSet<String>>, Unknown> {
    let asked = cpus::known(facts, "cpus.asked")?;
    let online = cpus::known(facts, "cpus.online")?;
    let mut owners: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    let mut groups = BTreeMap::new();
    for thread in seen(threads)?.iter().filter(|thread| is_owner(thread, &asked, &online)) {
        let group = groups.entry(thread.pid).or_insert_with(|| group(reader, thread));
        for cpu in thread.allowed.iter().filter(|cpu| asked.contains(*cpu)) {
            owners.entry(cpu).or_default().insert(group.clone());
        }
    }
    Ok(owners)
}

fn is_owner(thread: &Thread, asked: &CpuList, online: &CpuList) -> bool {
    let has_reason = thread.stat.is_real_time || thread.is_virtual_cpu() || thread.is_confined_to(asked);
    let is_confined = !online.without(&thread.allowed).is_empty();
    !thread.stat.is_kernel && has_reason && is_confined && thread.may_run_on(asked)
}

/// Control group of a service, machine or container; name and pid for other processes.
fn group(reader: &Reader, thread: &Thread) -> String {
    let own = format!("{} (pid {})", thread.process, thread.pid);
    let groups = reader.text(&format!("/proc/{}/cgroup", thread.pid)).unwrap_or_default();
    let paths = groups.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    let longest = paths.max_by_key(|path| path.len()).unwrap_or("/");
    let is_session = longest.contains("user.slice") || longest.contains("/session");
    let ends = longest
        .rsplit('/')
        .find(|part| part.ends_with(".service") || part.ends_with(".scope"));
    match ends {
        Some(unit) if !is_session => unit.to_owned(),
        _ => own,
    }
}

/// CPUs that share a core with each real-time CPU, and are neither real-time CPUs themselves nor used by the same program.
fn strangers(
    reader: &Reader,
    facts: &Facts,
    owners: &Result<BTreeMap<u32, BTreeSet<String>>, Unknown>,
) -> BTreeMap<u32, Result<CpuList, Unknown>> {
    let asked = cpus::known(facts, "cpus.asked").unwrap_or_default();
    let of = |cpu: u32| -> Result<CpuList, Unknown> {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        let core = reader.cpus(&path)?;
        if !core.contains(cpu) {
            return Err(Unknown::unclear(format!("{path}: CPU {cpu} is not in it")));
        }
        let siblings = core.without(&[cpu].into_iter().collect());
        let outside = siblings.without(&asked);
        if !outside.is_empty() || siblings.is_empty() {
            return Ok(outside);
        }
        let owners = owners.as_ref().map_err(Unknown::clone)?;
        let programs = |cpu| owners.get(&cpu).cloned().unwrap_or_default();
        let own = programs(cpu);
        let strange = |sibling: &u32| !own.is_empty() && !programs(*sibling).is_subset(&own);
        Ok(siblings.iter().filter(strange).collect())
    };
    asked.iter().map(|cpu| (cpu, of(cpu))).collect()
}

/// Device interrupts that are sent to each real-time CPU.
fn interrupts(reader: &Reader, facts: &Facts) -> Result<BTreeMap<u32, BTreeSet<String>>, Unknown> {
    let asked = cpus::known(facts, "cpus.asked")?;
    let mut found: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for number in numbers(reader, IRQS)? {
        let Ok(sent_to) = target(reader, number) else { continue };
        let there: Vec<u32> = sent_to.iter().filter(|cpu| asked.contains(*cpu)).collect();
        if there.is_empty() {
            continue;
        }
        let handlers = reader.names(&format!("{IRQS}/{number}"), |name| !FILES.contains(&name))?;
        if let Some(first) = handlers.first() {
            for cpu in there {
                found
                    .entry(cpu)
                    .or_default()
                    .insert(format!("interrupt {number} ({first})"));
            }
        }
    }
    Ok(found)
}

fn target(reader: &Reader, number: u32) -> Result<CpuList, HostError> {
    let effective = reader.cpus(&format!("{IRQS}/{number}/effective_affinity_list"));
    match effective {
        Err(error) if error.is_absent() => reader.cpus(&format!("{IRQS}/{number}/smp_affinity_list")),
        effective => effective,
    }
}
