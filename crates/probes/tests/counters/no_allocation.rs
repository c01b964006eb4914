//! Measuring threads allocate nothing: counted from their start to their end.
//!
//! The counting allocator counts every watched thread of this process, and other tests run beside this one. So each probe is
//! run in a process of its own: this test program again, with one test and one thread.

use crate::bench::{Bench, Recording};
use probes::publish::{self, PublishConfig};
use probes::reflect::{self, Receive, ReflectConfig, Rest, Role};
use probes::wakeup::{self, WakeupConfig};
use std::process::Command;
use sys::thread::Policy;

/// Set in the process that measures.
const ALONE: &str = "TRIPTIME_TEST_ALONE";

/// Runs `work` in a process of its own.
fn alone(test: &str, work: impl FnOnce()) {
    if std::env::var_os(ALONE).is_some() {
        return work();
    }
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(ALONE, "1")
        .output()
        .expect("started");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn wakeup_allocates_nothing() {
    alone("no_allocation::wakeup_allocates_nothing", || {
        let mut recording = Recording::start();
        let config = WakeupConfig {
            cpus: "0".parse().expect("a list"),
            policy: Policy::Other,
            interval_ns: 1_000_000,
            spin_ahead_ns: 0,
            duration_ns: Some(500_000_000),
            threshold_ns: None,
            idle: "as they are".into(),
        };
        let running = wakeup::start(&config, &mut recording.recorder, &recording.stop).expect("started");
        running.join().expect("measured");
        let recorded = recording.finish().expect("written");
        assert!(recorded.counters("wakeup/cpu0").received > 100);
        assert_eq!(sys::alloc::counted(), 0);
    });
}

#[test]
fn reflect_allocates_nothing_at_either_end() {
    alone("no_allocation::reflect_allocates_nothing_at_either_end", || {
        let bench = Bench::build();
        let mut recording = Recording::start();
        let initiator = ReflectConfig {
            role: Role::Initiator,
            peer: None,
            interval_ns: 1_000_000,
            frame_bytes: reflect::SHORTEST_FRAME,
            duration_ns: Some(500_000_000),
            late_after_ns: 1_000_000,
            receive: Receive::Block,
            policy: Policy::Other,
            cpu: None,
            rest: Rest::NONE,
            threshold_ns: None,
        };
        let reflector = ReflectConfig {
            role: Role::Reflector,
            duration_ns: None,
            ..initiator.clone()
        };
        let options = reflect::port_options(reflect::SHORTEST_FRAME);
        let (far, near) = (bench.far(&options), bench.near(&options));
        let far = reflect::start(&reflector, far, &mut recording.recorder, &recording.stop).expect("started");
        let near = reflect::start(&initiator, near, &mut recording.recorder, &recording.stop).expect("started");
        near.join().expect("measured");
        recording.stop.request();
        far.join().expect("reflected");
        let recorded = recording.finish().expect("written");
        assert!(recorded.counters("rtt/reflect").received > 100);
        assert_eq!(sys::alloc::counted(), 0);
    });
}

#[test]
fn publish_allocates_nothing() {
    alone("no_allocation::publish_allocates_nothing", || {
        let bench = Bench::build();
        let mut recording = Recording::start();
        let config = PublishConfig {
            streams: 4,
            duration_ns: Some(500_000_000),
            ..PublishConfig::default()
        };
        let port = bench.near(&publish::port_options());
        let running = publish::start(&config, port, &mut recording.recorder, &recording.stop).expect("started");
        running.join().expect("published");
        let recorded = recording.finish().expect("written");
        assert!(recorded.counters("publish/lateness").received > 100);
        assert_eq!(sys::alloc::counted(), 0);
    });
}
