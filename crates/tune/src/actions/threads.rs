//! Threads: their CPUs and priorities.

use units::CpuList;

use super::{Scene, is_number};
use crate::operation::{Operation, Target, ThreadId};
use audit::planned::PlannedTask;
use audit::planned_differences;
use host::roles;
use host::stat::ThreadStat;

/// Highest priority that is set: 99 belongs to the kernel's migration and watchdog threads.
const HIGHEST: u32 = 98;
/// Priority of process-bus handlers if no consumer needs a higher one (RTC-Testbench).
const OF_HANDLERS: u32 = 85;
/// Priority of daemons and workers of PTP: below the threads of the card.
const OF_TIME: u32 = 10;
/// Name of Open vSwitch's daemon, as the kernel keeps it.
const SWITCH: &str = "ovs-vswitchd";
/// Begin of the names of its threads that poll ports of DPDK on CPUs of their own.
const POLLS: &str = "pmd";
/// Threads that run RCU callbacks for other CPUs.
const OFFLOADING: [&str; 4] = ["rcuop/", "rcuos/", "rcuob/", "rcuog/"];

/// A thread at the time it was found.
struct Found {
    id: ThreadId,
    stat: ThreadStat,
    allowed: CpuList,
}

impl Found {
    fn on(self, cpus: &CpuList) -> Operation {
        Operation {
            target: Target::Thread(self.id),
            value: cpus.to_string(),
        }
    }

    /// Returns `None` if it has that priority or a higher one.
    fn raised(self, priority: u32) -> Option<Operation> {
        (self.stat.priority < priority).then(|| Operation {
            target: Target::Priority(self.id),
            value: format!("fifo:{priority}"),
        })
    }

    fn is_virtual_cpu(&self) -> bool {
        !self.stat.is_kernel && roles::is_virtual_cpu(&self.stat.name)
    }
}

/// Threads that `wanted` selects. A thread that ends meanwhile is left out.
fn find(scene: &Scene<'_>, wanted: impl Fn(&ThreadStat) -> bool) -> Result<Vec<Found>, String> {
    let mut found = Vec::new();
    for pid in scene.names("/proc", is_number)? {
        let folder = format!("/proc/{pid}/task");
        for task in scene.names(&folder, is_number).unwrap_or_default() {
            found.extend(one(scene, &format!("{folder}/{task}"), &task).filter(|found| wanted(&found.stat)));
        }
    }
    Ok(found)
}

fn one(scene: &Scene<'_>, folder: &str, task: &str) -> Option<Found> {
    let stat = ThreadStat::parse(&scene.reader.line(&format!("{folder}/stat")).ok()?)?;
    let status = scene.reader.text(&format!("{folder}/status")).ok()?;
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(Found {
        id: ThreadId {
            tid: task.parse().ok()?,
            started: stat.started_ticks,
            name: stat.name.clone(),
        },
        stat,
        allowed: list.trim().parse().ok()?,
    })
}

fn begins_with(stat: &ThreadStat, names: &[&str]) -> bool {
    stat.is_kernel && names.iter().any(|name| stat.name.starts_with(name))
}

/// Moves threads without real-time priority that may run on real-time CPUs to the other CPUs; threads bound to a single CPU are the
/// kernel's own and stay.
pub(super) fn off_real_time(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let (rt_cpus, others) = (scene.cpus("rt_cpus")?, scene.cpus("hk_cpus")?);
    let movable = roles::movable(scene.reader, &rt_cpus).map_err(|error| error.to_string())?;
    let moved = movable.into_iter().map(|thread| Operation {
        target: Target::Thread(ThreadId {
            tid: thread.tid,
            started: thread.started_ticks,
            name: thread.name,
        }),
        value: others.to_string(),
    });
    Ok(moved.collect())
}

/// Moves threads that run RCU callbacks for real-time CPUs to the other CPUs.
pub(super) fn of_rcu(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let (rt_cpus, others) = (scene.cpus("rt_cpus")?, scene.cpus("hk_cpus")?);
    let found = find(scene, |stat| !stat.is_bound && begins_with(stat, &OFFLOADING))?;
    let there = found.into_iter().filter(|thread| overlap(&thread.allowed, &rt_cpus));
    Ok(there.map(|thread| thread.on(&others)).collect())
}

/// Gives the kernel's threads of each real-time CPU higher priorities than threads there that may never sleep: rcuc and rcub, and lower ones
/// to timers and softirqs.
pub(super) fn serving(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let rt_cpus = scene.cpus("rt_cpus")?;
    let callbacks = scene.number("rcu.wanted-priority")? as u32;
    let timers = scene.number("rcu.wanted-timer-priority")? as u32;
    let mut operations = Vec::new();
    for thread in find(scene, |_| true)? {
        let wanted = match () {
            () if !overlap(&thread.allowed, &rt_cpus) => continue,
            () if begins_with(&thread.stat, &["rcuc/", "rcub/"]) => callbacks,
            () if begins_with(&thread.stat, &["ktimers/", "ktimersoftd/", "ksoftirqd/"]) => timers,
            () => continue,
        };
        operations.extend(thread.raised(wanted));
    }
    Ok(operations)
}

