//! Threads on real-time CPUs that have no business there.

use units::CpuList;

use super::{Thread, seen, shown};
use crate::audit::facts::Facts;
use crate::audit::gather::cpus;
use crate::audit::value::Unknown;

/// Threads of the kernel that other rules judge: they go where an interrupt, a queue or a virtual machine is.
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
    Ok(shown(found.map(|thread| match thread.stat.cpu {
        Some(cpu) => format!("{thread}, last on CPU {cpu}"),
        None => thread.to_string(),
    })))
}

/// The real-time CPUs, where there are others too: else that a thread is on them alone says nothing.
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

/// Real-time threads, virtual CPUs and what was put on these CPUs alone are the work that the CPUs are for.
fn is_intended(thread: &Thread, rt_cpus: &CpuList) -> bool {
    let own = !thread.stat.is_kernel;
    own && (thread.stat.is_real_time || thread.is_virtual_cpu() || thread.is_confined_to(rt_cpus))
}
