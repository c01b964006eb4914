//! Processes that rules look up by name, with their arguments and threads.

use units::CpuList;

use super::shared::unclear;
use super::{network, time};
use crate::facts::Facts;
use crate::parameters::Parameters;
use crate::value::Unknown;
use host::container;
use host::error::HostError;
use host::processes::{is_of_time, nameless};
use host::reader::Reader;
use host::stat::ThreadStat;

/// A process.
#[derive(Debug, Clone)]
pub(super) struct Daemon {
    pub(super) pid: String,
    pub(super) name: String,
    /// Arguments; empty for kernel threads, and if unreadable.
    pub(super) arguments: Vec<String>,
    pub(super) threads: Vec<Thread>,
}

impl Daemon {
    /// A path as the process sees it: without a leading slash it starts in the working directory.
    pub(super) fn path(&self, reader: &Reader, path: &str) -> Result<String, Unknown> {
        if path.starts_with('/') {
            return Ok(path.to_owned());
        }
        let directory = reader.target(&format!("/proc/{}/cwd", self.pid))?;
        Ok(directory.join(path).display().to_string())
    }
}

/// One of its threads.
#[derive(Debug, Clone)]
pub(super) struct Thread {
    pub(super) name: String,
    /// Policy and priority: `other`, `fifo:50`.
    pub(super) policy: Result<String, Unknown>,
    pub(super) cpus: Result<CpuList, Unknown>,
}

impl Thread {
    /// True if it runs before all threads without real-time priority.
    pub(super) fn is_real_time(&self) -> Result<bool, Unknown> {
        let policy = self.policy.as_ref().map_err(Clone::clone)?;
        Ok(["fifo", "rr", "deadline"].iter().any(|word| policy.starts_with(word)))
    }
}

/// Reads the processes once, for all gatherers that look up names.
pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    let found = find(reader, |name| network::moves_frames(name) || is_of_time(name));
    network::switching(&found, facts);
    time::gather(reader, parameters, &found, facts);
}

/// Processes whose name `wanted` accepts; it gets the kernel's form of the name: 15 characters.
fn find(reader: &Reader, wanted: impl Fn(&str) -> bool) -> Result<Vec<Daemon>, Unknown> {
    let pids = reader.names("/proc", |name| name.bytes().all(|b| b.is_ascii_digit()));
    // Without a process list, no process is known to be absent.
    let pids = pids.map_err(|error| Unknown::unclear(error.to_string()))?;
    let mut found = Vec::new();
    let (mut seen, mut kernel_seen) = (0_u32, false);
    for pid in pids {
        let name = match name(reader, &format!("/proc/{pid}")) {
            Ok(name) => name,
            Err(error) => {
                nameless(error).map_err(unclear)?;
                continue;
            }
        };
        seen += 1;
        kernel_seen |= name == "kthreadd";
        if wanted(&name) {
            found.push(daemon(reader, pid, name));
        }
    }
    if seen == 0 {
        return Err(HostError::Undecided("no process can be seen".to_owned()).into());
    }
    match container::detect(reader) {
        Ok(found) if found.runtime.is_some() && !kernel_seen => {
            Err(Unknown::unclear("in a container: the host's processes cannot be seen"))
        }
        _ => Ok(found),
    }
}

fn stat(reader: &Reader, directory: &str) -> Option<ThreadStat> {
    ThreadStat::parse(&reader.line(&format!("{directory}/stat")).ok()?)
}

/// Name of the process; trees recorded without its `stat` line still contain the name.
fn name(reader: &Reader, directory: &str) -> Result<String, HostError> {
    match stat(reader, directory) {
        Some(stat) => Ok(stat.name),
        None => reader.line(&format!("{directory}/comm")),
    }
}

fn daemon(reader: &Reader, pid: String, name: String) -> Daemon {
    let directory = format!("/proc/{pid}");
    let tasks = reader.names(&format!("{directory}/task"), |name| {
        name.bytes().all(|b| b.is_ascii_digit())
    });
    let mut threads: Vec<Thread> = match tasks {
        Ok(tasks) if !tasks.is_empty() => {
            let of_task = |task: String| thread(reader, &format!("{directory}/task/{task}"));
            tasks.into_iter().filter_map(of_task).collect()
        }
        _ => thread(reader, &directory).into_iter().collect(),
    };
    if threads.is_empty() {
        let unseen = || Unknown::unclear(format!("{directory}: its threads cannot be read"));
        threads.push(Thread {
            name: name.clone(),
            policy: Err(unseen()),
            cpus: Err(unseen()),
        });
    }
    let bytes = reader
        .bytes(&format!("{directory}/cmdline"), 1 << 20)
        .unwrap_or_default();
    let words = bytes.split(|b| *b == 0).filter(|word| !word.is_empty());
    Daemon {
        arguments: words.map(|word| String::from_utf8_lossy(word).into_owned()).collect(),
        pid,
        name,
        threads,
    }
}

fn thread(reader: &Reader, directory: &str) -> Option<Thread> {
    let stat = stat(reader, directory)?;
    let path = format!("{directory}/status");
    let cpus = reader.text(&path).map_err(Unknown::from).and_then(|text| {
        let list = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let parsed = list.and_then(|list| list.trim().parse().ok());
        parsed.ok_or_else(|| Unknown::unclear(format!("{path} names no CPUs")))
    });
    let unnamed = || Unknown::unclear(format!("{directory}/stat: the policy is not known"));
    Some(Thread {
        name: stat.name,
        policy: stat.policy.ok_or_else(unnamed),
        cpus,
    })
}
