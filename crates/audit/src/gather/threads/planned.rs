//! Planned real-time tasks: their threads, and the differences from the plan.

use units::CpuList;

use super::{Thread, read, seen, shown, unless_ended};
use crate::facts::{Class, Facts, Subject};
use crate::planned::{PlannedTask, Seen};
use crate::value::Unknown;
use host::reader::Reader;

/// Maximum length of a command line that is read, in bytes.
const LONGEST_COMMAND: u64 = 1 << 20;

/// A thread of a planned task that differs from the plan.
pub struct Different {
    pub tid: u32,
    /// Start time in clock ticks since boot.
    pub started_ticks: u64,
    pub name: String,
    /// Wanted policy, if it has another one.
    pub policy: Option<String>,
    /// Wanted CPUs, if it may run elsewhere.
    pub cpus: Option<CpuList>,
}

pub(super) fn gather(
    reader: &Reader,
    tasks: &[PlannedTask],
    threads: &Result<Vec<Thread>, Unknown>,
    facts: &mut Facts,
) {
    for task in tasks {
        let found = seen(threads).and_then(|threads| of_task(reader, task, threads));
        let of = |pick: fn(&PlannedTask, &[&Thread]) -> Vec<String>| {
            let found = found.as_ref().map_err(Unknown::clone)?;
            Ok::<_, Unknown>(shown(pick(task, found)))
        };
        // Two plans with one name are two parts.
        let mut part = Subject::new(task.to_string());
        part.set(
            "task.threads",
            of(|_, found| found.iter().map(ToString::to_string).collect()),
        );
        part.set(
            "task.different",
            of(|task, found| found.iter().filter_map(|thread| words(task, thread)).collect()),
        );
        facts.add(Class::Task, part);
    }
}

/// Threads of a task that must change.
///
/// # Errors
/// The threads of the machine are not visible; with the reason.
pub fn different(reader: &Reader, task: &PlannedTask) -> Result<Vec<Different>, Unknown> {
    let threads = read(reader)?;
    let found = of_task(reader, task, &threads)?;
    let different = found.into_iter().filter_map(|thread| difference(task, thread));
    Ok(different.collect())
}

fn of_task<'a>(reader: &Reader, task: &PlannedTask, threads: &'a [Thread]) -> Result<Vec<&'a Thread>, Unknown> {
    let mut found = Vec::new();
    for thread in threads.iter().filter(|thread| !thread.stat.is_kernel) {
        let is_first = thread.id == thread.pid;
        let name = &*thread.stat.name;
        if task.is(&Seen { name, is_first }, || command(reader, thread.pid))? {
            found.push(thread);
        }
    }
    Ok(found)
}

/// Command line of a process, with spaces between its words; empty if it has ended or has none.
fn command(reader: &Reader, pid: u32) -> Result<String, Unknown> {
    let octets = reader.bytes(&format!("/proc/{pid}/cmdline"), LONGEST_COMMAND);
    let octets = match reader.is_live() {
        true => unless_ended(octets)?.unwrap_or_default(),
        // A recorded tree may lack command lines: then nothing is known.
        false => octets.map_err(|error| Unknown::from(error).never_absent())?,
    };
    let text = String::from_utf8_lossy(&octets).replace('\0', " ");
    Ok(text.trim_end().to_owned())
}

fn difference(task: &PlannedTask, thread: &Thread) -> Option<Different> {
    let policy = task
        .policy
        .clone()
        .filter(|wanted| thread.stat.policy.as_ref() != Some(wanted));
    let cpus = task.cpus.clone().filter(|wanted| !thread.is_confined_to(wanted));
    let is_different = policy.is_some() || cpus.is_some();
    is_different.then(|| Different {
        tid: thread.id,
        started_ticks: thread.stat.started_ticks,
        name: thread.stat.name.clone(),
        policy,
        cpus,
    })
}

/// Such as `relay (pid 30, fifo:50) on 0-3: fifo:80 on 2 is planned`.
fn words(task: &PlannedTask, thread: &Thread) -> Option<String> {
    let found = difference(task, thread)?;
    let (now, wanted) = match found.cpus {
        Some(cpus) => (format!(" on {}", thread.allowed), format!(" on {cpus}")),
        None => (String::new(), String::new()),
    };
    let policy = found.policy.as_deref().unwrap_or("this policy");
    Some(format!("{thread}{now}: {policy}{wanted} is planned"))
}
