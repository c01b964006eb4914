//! Real-time threads of programs: their policy, memory and page faults.

use std::collections::BTreeMap;

use units::CpuList;

use super::foreign::own_cpus;
use super::{Thread, kilobytes, seen, shown, stat, status};
use crate::facts::Facts;
use crate::gather::cpus;
use crate::gather::observed::{Counter, Reading};
use crate::value::{Unknown, Value};
use host::error::HostError;
use host::reader::Reader;

/// Priority of the kernel's migration and watchdog threads.
const HIGHEST: u32 = 99;
/// Percentage of a process's memory that must be locked: library code may be left out.
const LOCKED_PERCENT: u64 = 90;
const FAULTS: &str = "tasks.page-faults";
/// Places of the real-time threads, for the counters.
const PLACES: &str = "tasks.places";

pub(super) fn gather(reader: &Reader, threads: &Result<Vec<Thread>, Unknown>, facts: &mut Facts) {
    let asked = cpus::known(facts, "cpus.asked");
    let ours = asked.and_then(|asked| Ok(real_time(seen(threads)?, &asked)));
    let of = |pick: &dyn Fn(&[&Thread]) -> Vec<String>| ours.as_deref().map(pick).map_err(Unknown::clone);
    facts.set(
        "tasks.real-time",
        of(&|ours| shown(ours.iter().map(ToString::to_string))),
    );
    facts.set("tasks.at-99", of(&|ours| shown(at_highest(ours))));
    facts.set(PLACES, of(&|ours| ours.iter().map(|thread| place(thread)).collect()));
    facts.set(
        "tasks.not-locked",
        ours.as_deref()
            .map_err(Unknown::clone)
            .and_then(|ours| not_locked(reader, ours)),
    );
    let rt_cpus = own_cpus(facts);
    let ordinary = rt_cpus.and_then(|rt_cpus| Ok::<_, Unknown>(without_policy(seen(threads)?, &rt_cpus)));
    facts.set("tasks.without-policy", ordinary);
}

/// Counts the page faults of the threads found.
pub(super) fn count(reader: &Reader, facts: &Facts, reading: &mut Reading) {
    let counter = Counter {
        part: None,
        fact: FAULTS.to_owned(),
    };
    let places = match facts.get(None, PLACES) {
        Ok(Value::List(places)) => Ok(places),
        Ok(_) => Err(HostError::Undecided("no list of threads".to_owned())),
        Err(unknown) => Err(HostError::Undecided(unknown.text)),
    };
    let faults = places.and_then(|places| places.iter().map(|place| faults(reader, place)).sum());
    reading.insert(counter, faults);
}

fn faults(reader: &Reader, place: &str) -> Result<f64, HostError> {
    let count = stat(reader, place)?.and_then(|stat| stat.faults);
    let count = count.ok_or_else(|| HostError::Undecided(format!("{place}: the thread has ended")))?;
    Ok(count as f64)
}

fn place(thread: &Thread) -> String {
    format!("/proc/{}/task/{}", thread.pid, thread.id)
}

fn real_time<'a>(threads: &'a [Thread], asked: &CpuList) -> Vec<&'a Thread> {
    let is_one = |thread: &&Thread| !thread.stat.is_kernel && thread.stat.is_real_time && thread.may_run_on(asked);
    threads.iter().filter(is_one).collect()
}

fn at_highest(ours: &[&Thread]) -> Vec<String> {
    let highest = ours.iter().filter(|thread| thread.stat.priority >= HIGHEST);
    highest.map(ToString::to_string).collect()
}

/// Processes whose threads run only on real-time CPUs, and that have no real-time thread.
fn without_policy(threads: &[Thread], rt_cpus: &CpuList) -> Vec<String> {
    let mut processes: BTreeMap<u32, (String, bool)> = BTreeMap::new();
    let there = |thread: &&Thread| !thread.stat.is_kernel && !thread.stat.is_bound && thread.is_confined_to(rt_cpus);
    for thread in threads.iter().filter(there) {
        let text = format!("{} (pid {})", thread.process, thread.pid);
        processes.entry(thread.pid).or_insert((text, false)).1 |= thread.stat.is_real_time;
    }
    let ordinary = processes.into_values().filter(|(_, real_time)| !real_time);
    shown(ordinary.map(|(text, _)| text))
}

fn not_locked(reader: &Reader, ours: &[&Thread]) -> Result<Vec<String>, Unknown> {
    let processes: BTreeMap<u32, &str> = ours.iter().map(|thread| (thread.pid, &*thread.process)).collect();
    let mut found = Vec::new();
    for (pid, name) in processes {
        let status = status(reader, pid)?;
        let of = |key: &str| {
            let unclear = || Unknown::unclear(format!("/proc/{pid}/status has no line {key}"));
            kilobytes(&status, key).ok_or_else(unclear)
        };
        let (locked, resident, swapped) = (of("VmLck")?, of("VmRSS")?, of("VmSwap")?);
        if swapped > 0 {
            found.push(format!("{name} (pid {pid}): {swapped} kB swapped out"));
        } else if locked.saturating_mul(100) < resident.saturating_mul(LOCKED_PERCENT) {
            found.push(format!("{name} (pid {pid}): {locked} of {resident} kB locked"));
        }
    }
    Ok(shown(found))
}