/// Gives threads that serve an interface a higher priority than the threads that wait for its frames.
pub(super) fn of_interrupts(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let consumer = scene.number("nic.consumer-priority")? as u32;
    if consumer >= HIGHEST {
        return Err(format!(
            "a consumer has priority {consumer}: lower it first, below {HIGHEST}"
        ));
    }
    let numbers = scene.list("nic.irqs")?;
    let mut prefixes: Vec<String> = numbers.iter().map(|number| format!("irq/{number}-")).collect();
    prefixes.push(format!("napi/{}-", scene.part()?.name));
    let prefixes: Vec<&str> = prefixes.iter().map(String::as_str).collect();
    let found = find(scene, |stat| begins_with(stat, &prefixes))?;
    let wanted = OF_HANDLERS.max(consumer + 1);
    Ok(found.into_iter().filter_map(|thread| thread.raised(wanted)).collect())
}

/// Makes vhost threads real-time threads and moves them off the CPUs of virtual CPUs.
pub(super) fn vhost(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let all = find(scene, |_| true)?;
    let guests = all.iter().filter(|thread| thread.is_virtual_cpu());
    let virtual_cpus: CpuList = guests.flat_map(|thread| thread.allowed.iter()).collect();
    let others = scene.cpus("hk_cpus")?.without(&virtual_cpus);
    let mut operations = Vec::new();
    for thread in all.into_iter().filter(|thread| thread.stat.name.starts_with("vhost-")) {
        if overlap(&thread.allowed, &virtual_cpus) {
            if others.is_empty() {
                return Err("every CPU has a virtual CPU: none is left for vhost".to_owned());
            }
            operations.push(Operation {
                target: Target::Thread(thread.id.clone()),
                value: others.to_string(),
            });
        }
        operations.extend(thread.raised(1));
    }
    Ok(operations)
}

/// Makes PTP daemons and workers real-time threads and moves them off the real-time CPUs.
pub(super) fn of_time(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let (rt_cpus, others) = (scene.cpus("rt_cpus")?, scene.cpus("hk_cpus")?);
    let names = scene.list("time.threads")?;
    let mut operations = Vec::new();
    for thread in find(scene, |stat| names.contains(&stat.name) && !stat.is_bound)? {
        if overlap(&thread.allowed, &rt_cpus) {
            operations.push(Operation {
                target: Target::Thread(thread.id.clone()),
                value: others.to_string(),
            });
        }
        operations.extend((!thread.stat.is_real_time).then(|| thread.raised(OF_TIME)).flatten());
    }
    Ok(operations)
}

/// Moves Open vSwitch's daemon off the real-time CPUs, without its polling threads.
pub(super) fn switch(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let (rt_cpus, others) = (scene.cpus("rt_cpus")?, scene.cpus("hk_cpus")?);
    let mut operations = Vec::new();
    for pid in scene.names("/proc", is_number)? {
        let name = scene.reader.line(&format!("/proc/{pid}/stat")).ok();
        let is_switch = name
            .and_then(|line| ThreadStat::parse(&line))
            .is_some_and(|stat| stat.name == SWITCH);
        if !is_switch {
            continue;
        }
        let folder = format!("/proc/{pid}/task");
        for task in scene.names(&folder, is_number).unwrap_or_default() {
            let found = one(scene, &format!("{folder}/{task}"), &task);
            let there =
                found.filter(|thread| !thread.stat.name.starts_with(POLLS) && overlap(&thread.allowed, &rt_cpus));
            operations.extend(there.map(|thread| thread.on(&others)));
        }
    }
    Ok(operations)
}

/// Gives the threads of a planned task their planned policy and CPUs.
pub(super) fn planned(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let task: PlannedTask = scene.part()?.name.parse()?;
    let different = planned_differences(scene.reader, &task).map_err(|unknown| unknown.text)?;
    let mut operations = Vec::new();
    for thread in different {
        let id = ThreadId {
            tid: thread.tid,
            started: thread.started_ticks,
            name: thread.name,
        };
        // The CPUs come first: with its priority the thread could disturb its present CPU.
        operations.extend(thread.cpus.map(|cpus| Operation {
            target: Target::Thread(id.clone()),
            value: cpus.to_string(),
        }));
        operations.extend(thread.policy.map(|value| Operation {
            target: Target::Priority(id),
            value,
        }));
    }
    Ok(operations)
}

fn overlap(a: &CpuList, b: &CpuList) -> bool {
    a.iter().any(|cpu| b.contains(cpu))
}
