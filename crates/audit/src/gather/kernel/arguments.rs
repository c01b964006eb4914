//! Kernel arguments that contradict each other, the plan or the machine.

use units::CpuList;

use crate::facts::Facts;
use crate::gather::cpus;
use crate::parameters::Parameters;
use crate::value::Unknown;
use host::cmdline::{Cmdline, boot_cpus};
use host::cmdline_facts::{CPU_LISTS, OTHERS, split_flags};
use host::isolation;
use host::reader::Reader;

/// Arguments that may appear more than once with different meanings.
pub const REPEATED: [&str; 2] = ["hugepagesz", "hugepages"];
/// From this version on, each kind of isolation has its own CPUs; before, a second list was dropped unless it was equal.
const OWN_LISTS_SINCE: f64 = 5018.0;

pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    facts.set("kernel.arguments-contradict", contradictions(reader, parameters, facts));
}

/// CPU lists of a command line.
pub(super) struct Lists {
    /// CPUs that `isolcpus=` takes from the scheduler.
    pub(super) domain: CpuList,
    pub(super) nohz_full: CpuList,
    pub(super) irqaffinity: CpuList,
    /// Values that are not lists, with their text.
    wrong: Vec<String>,
}

impl Lists {
    pub(super) fn read(line: &Cmdline, highest: u32) -> Self {
        let mut wrong = Vec::new();
        let mut list = |name: &str, of: &dyn Fn(&str) -> Option<String>| {
            let parts = line.values(name).filter_map(of);
            let cpus = parts.filter_map(|text| {
                let cpus = boot_cpus(&text, highest);
                if cpus.is_none() {
                    wrong.push(format!("{name}={text} is not a list of CPUs"));
                }
                cpus
            });
            let cpus: Vec<CpuList> = cpus.collect();
            cpus.iter().flat_map(CpuList::iter).collect::<CpuList>()
        };
        let whole = |text: &str| Some(text.to_owned());
        // The kernel adds the CPUs of nohz_full (kernel/rcu/tree_nocb.h, rcu_init_nohz), so a shorter list is no contradiction.
        list("rcu_nocbs", &|text| {
            Some(if text.is_empty() { "all" } else { text }.to_owned())
        });
        Self {
            domain: list("isolcpus", &isolated_from_the_scheduler),
            nohz_full: list("nohz_full", &whole),
            irqaffinity: list("irqaffinity", &whole),
            wrong,
        }
    }
}

/// List of an `isolcpus=` that isolates from the scheduler: without flags, or with the flag `domain` (kernel/sched/isolation.c).
fn isolated_from_the_scheduler(value: &str) -> Option<String> {
    let (flags, list) = split_flags(value);
    (flags.is_empty() || flags.contains(&"domain")).then(|| list.to_owned())
}

/// CPUs that this kernel could ever have.
pub(super) fn possible(reader: &Reader) -> Result<CpuList, Unknown> {
    let possible = reader.cpus("/sys/devices/system/cpu/possible");
    let known = possible.ok().filter(|cpus| !cpus.is_empty());
    match known {
        Some(cpus) => Ok(cpus),
        None => Ok(host::cpu::online(reader)?),
    }
}

fn contradictions(reader: &Reader, parameters: &Parameters, facts: &Facts) -> Result<Vec<String>, Unknown> {
    let line = Cmdline::read(reader)?;
    let possible = possible(reader)?;
    let lists = Lists::read(&line, possible.iter().last().unwrap_or(0));
    let partitions = cpus::known(facts, "cpus.partitions").unwrap_or_default();
    let mut found = lists.wrong.clone();
    found.extend(between(&lists, &partitions));
    found.extend(to_the_plan(&lists, parameters.rt_cpus.as_ref(), &partitions));
    found.extend(to_the_machine(reader, &lists, &possible));
    if cpus::number(facts, "kernel.number").is_some_and(|number| number < OWN_LISTS_SINCE) {
        found.extend(dropped(&lists));
    }
    found.extend(unknown_flags(&line));
    found.extend(twice(&line));
    Ok(found)
}

