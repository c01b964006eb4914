//! Loads do work where they should and nowhere else, and leave nothing behind. A test binary of its own, because it counts
//! the threads of its process.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use units::CpuList;

use lab::load::{Load, LoadError, LoadKind, LoadRequest, LoadSpec, Over};
use sys::privilege::Capability;

/// The tests count threads of this process: one at a time.
static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn alone() -> std::sync::MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn scheduler(pairs: usize) -> LoadKind {
    LoadKind::Scheduler {
        pairs,
        message_bytes: 100,
        over: Over::Sockets,
    }
}

fn command(line: &str) -> LoadKind {
    LoadKind::Command { line: line.to_owned() }
}

/// The last CPU this process may use: the first has most of the machine's other work.
fn last_cpu() -> u32 {
    sys::thread::allowed_cpus().iter().last().expect("a CPU")
}

fn on(cpu: u32, kind: LoadKind) -> LoadSpec {
    LoadSpec {
        kind,
        cpus: [cpu].into_iter().collect(),
    }
}

/// What `/proc` says of a thread: CPU it last ran on, CPUs it may use, run time in ns, switches.
#[derive(Debug)]
struct Thread {
    last_cpu: u32,
    allowed: CpuList,
    run_ns: u64,
    switches: u64,
}

/// The threads of loads in this process.
fn load_threads() -> BTreeMap<String, Thread> {
    let tasks = std::fs::read_dir("/proc/self/task").expect("own threads");
    let ids = tasks.map(|task| task.expect("task").file_name().into_string().expect("number"));
    ids.filter_map(|id| Some((id.clone(), load_thread(&id)?))).collect()
}

fn load_thread(id: &str) -> Option<Thread> {
    let read = |file: &str| std::fs::read_to_string(format!("/proc/self/task/{id}/{file}")).ok();
    if read("comm")?.trim() != "load" {
        return None;
    }
    let (stat, status, schedstat) = (read("stat")?, read("status")?, read("schedstat")?);
    let field = |name: &str| {
        status
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
            .map(str::trim)
    };
    let count = |name| field(name).and_then(|value| value.parse::<u64>().ok());
    Some(Thread {
        last_cpu: stat.rsplit_once(')')?.1.split_whitespace().nth(36)?.parse().ok()?,
        allowed: field("Cpus_allowed_list")?.parse().ok()?,
        run_ns: schedstat.split_whitespace().next()?.parse().ok()?,
        switches: count("voluntary_ctxt_switches")? + count("nonvoluntary_ctxt_switches")?,
    })
}

