//! Priorities of the threads that serve an interface, and of the threads that wait for its frames.

use units::CpuList;

use super::super::shared::is_number;
use crate::facts::Subject;
use crate::value::Unknown;
use host::reader::Reader;
use host::stat::ThreadStat;

/// Value for deadline threads, above every fixed priority: they run before all others.
const DEADLINE: f64 = 100.0;

/// Stores the lowest and highest priority of the threads that serve the interrupts, and the highest priority of real-time threads of
/// processes on the same CPUs (0: there are none).
pub(super) fn note(
    reader: &Reader,
    nic: &str,
    irqs: Result<&[u32], Unknown>,
    cpus: Result<CpuList, Unknown>,
    part: &mut Subject,
) {
    let seen = irqs.and_then(|irqs| Ok((irqs, cpus?)));
    let seen = seen.and_then(|(irqs, cpus)| look(reader, nic, irqs, &cpus));
    let lowest = seen.clone().and_then(|seen| serving(&seen, f64::min));
    let highest = seen.clone().and_then(|seen| serving(&seen, f64::max));
    part.set("nic.irq-thread-priority", lowest);
    part.set("nic.irq-thread-priority-highest", highest);
    part.set("nic.consumer-priority", seen.map(|seen| seen.consumer));
}

#[derive(Clone)]
struct Seen {
    serving: Vec<f64>,
    consumer: f64,
}

fn serving(seen: &Seen, pick: fn(f64, f64) -> f64) -> Result<f64, Unknown> {
    let picked = seen.serving.iter().copied().reduce(pick);
    picked.ok_or_else(|| Unknown::unclear("no thread that serves its interrupts can be seen"))
}

fn look(reader: &Reader, nic: &str, irqs: &[u32], cpus: &CpuList) -> Result<Seen, Unknown> {
    let prefixes: Vec<String> = irqs
        .iter()
        .map(|number| format!("irq/{number}-"))
        .chain([format!("napi/{nic}-")])
        .collect();
    let mut seen = Seen {
        serving: Vec::new(),
        consumer: 0.0,
    };
    for process in reader.names("/proc", is_number)? {
        // A process that ends during the reading serves no interrupt.
        let Some(first) = thread(reader, &format!("/proc/{process}/stat")) else {
            continue;
        };
        if first.is_kernel {
            if prefixes.iter().any(|prefix| first.name.starts_with(prefix.as_str())) {
                seen.serving.push(priority(&first));
            }
            continue;
        }
        let folder = format!("/proc/{process}/task");
        for task in reader.names(&folder, is_number).unwrap_or_default() {
            let thread = thread(reader, &format!("{folder}/{task}/stat"));
            let here = thread.filter(|thread| thread.cpu.is_some_and(|cpu| cpus.contains(cpu)));
            seen.consumer = here.as_ref().map_or(0.0, priority).max(seen.consumer);
        }
    }
    Ok(seen)
}

fn thread(reader: &Reader, path: &str) -> Option<ThreadStat> {
    ThreadStat::parse(&reader.line(path).ok()?)
}

/// Returns 1 to 99 for fixed priorities, 0 for the ordinary classes.
fn priority(thread: &ThreadStat) -> f64 {
    let policy = thread.policy.as_deref().unwrap_or("");
    match policy.split_once(':') {
        Some((_, priority)) => priority.parse().unwrap_or(0.0),
        None if policy == "deadline" => DEADLINE,
        None => 0.0,
    }
}