fn beyond(of: &CpuList, allowed: &CpuList, what: &str) -> Option<String> {
    let rest = of.without(allowed);
    (!rest.is_empty()).then(|| format!("{what} CPU {rest}"))
}

fn both(a: &CpuList, b: &CpuList) -> CpuList {
    a.iter().filter(|cpu| b.contains(*cpu)).collect()
}

fn between(lists: &Lists, partitions: &CpuList) -> Vec<String> {
    let mut found = Vec::new();
    let apart: CpuList = lists.domain.iter().chain(partitions.iter()).collect();
    found.extend(beyond(
        &lists.nohz_full,
        &apart,
        "nohz_full without isolation from the scheduler:",
    ));
    let interrupted = both(&lists.irqaffinity, &lists.domain);
    found.extend(beyond(
        &interrupted,
        &CpuList::default(),
        "irqaffinity sends interrupts to isolated",
    ));
    found
}

fn to_the_plan(lists: &Lists, told: Option<&CpuList>, partitions: &CpuList) -> Vec<String> {
    let Some(told) = told else { return Vec::new() };
    let mut found = Vec::new();
    if !lists.domain.is_empty() {
        let apart: CpuList = lists.domain.iter().chain(partitions.iter()).collect();
        found.extend(beyond(told, &apart, "isolcpus lacks these real-time CPUs:"));
    }
    let planned = both(&lists.irqaffinity, told).without(&lists.domain);
    found.extend(beyond(
        &planned,
        &CpuList::default(),
        "irqaffinity sends interrupts to real-time",
    ));
    found
}

fn to_the_machine(reader: &Reader, lists: &Lists, possible: &CpuList) -> Vec<String> {
    let all = [
        ("isolcpus", &lists.domain),
        ("nohz_full", &lists.nohz_full),
        ("irqaffinity", &lists.irqaffinity),
    ];
    let mut found: Vec<String> = Vec::new();
    for (name, list) in all {
        found.extend(beyond(
            list,
            possible,
            &format!("{name} names CPUs that this machine cannot have:"),
        ));
    }
    if !lists.domain.is_empty() && possible.without(&lists.domain).is_empty() {
        found.push("isolcpus leaves no CPU for everything else".to_owned());
    }
    if let Ok(isolated) = isolation::isolated(reader) {
        let not = both(&lists.domain, possible).without(&isolated);
        found.extend(beyond(
            &not,
            &CpuList::default(),
            "the kernel did not accept from isolcpus:",
        ));
    }
    found
}

fn dropped(lists: &Lists) -> Option<String> {
    let both_given = !lists.domain.is_empty() && !lists.nohz_full.is_empty();
    (both_given && lists.domain != lists.nohz_full)
        .then(|| "isolcpus and nohz_full differ: kernels before 5.18 drop the second".to_owned())
}

/// Unknown flags: the kernel ignores them, and thus their purpose is lost.
fn unknown_flags(line: &Cmdline) -> Vec<String> {
    let flags = line.values("isolcpus").flat_map(|value| split_flags(value).0);
    let unknown = flags.filter(|flag| !["nohz", "domain", "managed_irq"].contains(flag));
    unknown
        .map(|flag| format!("isolcpus has the unknown flag {flag}"))
        .collect()
}

fn twice(line: &Cmdline) -> Vec<String> {
    let names = CPU_LISTS.iter().chain(&OTHERS).filter(|name| !REPEATED.contains(name));
    let differ = names.filter_map(|name| {
        let values: Vec<&str> = line.values(name).collect();
        let first = values.first()?;
        let differ = values.iter().any(|value| value != first);
        differ.then(|| format!("{name} is given as {}", values.join(" and as ")))
    });
    differ.collect()
}
