//! Reads threads, descriptors, processes, and counters of the kernel.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bed::load::{LoadKind, LoadSpec};
use units::CpuList;

/// The tests count threads of this process: one at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

pub(crate) fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The last CPU this process may use, because the first does most of the machine's other work.
pub(crate) fn last_cpu() -> u32 {
    sys::thread::allowed_cpus().iter().last().expect("a CPU")
}

pub(crate) fn on(cpu: u32, kind: LoadKind) -> LoadSpec {
    LoadSpec {
        kind,
        cpus: [cpu].into_iter().collect(),
    }
}

/// The load from the text of `--load`, on one CPU.
pub(crate) fn asked(text: &str, cpu: u32) -> LoadSpec {
    let request: bed::load::LoadRequest = text.parse().expect(text);
    request.on(&[cpu].into_iter().collect())
}

/// State of a thread in `/proc`: CPU it last ran on, CPUs it may use, run time in ns, switches.
#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) last_cpu: u32,
    pub(crate) allowed: CpuList,
    pub(crate) run_ns: u64,
    pub(crate) switches: u64,
}

/// The threads of loads in this process.
pub(crate) fn load_threads() -> BTreeMap<String, Thread> {
    let tasks = std::fs::read_dir("/proc/self/task").expect("own threads");
    let ids = tasks.map(|task| task.expect("task").file_name().into_string().expect("number"));
    // The first thread has the name of this program, which begins like theirs.
    let first = std::process::id().to_string();
    ids.filter(|id| *id != first)
        .filter_map(|id| Some((id.clone(), load_thread(&id)?)))
        .collect()
}

fn load_thread(id: &str) -> Option<Thread> {
    let read = |file: &str| std::fs::read_to_string(format!("/proc/self/task/{id}/{file}")).ok();
    if !read("comm")?.starts_with("load-") {
        return None;
    }
    let (stat, status, schedstat) = (read("stat")?, read("status")?, read("schedstat")?);
    let count = |name| field(&status, name).and_then(|value| value.parse::<u64>().ok());
    Some(Thread {
        last_cpu: stat.rsplit_once(')')?.1.split_whitespace().nth(36)?.parse().ok()?,
        allowed: field(&status, "Cpus_allowed_list")?.parse().ok()?,
        run_ns: schedstat.split_whitespace().next()?.parse().ok()?,
        switches: count("voluntary_ctxt_switches")? + count("nonvoluntary_ctxt_switches")?,
    })
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.map(str::trim)
}

/// Checks that all threads of loads ran on `cpu` last and may not run elsewhere.
pub(crate) fn assert_all_on(cpu: u32) {
    let threads = load_threads();
    assert!(!threads.is_empty());
    for thread in threads.values() {
        let where_it_is = (thread.last_cpu, thread.allowed.to_string());
        assert_eq!(where_it_is, (cpu, cpu.to_string()), "{thread:?}");
    }
}

/// Checks that no thread of a load is left. A joined thread takes a moment to leave `/proc`.
pub(crate) fn no_threads(of: &str) {
    wait_until(&format!("the end of the threads of {of}"), || load_threads().is_empty());
}

/// CPU time of all threads of loads, in ns.
pub(crate) fn run_ns() -> u64 {
    load_threads().values().map(|thread| thread.run_ns).sum()
}

/// The open descriptors of this process, with their targets.
pub(crate) fn descriptors() -> Vec<String> {
    let entries = std::fs::read_dir("/proc/self/fd").expect("own descriptors");
    let paths = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    // The directory that is being read is one itself.
    let mut all: Vec<String> = paths
        .map(|path| path.display().to_string())
        .filter(|path| !path.ends_with("/fd"))
        .collect();
    all.sort_unstable();
    all
}

/// How often the softirq of received frames has run on each CPU.
pub(crate) fn network_softirqs() -> BTreeMap<u32, u64> {
    let path = "/proc/softirqs";
    let text = std::fs::read_to_string(path).expect(path);
    let mut lines = text.lines();
    let heads = lines.next().expect("the CPUs").split_whitespace();
    let cpus: Vec<u32> = heads.map(|cpu| cpu[3..].parse().expect("CPUn")).collect();
    let mut counts = BTreeMap::new();
    for line in lines.filter(|line| line.trim_start().starts_with("NET_RX:")) {
        for (cpu, count) in cpus.iter().zip(line.split_whitespace().skip(1)) {
            *counts.entry(*cpu).or_default() += count.parse::<u64>().expect("a count");
        }
    }
    assert!(!counts.is_empty(), "{path} has no such row:\n{text}");
    counts
}

/// Waits until `done`, at most 10 s.
pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(10), "{what}: not within 10 s");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Processes with `mark` in their command lines.
pub(crate) fn processes_with(mark: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").expect("processes");
    let ids = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let has = |id: &String| {
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        id != &std::process::id().to_string() && String::from_utf8_lossy(&line).contains(mark)
    };
    ids.filter(|id| id.bytes().all(|b| b.is_ascii_digit()))
        .filter(has)
        .collect()
}

/// Waits until no process has `words` in its command line: a killed process takes a moment to vanish.
pub(crate) fn gone(words: &str) {
    wait_until("the end of what the program started", || {
        processes_with(words).is_empty()
    });
}

/// True if the network load can run here; otherwise the test is skipped.
pub(crate) fn has_network(test: &str) -> bool {
    use sys::privilege::{Capability, has};
    let needs = [Capability::SysAdmin, Capability::NetAdmin, Capability::NetRaw];
    let missing = needs.into_iter().find(|need| !has(*need));
    if let Some(need) = missing {
        testing::skip(test, &format!("needs {need}"));
    }
    missing.is_none()
}
