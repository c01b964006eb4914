//! An external program as a load.
//!
//! A keeper thread starts the program and lives until it ends. The program is killed with the keeper (parent-death signal), so it does not outlive
//! this process, however that ends. The program leads its own process group, and the whole group ends with it. Children that leave the group, as
//! daemons do, or that are being started when this process is killed, can survive.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};
use std::process::{Child, Stdio};
use sys::netns::NetNs;
use sys::thread::{Policy, RtThread, kill_children_with_us};
use units::CpuList;

use super::usage::group_cpu_ms;
use super::{LoadError, words};
use crate::program::{self, LastLines, end, has_ended, reap};

/// Interval at which the keeper checks if the program still runs.
const LOOK: Duration = Duration::from_millis(20);
/// Interval at which it adds up the CPU time, which reads every process's `stat`.
const ACCOUNT: Duration = Duration::from_millis(250);
/// A running program. Dropping it ends the program.
#[derive(Debug)]
pub(super) struct Runner {
    shared: Arc<Shared>,
    /// Dropping it makes the keeper end the program.
    go_on: Option<Sender<()>>,
    keeper: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    program: String,
    work_ms: AtomicU64,
    failure: Mutex<Option<String>>,
}

/// Name of the program in `line`, without its directory.
pub(super) fn label(line: &str) -> String {
    let program = words::split(line).map_or_else(|_| line.to_owned(), |words| words[0].clone());
    let name = Path::new(&program).file_name().and_then(|name| name.to_str());
    name.map_or_else(|| program.clone(), str::to_owned)
}

impl Runner {
    /// Starts it on `cpus`, in a network namespace if that differs from this process's.
    pub(super) fn start(line: &str, cpus: &CpuList, namespace: Option<&Path>) -> Result<Self, LoadError> {
        let words = words::split(line).map_err(|why| LoadError::Words {
            line: line.to_owned(),
            why,
        })?;
        let program = words[0].clone();
        let shared = Arc::new(Shared {
            program,
            work_ms: AtomicU64::new(0),
            failure: Mutex::new(None),
        });
        let (go_on, stopped) = channel();
        let (started, is_started) = channel();
        let (cpus, keep) = (cpus.clone(), Arc::clone(&shared));
        let namespace = namespace.map(NetNs::open).transpose();
        let keeper = move || {
            let refused = |source| LoadError::Refused {
                load: format!("load command {}", keep.program),
                source,
            };
            let entered = namespace.and_then(|namespace| namespace.map_or(Ok(()), |namespace| namespace.enter()));
            let placed = entered.map_err(refused).and_then(|()| enter(&cpus, &keep.program));
            let child = placed.and_then(|()| spawn(&words));
            match child {
                Ok(child) => {
                    let _ = started.send(Ok(()));
                    keep_running(child, &stopped, &keep);
                }
                Err(error) => {
                    let _ = started.send(Err(error));
                }
            }
        };
        let system = |why: String| LoadError::System {
            load: format!("load command {}", shared.program),
            operation: "start a thread",
            why,
        };
        let keeper = Builder::new()
            .name("load-command".to_owned())
            .spawn(keeper)
            .map_err(|error| system(error.to_string()))?;
        let answer = is_started.recv().map_err(|_| system("it ended at once".to_owned()));
        let runner = Self {
            shared,
            go_on: Some(go_on),
            keeper: Some(keeper),
        };
        answer.and_then(|answer| answer).map(|()| runner)
    }

    pub(super) fn work_ms(&self) -> u64 {
        self.shared.work_ms.load(Ordering::Relaxed)
    }

    pub(super) fn failed(&self) -> Option<String> {
        self.shared
            .failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Ends the program and waits for it.
    pub(super) fn end(&mut self) {
        self.go_on = None;
        if let Some(Err(_)) = self.keeper.take().map(JoinHandle::join) {
            self.shared.fail("its keeper panicked");
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn fail(&self, why: &str) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert_with(|| format!("load command {}: {why}", self.program));
    }
}

/// Puts the calling thread, and thus its children, on `cpus` with the normal policy.
fn enter(cpus: &CpuList, program: &str) -> Result<(), LoadError> {
    let load = || format!("load command {program}");
    let mut set = CpuSet::new();
    for cpu in cpus.iter() {
        // Tries each CPU alone first, so that an error names the CPU and the reason.
        let alone = RtThread {
            policy: Policy::Other,
            cpu: Some(cpu),
            stack_bytes: 0,
        };
        alone
            .enter()
            .map_err(|source| LoadError::Refused { load: load(), source })?;
        set.set(cpu as usize);
    }
    sched_setaffinity(None, &set).map_err(|errno| LoadError::System {
        load: load(),
        operation: "pin a thread to several CPUs",
        why: errno.to_string(),
    })
}

fn spawn(words: &[String]) -> Result<Child, LoadError> {
    let mut command = program::command(words);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    kill_children_with_us(&mut command);
    command.spawn().map_err(|error| LoadError::Program {
        program: words[0].clone(),
        why: program::not_started(&error),
    })
}

/// Watches the program until it ends, or until `stopped` receives a request.
fn keep_running(mut child: Child, stopped: &Receiver<()>, shared: &Shared) {
    let mut output = LastLines::of(child.stderr.take().map(Into::into));
    let group = Pid::from_child(&child);
    let mut accounted = Instant::now();
    let mut wanted = true;
    // One more check after the request: it may have ended since the last check.
    while !has_ended(group) {
        if !wanted {
            account(group, shared);
            return end(&mut child, group, &mut output);
        }
        output.read();
        if accounted.elapsed() >= ACCOUNT {
            account(group, shared);
            accounted = Instant::now();
        }
        wanted = stopped.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout);
    }
    account(group, shared);
    reap(&mut child, group);
    output.read();
    shared.fail(&how_it_ended(&mut child, &output));
}

/// Describes the early end of a program.
fn how_it_ended(child: &mut Child, output: &LastLines) -> String {
    let (status, hint) = match child.wait() {
        Ok(status) if status.success() => (status.to_string(), ": let it run longer than the measurement"),
        Ok(status) => (status.to_string(), ""),
        Err(error) => (error.to_string(), ""),
    };
    let lines = output.lines();
    let said = if lines.is_empty() {
        String::new()
    } else {
        format!("; it last wrote: {lines}")
    };
    format!("it ended by itself ({status}){hint}{said}")
}

/// Adds up CPU time, which may only grow: the time of members that ended without being reaped by their parent must not be subtracted.
fn account(group: Pid, shared: &Shared) {
    shared
        .work_ms
        .fetch_max(group_cpu_ms(group.as_raw_nonzero().get()), Ordering::Relaxed);
}
