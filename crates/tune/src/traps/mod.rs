//! Combinations of settings that cost more than they gain, or cut the user off from the machine.

use std::collections::BTreeMap;

use units::CpuList;

use super::harm::none_left as none_left_for_others;
use super::operation::{Target, ThreadId};
use super::plan::{Plan, TuneStep};
use audit::parameters::{Parameters, Workload};
use audit::value::Value;
use audit::{Audit, CacheMasks, cache_masks};
use host::Host;
use host::roles::is_virtual_cpu;
use host::stat::ThreadStat;

const RESCTRL: &str = "/sys/fs/resctrl";
/// Check for tasks that the user defines.
const PLANNED: &str = "rt-task-planned";

/// Reason that a step is refused unless forced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The check.
    pub check: String,
    /// Why.
    pub why: String,
}

/// Steps of a plan that would do more harm than good.
pub fn refusals(host: &Host, audit: &Audit, parameters: &Parameters, plan: &Plan) -> Vec<Refusal> {
    let scene = Scene {
        host,
        audit,
        parameters,
        carriers: match audit.facts.get(None, "connection.nics") {
            Ok(Value::List(names)) => names,
            _ => Vec::new(),
        },
    };
    let found = plan.steps.iter().flat_map(|step| {
        let traps = TRAPS.iter().filter(|_| !step.operations.is_empty());
        let whys = traps.filter_map(|trap| trap(&scene, step));
        step.harm.clone().into_iter().chain(whys).map(|why| Refusal {
            check: step.check.clone(),
            why,
        })
    });
    found.collect()
}

struct Scene<'a> {
    host: &'a Host,
    audit: &'a Audit,
    parameters: &'a Parameters,
    carriers: Vec<String>,
}

impl Scene<'_> {
    fn cpus(&self, name: &str) -> Option<CpuList> {
        match self.audit.facts.get(None, name) {
            Ok(Value::Cpus(cpus)) => Some(cpus),
            _ => None,
        }
    }
}

