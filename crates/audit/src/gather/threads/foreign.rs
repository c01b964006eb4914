//! Threads on real-time CPUs that do not belong there.

use std::collections::BTreeMap;

use units::CpuList;

use super::{Thread, seen, shown};
use crate::facts::Facts;
use crate::gather::cpus;
use crate::value::Unknown;

/// Kernel threads that other rules judge: they follow an interrupt, a queue or a virtual machine.
const ELSEWHERE: [&str; 4] = ["irq/", "vhost-", "napi/", "rcuo"];

pub(super) fn gather(threads: &Result<Vec<Thread>, Unknown>, facts: &mut Facts) {
    let found = foreign(threads, facts);
    facts.set("threads.foreign", found);
}

fn foreign(threads: &Result<Vec<Thread>, Unknown>, facts: &Facts) -> Result<Vec<String>, Unknown> {
    let rt_cpus = cpus::known(facts, "rt_cpus")?;
    let isolated = cpus::known(facts, "cpus.isolated")?;
    let partitions = cpus::known(facts, "cpus.partitions").unwrap_or_default();
    let ours = own_cpus(facts)?;
    let apart: CpuList = isolated.iter().chain(partitions.iter()).collect();
    let is_kept_away = |thread: &Thread| {
        let elsewhere = thread.stat.cpu.is_some_and(|cpu| !rt_cpus.contains(cpu));
        let everywhere = !thread.is_confined_to(&rt_cpus);
        everywhere && elsewhere && rt_cpus.without(&apart).is_empty()
    };
    let found = seen(threads)?.iter().filter(|thread| {
        is_movable(thread) && !is_intended(thread, &ours) && thread.may_run_on(&rt_cpus) && !is_kept_away(thread)
    });
    Ok(shown(by_process(found, &rt_cpus)))
}

/// One text per process: the number of its threads, and how many of them last ran on these CPUs.
fn by_process<'a>(threads: impl Iterator<Item = &'a Thread>, rt_cpus: &CpuList) -> Vec<String> {
    let mut processes: BTreeMap<u32, (&str, usize, usize)> = BTreeMap::new();
    for thread in threads {
        let of_process = processes.entry(thread.pid).or_insert((&thread.process, 0, 0));
        of_process.1 += 1;
        of_process.2 += usize::from(thread.stat.cpu.is_some_and(|cpu| rt_cpus.contains(cpu)));
    }
    let text = |(pid, (name, count, there)): (u32, (&str, usize, usize))| match (count, there) {
        (1, 0) => format!("{name} (pid {pid})"),
        (1, _) => format!("{name} (pid {pid}), which last ran there"),
        _ => format!("{name} (pid {pid}, {count} threads, {there} of which last ran there)"),
    };
    processes.into_iter().map(text).collect()
}

/// Real-time CPUs; empty if there are no other CPUs, because then a thread that is only on them is no evidence.
pub(super) fn own_cpus(facts: &Facts) -> Result<CpuList, Unknown> {
    let others = cpus::known(facts, "hk_cpus")?;
    match others.is_empty() {
        true => Ok(CpuList::default()),
        false => cpus::known(facts, "rt_cpus"),
    }
}

fn is_movable(thread: &Thread) -> bool {
    let named = ELSEWHERE.iter().any(|name| thread.stat.name.starts_with(name));
    let judged_elsewhere = thread.stat.is_kernel && named;
    !thread.stat.is_bound && !judged_elsewhere
}

/// True for the work that the CPUs are reserved for: real-time threads, virtual CPUs, and threads bound to these CPUs alone.
fn is_intended(thread: &Thread, rt_cpus: &CpuList) -> bool {
    let own = !thread.stat.is_kernel;
    own && (thread.stat.is_real_time || thread.is_virtual_cpu() || thread.is_confined_to(rt_cpus))
}
