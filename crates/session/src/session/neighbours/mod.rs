//! Threads of other processes that must share a CPU with a measuring thread of this one.
//!
//! Only threads that may run on one CPU alone count, because the kernel moves any other away. All of this can be read without
//! privileges; a process in another PID namespace, or hidden by `hidepid`, goes unnoticed.

use super::processes::{Processes, comm, numbers};
use std::collections::BTreeMap;
use std::fs;
use sys::thread::Standing;
use units::Monotonic;

/// Pause before the next look, as a multiple of the CPU time of this one: even on a host with very many threads, looking takes no
/// more than half a per cent of a CPU.
const PAUSE_PER_LOOK: i64 = 200;

/// Beginning of the names of a session's threads that do not measure; no other program uses it.
const OURS: &str = "triptime-";

/// A thread that shares a CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shared {
    /// The CPU.
    pub(super) cpu: u32,
    /// Name of its process, and how it runs there.
    pub(super) text: String,
}

/// The other processes as they were last seen.
#[derive(Default)]
pub(super) struct Neighbours {
    known: Processes,
    /// CPU time of pinned real-time threads, in ns, by process and thread.
    ran_ns: BTreeMap<(u32, u32), u64>,
    /// Earliest instant of the next look, on CLOCK_MONOTONIC.
    next: Option<Monotonic>,
}

impl Neighbours {
    /// Threads pinned to one CPU, of processes that are neither this one nor descend from it: threads of another triptime, and
    /// real-time threads that have run since the last look.
    pub(super) fn look(&mut self) -> Vec<Shared> {
        let begin = sys::clock::monotonic();
        if self.next.is_some_and(|next| begin < next) {
            return Vec::new();
        }
        let used_ns = || sys::thread::usage().cpu_ns;
        let before_ns = used_ns();
        let found = self.look_at_all();
        let cost_ns = i64::try_from(used_ns() - before_ns).unwrap_or(0);
        self.next = Some(begin + cost_ns * PAUSE_PER_LOOK);
        found
    }

    fn look_at_all(&mut self) -> Vec<Shared> {
        let own = std::process::id();
        self.known.refresh();
        let strangers = self
            .known
            .iter()
            .filter(|(pid, process)| !process.is_kernel && *pid != own && !self.known.descends_from(*pid, own));
        let strangers: Vec<(u32, String)> = strangers.map(|(pid, process)| (pid, process.name.clone())).collect();
        let before = std::mem::take(&mut self.ran_ns);
        let mut found = Vec::new();
        for (pid, name) in strangers {
            let directory = format!("/proc/{pid}/task");
            let mut is_triptime = None;
            for thread in numbers(&directory) {
                let Some(standing) = pinned(thread) else { continue };
                let triptime = *is_triptime.get_or_insert_with(|| is_session(&directory));
                let at = (thread, format!("{directory}/{thread}"));
                let text = match triptime {
                    true => another_triptime(pid, &at, &standing),
                    false if standing.is_real_time => self.real_time((pid, &name), &at, &standing, &before),
                    false => None,
                };
                let cpu = standing.cpus.first();
                found.extend(cpu.zip(text).map(|(cpu, text)| Shared { cpu, text }));
            }
        }
        found
    }

    /// A real-time thread that has run since the last look. A thread seen for the first time is judged at the next look.
    fn real_time(
        &mut self,
        (pid, process): (u32, &str),
        (thread, path): &(u32, String),
        standing: &Standing,
        before: &BTreeMap<(u32, u32), u64>,
    ) -> Option<String> {
        let schedstat = fs::read_to_string(format!("{path}/schedstat")).ok()?;
        let ran_ns: u64 = schedstat.split_ascii_whitespace().next()?.parse().ok()?;
        self.ran_ns.insert((pid, *thread), ran_ns);
        let has_run = before.get(&(pid, *thread)).is_some_and(|before| *before < ran_ns);
        has_run.then(|| {
            format!(
                "real-time thread {} ({}) of another process, {process} (pid {pid}), also runs on cpu{}, and on no other",
                comm(path),
                standing.policy,
                standing.cpus
            )
        })
    }
}

/// True if this process started that measuring process, as a load during its measurement: a planned tenant of the CPU.
pub(super) fn is_load_of_ours(pid: u32) -> bool {
    let mut all = Processes::default();
    all.refresh();
    all.descends_from(pid, std::process::id()) && is_session(&format!("/proc/{pid}/task"))
}

/// How a thread runs, if it is pinned to one CPU.
fn pinned(thread: u32) -> Option<Standing> {
    let thread = i32::try_from(thread).ok()?;
    sys::thread::only_cpu(thread)?;
    let standing = sys::thread::standing(thread)?;
    (standing.cpus.len() == 1).then_some(standing)
}

/// True if a process measures: one of its threads has a name that only sessions use.
pub(super) fn is_session(directory: &str) -> bool {
    let mut threads = numbers(directory).into_iter();
    threads.any(|thread| comm(&format!("{directory}/{thread}")).starts_with(OURS))
}

/// Describes a thread of another triptime; `None` for one that neither measures nor makes a load.
fn another_triptime(pid: u32, (thread, path): &(u32, String), standing: &Standing) -> Option<String> {
    let name = comm(path);
    let is_service = name.starts_with(OURS) || *thread == pid;
    (standing.is_real_time || !is_service).then(|| {
        format!(
            "another triptime (pid {pid}) shares cpu{}: its thread {name} ({}) runs there and on no other CPU",
            standing.cpus, standing.policy
        )
    })
}

#[cfg(test)]
mod tests;