/// Waits until `done`, at most 10 s.
fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(10), "{what}: not within 10 s");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Processes whose command line holds `mark`.
fn processes_with(mark: &str) -> Vec<String> {
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

/// Waits until no process has `words` in its command line: what was killed takes a moment to be gone.
fn gone(words: &str) {
    wait_until("the end of what the program started", || {
        processes_with(words).is_empty()
    });
}

#[test]
fn the_scheduler_load_switches_on_its_cpu_and_no_other() {
    let _alone = alone();
    let cpu = last_cpu();
    let load = Load::start(&on(cpu, scheduler(4))).expect("load");
    assert_eq!(
        load.describe(),
        format!("scheduler load: 4 pairs, messages of 100 octets over sockets, on CPU {cpu}")
    );
    wait_until("10 000 messages", || load.work_done() > 10_000);
    wait_until("50 ms of CPU time", || {
        load_threads().values().map(|thread| thread.run_ns).sum::<u64>() > 50_000_000
    });
    let threads = load_threads();
    assert_eq!(threads.len(), 8);
    for thread in threads.values() {
        assert_eq!(
            (thread.last_cpu, thread.allowed.to_string()),
            (cpu, cpu.to_string()),
            "{thread:?}"
        );
    }
    let switches: u64 = threads.values().map(|thread| thread.switches).sum();
    assert!(switches > 100, "only {switches} context switches");
    assert_eq!(load.failed(), None);
    let report = load.stop();
    assert!(report.work > 10_000 && report.seconds > 0.0, "{report:?}");
    assert_eq!((report.unit, report.note.as_str()), ("messages", ""));
    assert_eq!(load_threads().len(), 0);
}

#[test]
fn the_memory_load_moves_more_than_its_buffer_on_its_cpu() {
    let _alone = alone();
    let (cpu, bytes) = (last_cpu(), 8 << 20);
    let load = Load::start(&on(
        cpu,
        LoadKind::Memory {
            bytes_per_thread: bytes,
            threads: 2,
        },
    ))
    .expect("load");
    wait_until("more than filling", || load.work_done() > 4 * bytes);
    let threads = load_threads();
    assert_eq!(threads.len(), 2);
    assert!(
        threads
            .values()
            .all(|thread| thread.last_cpu == cpu && thread.allowed.len() == 1),
        "{threads:?}"
    );
    let report = load.stop();
    assert_eq!((report.unit, report.note.as_str()), ("octets", ""));
    assert_eq!(load_threads().len(), 0);
}

#[test]
fn threads_take_turns_over_the_cpus() {
    let _alone = alone();
    let cpus = sys::thread::allowed_cpus();
    let spec = LoadSpec {
        kind: scheduler(cpus.len()),
        cpus: cpus.clone(),
    };
    let load = Load::start(&spec).expect("load");
    let used: CpuList = load_threads()
        .values()
        .filter_map(|thread| thread.allowed.first())
        .collect();
    assert_eq!(used, cpus);
    load.stop();
}

#[test]
fn threads_stop_within_200_ms() {
    let _alone = alone();
    for kind in [
        scheduler(10),
        LoadKind::Memory {
            bytes_per_thread: 64 << 20,
            threads: 2,
        },
    ] {
        let load = Load::start(&on(last_cpu(), kind)).expect("load");
        wait_until("some work", || load.work_done() > 0);
        let asked = Instant::now();
        let report = load.stop();
        assert!(
            asked.elapsed() < Duration::from_millis(200),
            "{report:?} took {:?}",
            asked.elapsed()
        );
    }
}

#[test]
fn a_panic_leaves_nothing_behind() {
    let _alone = alone();
    let mark = "sleep 86399";
    let panicked = std::thread::spawn(move || {
        let _load = Load::start(&on(last_cpu(), scheduler(2))).expect("load");
        let _program = Load::start(&on(last_cpu(), command(mark))).expect("program");
        assert_eq!(processes_with("sleep\u{0}86399").len(), 1);
        panic!("on purpose: loads must end with the thread that holds them");
    });
    assert!(panicked.join().is_err());
    assert_eq!(load_threads().len(), 0);
    gone("sleep\u{0}86399");
}

#[test]
fn a_command_works_on_its_cpus_with_its_children() {
    let _alone = alone();
    let cpus = sys::thread::allowed_cpus();
    let script = "sh -c 'sleep 86398 & while :; do :; done'";
    let load = Load::start(&LoadSpec {
        kind: command(script),
        cpus: cpus.clone(),
    })
    .expect("load");
    wait_until("100 ms of CPU time", || load.work_done() >= 100);
    let child = processes_with("sleep\u{0}86398").pop().expect("the child");
    let status = std::fs::read_to_string(format!("/proc/{child}/status")).expect("status");
    assert!(status.contains(&format!("Cpus_allowed_list:\t{cpus}\n")), "{status}");
    assert_eq!(load.failed(), None);
    let report = load.stop();
    assert_eq!((report.unit, report.note.as_str()), ("ms of CPU time", ""));
    assert!(report.work >= 100, "{report:?}");
    gone("86398");
    assert_eq!(load_threads().len(), 0);
}

#[test]
fn a_command_that_does_not_listen_is_killed() {
    let _alone = alone();
    let load = Load::start(&on(
        last_cpu(),
        command("sh -c 'trap \"\" TERM; echo deaf >&2; while :; do sleep 86397; done'"),
    ));
    let load = load.expect("load");
    wait_until("the trap is set", || !processes_with("sleep\u{0}86397").is_empty());
    let asked = Instant::now();
    load.stop();
    let took = asked.elapsed();
    assert!(
        took >= Duration::from_secs(2) && took < Duration::from_secs(4),
        "{took:?}"
    );
    gone("86397");
}

#[test]
fn a_command_that_ends_is_reported_with_its_last_words() {
    let _alone = alone();
    let line = "sh -c 'echo one >&2; echo two >&2; echo three >&2; echo no such method >&2; exit 7'";
    let load = Load::start(&on(last_cpu(), command(line))).expect("load");
    wait_until("its end", || load.failed().is_some());
    let failure = load.failed().expect("failure");
    let wanted = "load command sh: it ended by itself (exit status: 7); it last wrote: two / three / no such method";
    assert_eq!(failure, wanted);
    assert_eq!(load.stop().note, wanted);
}

#[test]
fn a_command_that_does_nothing_is_noticed() {
    let _alone = alone();
    let report = Load::start(&on(last_cpu(), command("sleep 86396")))
        .expect("load")
        .stop();
    assert_eq!((report.work, report.note.as_str()), (0, "it did no work"));
}

#[test]
fn what_cannot_start_says_why() {
    let _alone = alone();
    let message = |spec: &LoadSpec| {
        Load::start(spec)
            .map(|load| load.describe())
            .expect_err("no load")
            .to_string()
    };
    let cpu = last_cpu();
    assert_eq!(
        message(&on(cpu, command("no-such-program-here --x"))),
        "load command no-such-program-here: no such program: install it, or give its full path"
    );
    assert_eq!(
        message(&on(cpu, command("a 'b"))),
        "load command a 'b: a quote is not closed"
    );
    assert!(message(&on(cpu, command("/proc/version"))).contains("may not be executed"));
    assert!(message(&on(4000, scheduler(1))).contains("CPU 4000: no such CPU"));
    assert!(message(&on(4000, command("sleep 1"))).contains("CPU 4000: no such CPU"));
    assert!(
        message(&LoadSpec {
            kind: scheduler(1),
            cpus: CpuList::default()
        })
        .contains("no CPU to run on")
    );
    assert!(message(&on(cpu, scheduler(0))).contains("is 0"));
    assert!(
        message(&on(
            cpu,
            LoadKind::Memory {
                bytes_per_thread: 1 << 20,
                threads: 0
            }
        ))
        .contains("is 0")
    );
    let huge = LoadSpec {
        kind: LoadKind::Memory {
            bytes_per_thread: u64::MAX,
            threads: 1,
        },
        cpus: [cpu].into_iter().collect(),
    };
    assert!(matches!(Load::start(&huge), Err(LoadError::NoMemory { .. })));
    assert_eq!(load_threads().len(), 0);
}

/// Softirqs of one kind served on a CPU so far.
fn softirqs(name: &str, cpu: u32) -> u64 {
    let table = std::fs::read_to_string("/proc/softirqs").expect("softirqs");
    let line = table
        .lines()
        .find(|line| line.trim_start().starts_with(name))
        .expect("the kind");
    let column = line.split_whitespace().nth(1 + cpu as usize).expect("the CPU");
    column.parse().expect("a count")
}

/// Starts what `request` asks for on the last CPU, waits until it did `least`, and stops it; returns its seconds of work.
fn works_on_its_cpu_only(request: &str, least: u64, meanwhile: impl Fn()) {
    let cpu = last_cpu();
    let request: LoadRequest = request.parse().expect("a load");
    let spec = request.on(&[cpu].into_iter().collect());
    let load = Load::start(&spec).expect("the load starts");
    wait_until(&load.describe(), || load.work_done() >= least);
    for thread in load_threads().values() {
        assert_eq!(
            thread.allowed.to_string(),
            cpu.to_string(),
            "{}: {thread:?}",
            load.describe()
        );
    }
    meanwhile();
    assert_eq!(load.failed(), None);
    let begin = Instant::now();
    let report = load.stop();
    assert!(
        begin.elapsed() < Duration::from_millis(1_500),
        "{:?} to stop",
        begin.elapsed()
    );
    assert!(report.work >= least && report.note.is_empty(), "{report:?}");
    assert!(load_threads().is_empty(), "threads left behind");
}

#[test]
fn every_kind_works_on_its_cpu_and_ends() {
    let _alone = alone();
    for (request, least) in [
        ("scheduler:pairs=2,over=pipes", 5_000),
        ("hackbench:groups=1,fds=4", 5_000),
        ("hackbench:groups=2,fds=3,over=pipes", 5_000),
        ("memory:size=8MiB", 10_000_000),
        ("cache:size=1MiB", 1_000_000),
        ("timers:interval=100us", 1_000),
    ] {
        works_on_its_cpu_only(request, least, || {});
    }
}

#[test]
fn frames_are_received_in_softirqs_of_the_senders_cpu() {
    let needs = [Capability::SysAdmin, Capability::NetAdmin, Capability::NetRaw];
    if needs.iter().any(|need| !sys::privilege::has(*need)) {
        testing::skip(
            "frames_are_received_in_softirqs_of_the_senders_cpu",
            "needs network namespaces",
        );
        return;
    }
    let _alone = alone();
    let before = softirqs("NET_RX:", last_cpu());
    works_on_its_cpu_only("packets", 20_000, || {
        let served = softirqs("NET_RX:", last_cpu()) - before;
        assert!(served > 100, "only {served} network softirqs");
    });
}

#[test]
fn the_disk_load_leaves_no_file_and_names_a_directory_that_will_not_do() {
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let request = format!("disk:dir={},size=1MiB", directory.path().display());
    works_on_its_cpu_only(&request, 1 << 20, || {
        let files = std::fs::read_dir(directory.path()).expect("readable").count();
        assert_eq!(files, 0, "the file has no name");
    });
    let nowhere: LoadRequest = "disk:dir=/no/such/place".parse().expect("a load");
    let error = Load::start(&nowhere.on(&[last_cpu()].into_iter().collect())).expect_err("no such directory");
    let message = error.to_string();
    assert!(
        message.contains("/no/such/place") && message.contains("dir="),
        "{message}"
    );
}
