//! All threads of the machine, read once, with their CPUs and priorities.

mod actors;
mod foreign;
pub(super) mod planned;
mod rcu;
mod tasks;

use std::collections::BTreeMap;
use std::rc::Rc;

use units::CpuList;

use super::observed::Reading;
use crate::facts::Facts;
use crate::parameters::Parameters;
use crate::value::Unknown;
use host::container;
use host::error::{HostError, Unreadable};
use host::reader::Reader;
use host::roles::{is_virtual_cpu, numbers, own_number};
use host::stat::ThreadStat;

/// Name of this program's processes, whose measuring threads are not findings.
const OURS: &str = "triptime";
/// Maximum number of names in a list for a person.
const SHOWN: usize = 12;

pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    let threads = read(reader);
    rcu::gather(reader, parameters, &threads, facts);
    foreign::gather(&threads, facts);
    tasks::gather(reader, &threads, facts);
    actors::gather(reader, &threads, facts);
    planned::gather(reader, &parameters.tasks, &threads, facts);
    let manager = threads.as_ref().map_err(Unknown::clone).and_then(|threads| {
        let first = threads.iter().find(|thread| thread.pid == 1 && thread.id == 1);
        let first = first.ok_or_else(|| Unknown::unclear("process 1 cannot be seen"))?;
        Ok(CpuList::clone(&first.allowed))
    });
    facts.set("threads.first-process", manager);
}

/// Counts the page faults of real-time threads.
pub(super) fn count(reader: &Reader, facts: &Facts, reading: &mut Reading) {
    tasks::count(reader, facts, reading);
}

/// One thread.
struct Thread {
    pid: u32,
    id: u32,
    /// Name of its process.
    process: Rc<str>,
    stat: ThreadStat,
    /// CPUs on which it may run, among all that the kernel could have.
    allowed: Rc<CpuList>,
}

impl Thread {
    fn may_run_on(&self, cpus: &CpuList) -> bool {
        cpus.iter().any(|cpu| self.allowed.contains(cpu))
    }

    fn is_confined_to(&self, cpus: &CpuList) -> bool {
        self.allowed.without(cpus).is_empty()
    }

    fn is_virtual_cpu(&self) -> bool {
        !self.stat.is_kernel && is_virtual_cpu(&self.stat.name)
    }

    /// CPU in the name of a kernel thread: 3 for `rcuop/3`.
    fn cpu_in_name(&self) -> Option<u32> {
        self.stat.name.rsplit_once('/')?.1.parse().ok()
    }
}

impl std::fmt::Display for Thread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let policy = self.stat.policy.as_deref().unwrap_or("policy unknown");
        match self.stat.is_kernel || *self.process == *self.stat.name {
            true => write!(f, "{} (pid {}, {policy})", self.stat.name, self.pid),
            false => write!(f, "{} of {} (pid {}, {policy})", self.stat.name, self.process, self.pid),
        }
    }
}

/// All threads except this program's own.
///
/// # Errors
/// Some threads are invisible: an incomplete list would prove nothing.
fn read(reader: &Reader) -> Result<Vec<Thread>, Unknown> {
    let ours = own_number(reader);
    let mut lists = BTreeMap::new();
    let mut threads = Vec::new();
    for pid in numbers(reader, "/proc")? {
        let directory = format!("/proc/{pid}");
        // A process may end during the reading.
        let Some(process) = stat(reader, &directory)? else {
            continue;
        };
        if Some(pid) == ours || process.name.starts_with(OURS) {
            continue;
        }
        let name: Rc<str> = Rc::from(process.name.as_str());
        let others = match process.is_kernel {
            true => Vec::new(),
            false => unless_ended(numbers(reader, &format!("{directory}/task")))?.unwrap_or_default(),
        };
        threads.extend(thread(reader, &mut lists, (pid, pid), &name, process, &directory)?);
        for id in others.into_iter().filter(|id| *id != pid) {
            let directory = format!("{directory}/task/{id}");
            let Some(own) = stat(reader, &directory)? else {
                continue;
            };
            threads.extend(thread(reader, &mut lists, (pid, id), &name, own, &directory)?);
        }
    }
    seen_all(reader, &threads)?;
    Ok(threads)
}

fn seen_all(reader: &Reader, threads: &[Thread]) -> Result<(), Unknown> {
    let kernel = threads.iter().any(|thread| thread.stat.is_kernel);
    let first = threads.iter().any(|thread| thread.pid == 1);
    match container::detect(reader) {
        _ if !first => Err(Unknown::unclear(
            "process 1 cannot be seen, so others may be hidden too",
        )),
        Ok(found) if found.runtime.is_some() && !kernel => {
            Err(Unknown::unclear("in a container: the host's threads cannot be seen"))
        }
        _ if !kernel => Err(Unknown::unclear("no thread of the kernel can be seen")),
        _ => Ok(()),
    }
}

/// CPU lists by text: most threads have the same one.
type Lists = BTreeMap<String, Rc<CpuList>>;

fn thread(
    reader: &Reader,
    lists: &mut Lists,
    (pid, id): (u32, u32),
    process: &Rc<str>,
    stat: ThreadStat,
    directory: &str,
) -> Result<Option<Thread>, Unknown> {
    let path = format!("{directory}/status");
    let Some(status) = unless_ended(reader.text(&path))? else {
        return Ok(None);
    };
    let wrong = || Unknown::unclear(format!("{path}: no list of CPUs after Cpus_allowed_list"));
    let text = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let text = text.ok_or_else(wrong)?;
    let allowed = match lists.get(text) {
        Some(known) => Rc::clone(known),
        None => {
            let list = text.parse::<CpuList>().ok().filter(|list| !list.is_empty());
            let list = Rc::new(list.ok_or_else(wrong)?);
            lists.insert(text.to_owned(), Rc::clone(&list));
            list
        }
    };
    Ok(Some(Thread {
        pid,
        id,
        process: Rc::clone(process),
        stat,
        allowed,
    }))
}

/// ESRCH: the thread ended between opening and reading the file.
const ENDED: Unreadable = Unreadable::Errno(3);

/// Returns `None` if the thread has ended.
fn unless_ended<T>(read: Result<T, HostError>) -> Result<Option<T>, HostError> {
    match read {
        Err(error) if error.is_absent() => Ok(None),
        Err(HostError::Unreadable { why: ENDED, .. }) => Ok(None),
        read => read.map(Some),
    }
}

fn stat(reader: &Reader, directory: &str) -> Result<Option<ThreadStat>, HostError> {
    let path = format!("{directory}/stat");
    let Some(line) = unless_ended(reader.line(&path))? else {
        return Ok(None);
    };
    let stat = ThreadStat::parse(&line);
    let stat = stat.ok_or_else(|| HostError::unexpected(&path, "a line such as 7 (name) S 1", &line))?;
    Ok(Some(stat))
}

/// First names of a list, and the number of further ones.
fn shown(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.into_iter().collect();
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    if more > 0 {
        names.push(format!("and {more} more"));
    }
    names
}

/// A result that several gatherers use.
fn seen(threads: &Result<Vec<Thread>, Unknown>) -> Result<&[Thread], Unknown> {
    threads.as_deref().map_err(Unknown::clone)
}

/// Value of a line of `/proc/PID/status`, in KiB.
fn kilobytes(status: &str, key: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Path of `/proc/PID/status`.
fn status(reader: &Reader, pid: u32) -> Result<String, HostError> {
    reader.text(&format!("/proc/{pid}/status"))
}
