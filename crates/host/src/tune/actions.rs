//! Changes that are more than one write, by the names that rules give them.

use units::CpuList;

use super::operation::{Operation, Target};
use crate::audit::domain_moves;
use crate::audit::facts::{Facts, Subject};
use crate::audit::value::Value;
use crate::reader::Reader;
use crate::roles;

type Action = fn(&Reader, &Facts, Option<&Subject>) -> Result<Vec<Operation>, String>;

const ACTIONS: [(&str, Action); 5] = [
    ("irq-affinity", irq_affinity),
    ("idle-states", idle_states),
    ("workqueue-masks", workqueue_masks),
    ("move-threads", move_threads),
    ("domain-threads", domain_threads),
];

/// Whether there is an action of that name.
#[cfg(test)]
pub(crate) fn exists(name: &str) -> bool {
    ACTIONS.iter().any(|(known, _)| *known == name)
}

/// What the action of that name changes.
pub(super) fn operations(
    name: &str,
    reader: &Reader,
    facts: &Facts,
    part: Option<&Subject>,
) -> Result<Vec<Operation>, String> {
    let action = ACTIONS.iter().find(|(known, _)| *known == name);
    let (_, action) = action.ok_or_else(|| format!("this version does not know the action {name}"))?;
    action(reader, facts, part)
}

fn cpus(facts: &Facts, name: &str) -> Result<CpuList, String> {
    match facts.get(None, name) {
        Ok(Value::Cpus(cpus)) if cpus.is_empty() => Err(format!("{name}: no CPU; name CPUs with --cpus")),
        Ok(Value::Cpus(cpus)) => Ok(cpus),
        Ok(other) => Err(format!("{name}: \"{other}\" is not a list of CPUs")),
        Err(unknown) => Err(unknown.text),
    }
}

/// Interrupts that may be served by real-time CPUs are moved to the others. Those that the kernel manages refuse it, which is told.
fn irq_affinity(reader: &Reader, facts: &Facts, _: Option<&Subject>) -> Result<Vec<Operation>, String> {
    let (rt_cpus, others) = (cpus(facts, "rt_cpus")?, cpus(facts, "hk_cpus")?);
    let is_number = |name: &str| name.bytes().all(|octet| octet.is_ascii_digit());
    let numbers = reader
        .names("/proc/irq", is_number)
        .map_err(|error| error.to_string())?;
    let mut operations = Vec::new();
    for number in numbers {
        let path = format!("/proc/irq/{number}/smp_affinity_list");
        let Ok(allowed) = reader.cpus(&path) else { continue };
        if allowed.iter().any(|cpu| rt_cpus.contains(cpu)) {
            let left = allowed.without(&rt_cpus);
            let value = if left.is_empty() { &others } else { &left };
            operations.push(Operation::write(path, value.to_string()));
        }
    }
    Ok(operations)
}

/// Idle states of a real-time CPU that take longer to leave than the limit are turned off.
fn idle_states(reader: &Reader, facts: &Facts, part: Option<&Subject>) -> Result<Vec<Operation>, String> {
    let part = part.ok_or("no CPU was named")?;
    let limit = match facts.get(Some(part), "limits.max-idle-exit-us") {
        Ok(Value::Number(limit)) => limit,
        _ => return Err("limits.max-idle-exit-us: no number".to_owned()),
    };
    let folder = format!("/sys/devices/system/cpu/cpu{}/cpuidle", part.name);
    let states = reader
        .names(&folder, |name| name.starts_with("state"))
        .map_err(|error| error.to_string())?;
    let too_deep = |state: &String| {
        let latency = reader.parsed::<f64>(&format!("{folder}/{state}/latency"), "a number of microseconds");
        latency.is_ok_and(|latency| latency > limit)
    };
    let deep = states.iter().filter(|state| too_deep(state));
    Ok(deep
        .map(|state| Operation::write(format!("{folder}/{state}/disable"), "1"))
        .collect())
}

/// Unbound workqueues leave the real-time CPUs.
fn workqueue_masks(reader: &Reader, facts: &Facts, _: Option<&Subject>) -> Result<Vec<Operation>, String> {
    let mask = crate::audit::template::mask(&cpus(facts, "hk_cpus")?);
    let folder = "/sys/devices/virtual/workqueue";
    let mut operations = vec![Operation::write(format!("{folder}/cpumask"), mask.clone())];
    for queue in reader.names(folder, |_| true).unwrap_or_default() {
        let path = format!("{folder}/{queue}/cpumask");
        if reader.exists(&path).unwrap_or(false) {
            operations.push(Operation::write(path, mask.clone()));
        }
    }
    Ok(operations)
}

/// Threads that may run on real-time CPUs and are not real-time themselves are moved to the others; those that are bound to one CPU
/// are the kernel's own and stay.
fn move_threads(reader: &Reader, facts: &Facts, _: Option<&Subject>) -> Result<Vec<Operation>, String> {
    let (rt_cpus, others) = (cpus(facts, "rt_cpus")?, cpus(facts, "hk_cpus")?);
    let movable = roles::movable(reader, &rt_cpus).map_err(|error| error.to_string())?;
    let moved = movable.into_iter().map(|thread| Operation {
        target: Target::Thread {
            tid: thread.tid,
            started: thread.started_ticks,
            name: thread.name,
        },
        value: others.to_string(),
    });
    Ok(moved.collect())
}

/// The threads of a running domain go where its definition says.
fn domain_threads(reader: &Reader, facts: &Facts, part: Option<&Subject>) -> Result<Vec<Operation>, String> {
    let part = part.ok_or("no domain was named")?;
    let moves = domain_moves(reader, &part.name, &cpus(facts, "hk_cpus")?)?;
    let moved = moves.into_iter().map(|thread| Operation {
        target: Target::Thread {
            tid: thread.tid,
            started: thread.started_ticks,
            name: thread.name,
        },
        value: thread.cpus.to_string(),
    });
    Ok(moved.collect())
}
