//! What the engines say of themselves, and what they leave behind.

use super::{alone, cpu, pinned, recorder};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use sys::clock::monotonic;
use sys::thread::Policy;
use trace::{Cost, EngineChoice, EngineKind, TraceError};

#[test]
fn the_engine_tells_what_it_sees() {
    let _alone = alone();
    for (engine, kind) in [
        (EngineChoice::Ebpf, EngineKind::Ebpf),
        (EngineChoice::Tracefs, EngineKind::Tracefs),
        (EngineChoice::Either, EngineKind::Ebpf),
    ] {
        let Some(recorder) = recorder("engine", engine) else {
            return;
        };
        assert_eq!(recorder.kind(), kind);
        let switch = &recorder.programs()[0];
        assert_eq!(
            (switch.tracepoint.as_str(), &switch.missing),
            ("sched/sched_switch", &None)
        );
        let text = recorder.describe();
        assert!(
            text.starts_with(&kind.to_string()) && text.contains("of 20 tracepoints"),
            "{text}"
        );
        std::thread::sleep(Duration::from_millis(50));
        assert!(recorder.events_recorded().expect("a count") > 0);
    }
}

#[test]
fn a_cpu_that_is_not_there_is_refused() {
    let _alone = alone();
    let Some(recorder) = recorder("no such CPU", EngineChoice::Ebpf) else {
        return;
    };
    let now = monotonic();
    let refused = recorder.snapshot(100_000, now, now).expect_err("no such CPU");
    assert!(matches!(refused, TraceError::NoSuchCpu { cpu: 100_000, .. }));
}

#[test]
fn nothing_is_recorded_while_paused_and_what_came_before_is_gone() {
    let _alone = alone();
    for engine in [EngineChoice::Ebpf, EngineChoice::Tracefs] {
        let Some(mut recorder) = recorder("paused", engine) else {
            return;
        };
        let sleep = || std::thread::sleep(Duration::from_millis(20));
        let begin = monotonic();
        pinned("before", Policy::Fifo(90), sleep).join().expect("no panic");
        let (end, paused) = recorder
            .while_paused(|| {
                pinned("meanwhile", Policy::Fifo(90), sleep).join().expect("no panic");
                monotonic()
            })
            .map(|end| (end, monotonic()))
            .expect("it starts again");
        pinned("after", Policy::Fifo(90), sleep).join().expect("no panic");
        let names = |from| -> BTreeSet<String> {
            let snapshot = recorder.snapshot(cpu(), from, monotonic()).expect("a snapshot");
            assert_eq!(snapshot.complete, from >= paused, "{engine:?}");
            snapshot
                .turns()
                .iter()
                .map(|turn| turn.thread.name.to_string())
                .collect()
        };
        for from in [begin, end, paused] {
            let names = names(from);
            // tracefs leaves out switches away from the idle thread on some kernels.
            let has_begun = names.contains("after") || engine == EngineChoice::Tracefs && !names.is_empty();
            assert!(has_begun, "{engine:?}: {names:?}");
            assert!(
                !names.contains("before") && !names.contains("meanwhile"),
                "{engine:?}: {names:?}"
            );
        }
    }
}

#[test]
fn the_cost_is_the_kernels_own_figure() {
    let _alone = alone();
    let Some(recorder) = recorder("cost", EngineChoice::Ebpf) else {
        return;
    };
    let cost = || recorder.cost(Duration::from_millis(100));
    if let Err(error) = cost() {
        return testing::skip("cost", &error.to_string());
    }
    let costs: Vec<Cost> = (0..5).map(|_| cost().expect("it can be asked again")).collect();
    for cost in &costs {
        assert!(cost.events_per_second > 10.0, "{cost:?}");
        let share = cost.ns_per_event * cost.events_per_second / 1e9;
        assert!((cost.share_of_a_cpu - share).abs() < 1e-9, "{cost:?}");
    }
    // A machine that stands still while a program runs counts against it; a program that does too much shows each time.
    let least = |figure: fn(&Cost) -> f64| costs.iter().map(figure).fold(f64::INFINITY, f64::min);
    assert!((5.0..2_000.0).contains(&least(|cost| cost.ns_per_event)), "{costs:?}");
    assert!((5.0..2_000.0).contains(&least(|cost| cost.statistics_ns)), "{costs:?}");
}

fn instances() -> PathBuf {
    let mounts = ["/sys/kernel/tracing/instances", "/sys/kernel/debug/tracing/instances"];
    let folder = mounts.iter().map(Path::new).find(|path| path.is_dir());
    folder.expect("tracefs, since the engine runs").to_owned()
}

fn names() -> Vec<String> {
    let folder = std::fs::read_dir(instances()).expect("readable");
    folder
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn instances_are_removed_when_dropped_and_those_of_the_dead_at_the_start() {
    let _alone = alone();
    let Some(first) = recorder("instances", EngineChoice::Tracefs) else {
        return;
    };
    let ours = format!("-{}-", std::process::id());
    let name = names()
        .into_iter()
        .find(|name| name.contains(&ours))
        .expect("our instance");
    // The same namespace, and a process that has ended.
    let mut dead = std::process::Command::new("true").spawn().expect("a process");
    dead.wait().expect("it ends");
    let (namespace, _) = name.split_once(&ours).expect("as made");
    let stale = instances().join(format!("{namespace}-{}-0", dead.id()));
    std::fs::create_dir(&stale).expect("an instance");
    let foreign = instances().join(format!("triptime-1-{}-0", dead.id()));
    std::fs::create_dir(&foreign).expect("an instance");

    let second = recorder("instances", EngineChoice::Tracefs).expect("as before");
    let foreign_stayed = foreign.is_dir();
    std::fs::remove_dir(&foreign).expect("removed");
    assert!(foreign_stayed, "another namespace's process may live");
    assert!(!stale.exists());
    drop((first, second));
    assert!(!names().iter().any(|name| name.contains(&ours)), "{:?}", names());
}
