//! Loads made of threads: all kinds.

use std::time::{Duration, Instant};

use bed::load::{Load, LoadKind, LoadSpec};
use units::CpuList;

use crate::support::{
    alone, asked, assert_all_on, descriptors, gone, has_network, last_cpu, load_threads, no_threads, on,
    processes_with, run_ns, wait_until,
};

/// One of every kind, small enough to be stopped at any moment.
const EVERY_KIND: [&str; 6] = [
    "hackbench:groups=4,fds=1",
    "hackbench:groups=1,fds=20",
    "hackbench:groups=2,fds=3,over=pipes",
    "memory:size=8MiB,threads=2",
    "cache:size=1MiB",
    "packets",
];

#[test]
fn every_kind_works_on_its_cpu_alone_and_leaves_nothing_behind() {
    let _alone = alone();
    let cpu = last_cpu();
    for text in EVERY_KIND {
        if text == "packets" && !has_network("the packet load") {
            continue;
        }
        let before = descriptors();
        let spec = asked(text, cpu);
        let load = Load::start(&spec).expect(text);
        let start = load.describe();
        assert!(
            start.starts_with(&format!("{} load: ", spec.kind.label())) && start.ends_with(&format!(", on CPU {cpu}")),
            "{start}"
        );
        wait_until(text, || load.work_done() > 0);
        let so_far = load.work_done();
        wait_until(text, || load.work_done() > 2 * so_far && run_ns() > 20_000_000);
        assert_all_on(cpu);
        assert_eq!(load.failed(), None);
        let asked_at = Instant::now();
        let report = load.stop();
        let took = asked_at.elapsed();
        assert!(took < Duration::from_millis(500), "{text} took {took:?} to stop");
        assert!(report.work > 2 * so_far && report.note.is_empty(), "{text}: {report}");
        no_threads(text);
        assert_eq!(descriptors(), before, "{text}");
    }
}

#[test]
fn the_hackbench_load_switches() {
    let _alone = alone();
    for text in ["hackbench:groups=4,fds=1", "hackbench:groups=1,fds=4,over=pipes"] {
        let load = Load::start(&asked(text, last_cpu())).expect("load");
        wait_until("10 000 messages", || load.work_done() > 10_000);
        wait_until("50 ms of CPU time", || run_ns() > 50_000_000);
        let threads = load_threads();
        assert_eq!(threads.len(), 8);
        let switches: u64 = threads.values().map(|thread| thread.switches).sum();
        assert!(switches > 100, "only {switches} context switches");
        let report = load.stop();
        assert_eq!((report.unit, report.extra), ("messages", None));
    }
}

#[test]
fn every_sender_of_a_group_reaches_every_receiver() {
    let _alone = alone();
    let load = Load::start(&asked("hackbench:groups=2,fds=5", last_cpu())).expect("load");
    wait_until("20 000 messages", || load.work_done() > 20_000);
    assert_eq!(load_threads().len(), 2 * (5 + 5));
    // A receiver without a sender never runs again.
    let idle: Vec<_> = load_threads()
        .into_values()
        .filter(|thread| thread.switches < 2)
        .collect();
    assert!(idle.is_empty(), "{idle:?}");
    load.stop();
}

#[test]
fn the_memory_load_moves_more_than_its_buffer_whatever_it_does() {
    let _alone = alone();
    let bytes = 8 << 20;
    for access in ["read", "write", "copy", "mix"] {
        let spec = asked(&format!("memory:size=8MiB,access={access}"), last_cpu());
        let load = Load::start(&spec).expect("load");
        wait_until("more than filling", || load.work_done() > 8 * bytes);
        let report = load.stop();
        assert_eq!((report.unit, report.note.as_str()), ("octets", ""), "{access}");
    }
}

#[test]
fn threads_take_turns_over_the_cpus() {
    let _alone = alone();
    let cpus = sys::thread::allowed_cpus();
    for text in ["hackbench:groups=1,fds=20", "cache:size=64KiB"] {
        let request: bed::load::LoadRequest = text.parse().expect(text);
        let load = Load::start(&request.on(&cpus)).expect("load");
        let used: CpuList = load_threads()
            .values()
            .filter_map(|thread| thread.allowed.first())
            .collect();
        assert_eq!(used, cpus, "{text}");
        load.stop();
    }
}

#[test]
fn loads_far_larger_than_a_test_stop_as_fast() {
    let _alone = alone();
    for text in ["memory:size=512MiB", "cache:size=512MiB", "hackbench:groups=4,fds=20"] {
        let load = Load::start(&asked(text, last_cpu())).expect("load");
        // The load stops at once, even while a buffer is being filled.
        let asked_at = Instant::now();
        let report = load.stop();
        let took = asked_at.elapsed();
        assert!(took < Duration::from_millis(500), "{text}: {report} took {took:?}");
        no_threads(text);
    }
}

#[test]
fn a_panic_leaves_nothing_behind() {
    let _alone = alone();
    let before = descriptors();
    let mark = "sleep 86399";
    let panicked = std::thread::spawn(move || {
        let _load = Load::start(&asked("hackbench:groups=2,fds=1", last_cpu())).expect("load");
        let line = mark.to_owned();
        let _program = Load::start(&on(last_cpu(), LoadKind::Command { line, namespace: None })).expect("program");
        assert_eq!(processes_with("sleep\u{0}86399").len(), 1);
        panic!("on purpose: loads must end with the thread that holds them");
    });
    assert!(panicked.join().is_err());
    no_threads("the load");
    assert_eq!(descriptors(), before);
    gone("sleep\u{0}86399");
}

#[test]
fn several_loads_share_a_cpu() {
    let _alone = alone();
    let cpu = last_cpu();
    let start = |text| Load::start(&asked(text, cpu)).expect(text);
    let loads = [start("hackbench"), start("cache:size=1MiB"), start("memory:size=8MiB")];
    for load in &loads {
        wait_until(&load.describe(), || load.work_done() > 0);
    }
    assert_eq!(loads.map(|load| load.label()), ["hackbench", "cache", "memory"]);
    no_threads("the load");
    let spec = LoadSpec {
        kind: LoadKind::Command {
            line: "/usr/bin/sleep 5".to_owned(),
            namespace: None,
        },
        cpus: CpuList::default(),
    };
    assert_eq!(spec.kind.label(), "sleep");
}
