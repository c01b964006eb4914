//! CPUs where RCU callbacks run, and the kernel's own threads that get no time on a CPU.

use units::CpuList;

use super::{Thread, seen, shown};
use crate::facts::Facts;
use crate::gather::cpus;
use crate::parameters::{Parameters, Workload};
use crate::value::Unknown;
use host::cmdline::{Cmdline, boot_cpus};
use host::isolation;
use host::reader::Reader;

/// Threads that run a CPU's callbacks elsewhere: `rcuop/3`, `rcuos/3`.
const OFFLOADED: [&str; 3] = ["rcuop/", "rcuos/", "rcuob/"];
/// These threads, and those that wait for grace periods: `rcuog/0`.
const OFFLOADING: [&str; 4] = ["rcuop/", "rcuos/", "rcuob/", "rcuog/"];
/// Per-CPU threads that must not starve on PREEMPT_RT: they run callbacks and timers.
const SERVING: [&str; 3] = ["rcuc/", "ktimers/", "ktimersoftd/"];

/// Distance of rcuc and rcub, and of timers and softirqs, from such threads: TuneD's profile realtime-virtual-host has 4, 2 and virtual CPUs
/// at 1.
const ABOVE: (u32, u32) = (3, 1);
/// Highest priority that is set: 99 belongs to the kernel's migration and watchdog threads.
const HIGHEST: u32 = 98;

pub(super) fn gather(
    reader: &Reader,
    parameters: &Parameters,
    threads: &Result<Vec<Thread>, Unknown>,
    facts: &mut Facts,
) {
    let asked = cpus::known(facts, "cpus.asked");
    let not_offloaded = asked.clone().and_then(|asked| {
        let offloaded = match seen(threads) {
            Ok(threads) => by_threads(threads),
            Err(_) => by_arguments(reader)?,
        };
        Ok::<_, Unknown>(asked.without(&offloaded))
    });
    facts.set("rcu.not-offloaded", not_offloaded);
    let there = |pick: &dyn Fn(&Thread, &CpuList) -> bool| {
        let asked = asked.clone()?;
        let found = seen(threads)?.iter();
        let found = found.filter(|thread| is_any(thread, &OFFLOADING) && pick(thread, &asked));
        Ok::<_, Unknown>(shown(
            found.map(|thread| format!("{} on CPU {}", thread.stat.name, thread.allowed)),
        ))
    };
    facts.set(
        "rcu.offload-threads-there",
        there(&|thread, asked| thread.may_run_on(asked)),
    );
    let ran = |thread: &Thread, asked: &CpuList| thread.stat.cpu.is_none_or(|cpu| asked.contains(cpu));
    facts.set("rcu.offload-threads-ran-there", there(&ran));
    let wanted = |above: u32| {
        let asked = asked.clone()?;
        above_all(seen(threads)?, &asked, parameters.workload, above)
    };
    facts.set("rcu.wanted-priority", wanted(ABOVE.0));
    facts.set("rcu.wanted-timer-priority", wanted(ABOVE.1));
    let outranked = asked.and_then(|asked| outranked(seen(threads)?, &asked, parameters.workload));
    facts.set("rcu.outranked", outranked);
}

/// Priority that exceeds those of all threads on these CPUs that may never sleep, by `above`.
fn above_all(threads: &[Thread], asked: &CpuList, workload: Workload, above: u32) -> Result<u32, Unknown> {
    let there = |thread: &&Thread| thread.may_run_on(asked) && may_never_sleep(thread, asked, workload);
    let highest = threads.iter().filter(there).map(|thread| thread.stat.priority);
    let highest = highest.max().unwrap_or(0).max(1);
    match highest + ABOVE.0 <= HIGHEST {
        true => Ok(highest + above),
        false => Err(Unknown::unclear(format!(
            "a thread that may never sleep has priority {highest}: lower it first, a virtual CPU preferably to 1"
        ))),
    }
}

/// True for virtual CPUs, and for all real-time threads of these CPUs if the workload spins.
fn may_never_sleep(thread: &Thread, asked: &CpuList, workload: Workload) -> bool {
    let spins = workload == Workload::BusyPoll && thread.is_confined_to(asked);
    let has_priority = !thread.stat.is_kernel && thread.stat.priority > 0;
    has_priority && (thread.is_virtual_cpu() || spins)
}

fn is_any(thread: &Thread, names: &[&str]) -> bool {
    thread.stat.is_kernel && names.iter().any(|name| thread.stat.name.starts_with(name))
}

fn by_threads(threads: &[Thread]) -> CpuList {
    let offloaded = threads.iter().filter(|thread| is_any(thread, &OFFLOADED));
    offloaded.filter_map(Thread::cpu_in_name).collect()
}

/// CPUs in the boot arguments: `rcu_nocbs=`, which without a list means all, and `nohz_full`.
fn by_arguments(reader: &Reader) -> Result<CpuList, Unknown> {
    let line = Cmdline::read(reader)?;
    let highest = reader
        .cpus("/sys/devices/system/cpu/possible")?
        .iter()
        .last()
        .unwrap_or(0);
    let mut cpus: Vec<u32> = isolation::nohz_full(reader)?.iter().collect();
    for value in line.values("rcu_nocbs") {
        let list = if value.is_empty() { "all" } else { value };
        let list = boot_cpus(list, highest)
            .ok_or_else(|| Unknown::unclear(format!("rcu_nocbs={value} is not a list of CPUs")))?;
        cpus.extend(list.iter());
    }
    Ok(cpus.into_iter().collect())
}

/// Kernel threads on these CPUs whose priority does not exceed that of a thread that may never sleep.
fn outranked(threads: &[Thread], asked: &CpuList, workload: Workload) -> Result<Vec<String>, Unknown> {
    let never_sleeps = |thread: &&Thread| may_never_sleep(thread, asked, workload);
    let hogs: Vec<&Thread> = threads.iter().filter(never_sleeps).collect();
    let serving: Vec<&Thread> = threads.iter().filter(|thread| is_any(thread, &SERVING)).collect();
    let mut found = Vec::new();
    for cpu in asked.iter() {
        let there = hogs.iter().filter(|thread| thread.allowed.contains(cpu));
        let Some(highest) = there.max_by_key(|thread| thread.stat.priority) else {
            continue;
        };
        let own: Vec<_> = serving
            .iter()
            .filter(|thread| thread.cpu_in_name() == Some(cpu))
            .collect();
        if own.is_empty() {
            let text = format!("CPU {cpu}: no thread rcuc/{cpu} or ktimers/{cpu} can be seen next to {highest}");
            return Err(Unknown::unclear(text));
        }
        let low = own
            .iter()
            .filter(|thread| thread.stat.priority <= highest.stat.priority);
        found.extend(low.map(|thread| format!("{thread} on CPU {cpu} is not above {highest}")));
    }
    Ok(shown(found))
}
