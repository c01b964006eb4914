//! Tests of the recorder itself: the events that it records, pauses, and its cost.

use super::{alone, cpu, pinned, recorder};
use std::collections::BTreeSet;
use std::time::Duration;
use sys::clock::monotonic;
use sys::thread::Policy;
use trace::{Cost, TraceError};

#[test]
fn it_tells_what_it_sees() {
    let _alone = alone();
    let Some(recorder) = recorder("seen") else {
        return;
    };
    let switch = &recorder.programs()[0];
    assert_eq!(
        (switch.tracepoint.as_str(), &switch.missing),
        ("sched/sched_switch", &None)
    );
    let text = recorder.describe();
    assert!(
        text.starts_with("eBPF, ") && text.contains("of 20 tracepoints"),
        "{text}"
    );
    std::thread::sleep(Duration::from_millis(50));
    assert!(recorder.events_recorded().expect("a count") > 0);
}

#[test]
fn a_cpu_that_is_not_there_is_refused() {
    let _alone = alone();
    let Some(recorder) = recorder("no such CPU") else {
        return;
    };
    let now = monotonic();
    let refused = recorder.snapshot(100_000, now, now).expect_err("no such CPU");
    assert!(matches!(refused, TraceError::NoSuchCpu { cpu: 100_000, .. }));
}

#[test]
fn nothing_is_recorded_while_paused_and_what_came_before_is_gone() {
    let _alone = alone();
    let Some(mut recorder) = recorder("paused") else {
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
        assert_eq!(snapshot.complete, from >= paused);
        snapshot
            .turns()
            .iter()
            .map(|turn| turn.thread.name.to_string())
            .collect()
    };
    for from in [begin, end, paused] {
        let names = names(from);
        assert!(names.contains("after"), "{names:?}");
        assert!(!names.contains("before") && !names.contains("meanwhile"), "{names:?}");
    }
}

#[test]
fn the_cost_is_the_kernels_own_figure() {
    let _alone = alone();
    let Some(recorder) = recorder("cost") else {
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
    // If the machine stands still while a program runs, that increases the figure; a program that does too much shows every time.
    let least = |figure: fn(&Cost) -> f64| costs.iter().map(figure).fold(f64::INFINITY, f64::min);
    assert!((5.0..2_000.0).contains(&least(|cost| cost.ns_per_event)), "{costs:?}");
    assert!((5.0..2_000.0).contains(&least(|cost| cost.statistics_ns)), "{costs:?}");
}