type Trap = fn(&Scene<'_>, &TuneStep) -> Option<String>;

const TRAPS: [Trap; 7] = [
    none_left,
    unbounded,
    for_good,
    shared_cache,
    cut_off,
    highest,
    bound_to_cpu,
];

/// Every CPU is reserved: the rest of the machine has none.
fn none_left(scene: &Scene<'_>, _: &TuneStep) -> Option<String> {
    let unknown = "the CPUs that are left for everything else are not known";
    let why = none_left_for_others(scene.audit).or(scene.cpus("hk_cpus").is_none().then_some(unknown));
    why.map(str::to_owned)
}

/// No budget for real-time threads, a thread that never sleeps, and a CPU that others need.
fn unbounded(scene: &Scene<'_>, step: &TuneStep) -> Option<String> {
    let budget = Target::File("/proc/sys/kernel/sched_rt_runtime_us".to_owned());
    let lifts = step
        .operations
        .iter()
        .any(|one| one.target == budget && one.value == "-1");
    if !lifts || scene.parameters.workload != Workload::BusyPoll {
        return None;
    }
    let rt_cpus = scene.cpus("rt_cpus").unwrap_or_default();
    let free = kept_free(scene);
    let shared = match rt_cpus.is_empty() {
        true => scene.cpus("hk_cpus").unwrap_or_default(),
        false => rt_cpus.without(&free),
    };
    (rt_cpus.is_empty() || !shared.is_empty()).then(|| {
        format!(
            "without the real-time budget, a thread that spins takes its CPU for good, and CPU {shared} is not kept free for it"
        )
    })
}

/// CPUs without load balancing.
fn kept_free(scene: &Scene<'_>) -> CpuList {
    let free = ["cpus.isolated", "cpus.partitions"]
        .into_iter()
        .filter_map(|name| scene.cpus(name));
    free.flat_map(|cpus| cpus.iter().collect::<Vec<_>>()).collect()
}

/// A thread that may never sleep becomes a real-time thread on a CPU that others need, and no budget would limit it.
fn for_good(scene: &Scene<'_>, step: &TuneStep) -> Option<String> {
    // An unreadable budget may be unlimited.
    let has_budget = scene.host.rt_runtime().is_ok_and(|budget| !budget.is_unlimited());
    if has_budget {
        return None;
    }
    let free = kept_free(scene);
    let spins = scene.parameters.workload == Workload::BusyPoll && step.check == PLANNED;
    let raised = step.operations.iter().filter_map(|one| match &one.target {
        Target::Priority(thread) if one.value.contains(':') => Some(thread),
        _ => None,
    });
    raised
        .filter(|thread| spins || is_virtual_cpu(&thread.name))
        .find_map(|thread| {
            let where_to = match cpus_then(scene, step, thread) {
                None => "a CPU that is not known".to_owned(),
                Some(cpus) => match cpus.without(&free) {
                    shared if shared.is_empty() => return None,
                    shared => format!("CPU {shared}, which is not kept free for it,"),
                },
            };
            let name = &thread.name;
            Some(format!(
                "without the real-time budget, {name} takes {where_to} for good if it never sleeps"
            ))
        })
}

/// CPUs of a thread after the step.
fn cpus_then(scene: &Scene<'_>, step: &TuneStep, thread: &ThreadId) -> Option<CpuList> {
    let moved = step
        .operations
        .iter()
        .find(|one| one.target == Target::Thread(thread.clone()));
    if let Some(moved) = moved {
        return moved.value.parse().ok();
    }
    let status = scene.host.reader().text(&format!("/proc/{}/status", thread.tid)).ok()?;
    let mut lines = status.lines();
    lines
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?
        .trim()
        .parse()
        .ok()
}

/// Two groups that fill the same part of the cache.
fn shared_cache(scene: &Scene<'_>, step: &TuneStep) -> Option<String> {
    let mut groups = groups_now(scene.host);
    let mut changed = Vec::new();
    for one in &step.operations {
        let Target::File(path) = &one.target else { continue };
        let Some(folder) = path.strip_suffix("/schemata") else {
            continue;
        };
        let Some(masks) = cache_masks(&one.value) else {
            return Some(format!("{one}: the masks are not understood"));
        };
        // A share of the memory bandwidth changes no mask.
        if masks.is_empty() {
            continue;
        }
        groups.entry(folder.to_owned()).or_default().extend(masks);
        changed.push(folder.to_owned());
    }
    let pairs = changed
        .iter()
        .flat_map(|own| groups.keys().map(move |other| (own, other)));
    pairs.filter(|(own, other)| own != other).find_map(|(own, other)| {
        let what = overlap(scene.host, &groups[own], &groups[other])?;
        Some(format!(
            "{what} of {own} and of {other} overlap: each evicts the data of the other"
        ))
    })
}

fn groups_now(host: &Host) -> BTreeMap<String, CacheMasks> {
    let names = host.reader().names(RESCTRL, |_| true).unwrap_or_default();
    let folders = names.iter().map(|name| format!("{RESCTRL}/{name}"));
    let all = [RESCTRL.to_owned()].into_iter().chain(folders);
    all.filter_map(|folder| {
        let text = host.reader().text(&format!("{folder}/schemata")).ok()?;
        Some((folder, cache_masks(&text)?))
    })
    .collect()
}

/// First resource and domain in which both have a bit that no device fills.
fn overlap(host: &Host, own: &CacheMasks, other: &CacheMasks) -> Option<String> {
    for (resource, domains) in own {
        let line = host.reader().line(&format!("{RESCTRL}/info/{resource}/shareable_bits"));
        let shareable = line
            .ok()
            .and_then(|line| u64::from_str_radix(&line, 16).ok())
            .unwrap_or(0);
        let theirs = other.get(resource);
        let found = domains.iter().find(|(id, mask)| {
            let mask_of_other = theirs.and_then(|domains| domains.get(id)).unwrap_or(&0);
            *mask & mask_of_other & !shareable != 0
        });
        if let Some((id, _)) = found {
            return Some(format!("masks {resource}:{id}"));
        }
    }
    None
}

/// Interface through which the user is connected.
fn cut_off(scene: &Scene<'_>, step: &TuneStep) -> Option<String> {
    let carrier = scene.carriers.iter().find(|name| touches(step, name))?;
    Some(format!("{carrier} carries the connection to this machine"))
}

/// True if a step changes an interface: its files, or its driver's settings.
fn touches(step: &TuneStep, name: &str) -> bool {
    // Includes /proc/sys/net/ipv6/conf, where an address can be removed.
    let folders = [format!("/net/{name}/"), format!("/conf/{name}/")];
    step.operations.iter().any(|one| match &one.target {
        Target::File(path) => folders.iter().any(|folder| path.contains(folder)),
        Target::Nic { interface, .. } => interface == name,
        _ => false,
    })
}

/// Priority of the kernel's own migration and watchdog threads.
fn highest(_: &Scene<'_>, step: &TuneStep) -> Option<String> {
    let found = step.operations.iter().find(|one| {
        let is_priority = matches!(one.target, Target::Priority(_));
        is_priority && ["fifo:99", "rr:99"].contains(&one.value.as_str())
    })?;
    Some(format!(
        "{found}: 99 belongs to the kernel's migration and watchdog threads"
    ))
}

/// Kernel threads that do the work of one CPU.
fn bound_to_cpu(scene: &Scene<'_>, step: &TuneStep) -> Option<String> {
    let found = step.operations.iter().find_map(|one| {
        let Target::Thread(thread) = &one.target else {
            return None;
        };
        let line = scene.host.reader().line(&format!("/proc/{}/stat", thread.tid)).ok()?;
        ThreadStat::parse(&line).filter(|stat| stat.is_kernel && stat.is_bound)
    })?;
    Some(format!(
        "{} is a kernel thread for one CPU: on another CPU it does harm",
        found.name
    ))
}

#[cfg(test)]
mod tests;
