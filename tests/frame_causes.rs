//! A thread that blocks the CPU on which a receiver waits for its frames is named by the round trips and the ages it delays.

use model::Cause;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use store::RunFile;
use support::{namespace, root_or_skip, start, stderr, until_measuring, wait};
use sys::netns::NetNs;
use sys::thread::{Policy, RtThread};
use sys::wait::sleep_until;
use testing::Running;

const BLOCKS: i64 = 12;
/// Longer than other delays on a busy machine.
const BLOCK_NS: i64 = 25_000_000;
const EVERY_NS: i64 = 290_700_000;

/// Blocks the last CPU from a real-time thread called `planted-stall`.
fn plant(cpu: u32) -> JoinHandle<()> {
    let first = sys::clock::monotonic();
    std::thread::spawn(move || {
        sys::thread::set_name("planted-stall");
        let blocker = RtThread {
            policy: Policy::Fifo(95),
            cpu: Some(cpu),
            stack_bytes: 0,
        };
        blocker.enter().expect("a real-time thread");
        for number in 0..BLOCKS {
            sleep_until(first + number * EVERY_NS);
            let begin = sys::clock::monotonic();
            while sys::clock::monotonic() - begin < BLOCK_NS {
                std::hint::spin_loop();
            }
        }
    })
}

fn begin(namespace: &NetNs, directory: &Path, words: &str) -> (Running, PathBuf) {
    let file = directory.join(format!("{}.triptime", words.len()));
    let mut all: Vec<&str> = words.split_whitespace().collect();
    all.extend(["--quiet", "--out", file.to_str().expect("text")]);
    let child = namespace.run(|| start(&all)).expect("a thread in the namespace");
    (child, file)
}

/// Measures `near`, whose thread has this name, on the last CPU, together with `far`, which lasts longer, during the planted blocks. Returns the
/// number of blocks in which a sample of the series was late and the blocker was named for most of its time.
fn named(far: &str, near: &str, thread: &str, name: &str) -> usize {
    let namespace = namespace();
    let directory = tempfile::tempdir().expect("a directory");
    let cpu = sys::thread::allowed_cpus().iter().last().expect("a CPU");
    let (far_end, _) = begin(&namespace, directory.path(), far);
    let (mut near_end, file) = begin(&namespace, directory.path(), &format!("{near} --cpu {cpu}"));
    until_measuring(&mut near_end, thread);
    plant(cpu).join().expect("no panic");
    for (child, words) in [(near_end, near), (far_end, far)] {
        let output = wait(child, &[words]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    let run = RunFile::open(&file).expect("a run");
    let all = run.series().expect("series");
    let (id, _) = all.iter().find(|(_, spec)| spec.name == name).expect("the series");
    let spikes = run.spikes(*id).expect("spikes");
    let is_ours = |part: &model::Part| part.what.contains("planted-stall") && part.ns > 15_000_000;
    let mut blocks: Vec<u64> = spikes
        .iter()
        .filter_map(|spike| Some((spike.at_ns, spike.explanation.as_ref()?)))
        .filter(|(_, why)| why.cause == Cause::Thread && why.occupants.iter().any(is_ours))
        .map(|(at_ns, _)| at_ns / 50_000_000)
        .collect();
    blocks.sort_unstable();
    blocks.dedup_by(|a, b| *a - *b <= 1);
    blocks.len()
}

#[test]
fn who_held_up_a_round_trip_is_named() {
    if !root_or_skip("who_held_up_a_round_trip_is_named") {
        return;
    }
    let far = "reflect v0 --role reflector --engine block --policy fifo:70 --cpu 0 --duration 9s";
    let near = "reflect v1 --role initiator --policy fifo:60 --interval 0 --duration 5s --disturb";
    let named = named(far, near, "initiator", "rtt/reflect");
    // With frames back to back, one is nearly always on its way when a block begins.
    assert!(named >= 2, "{named} of {BLOCKS} blocks");
}

#[test]
fn who_held_up_a_sample_is_named() {
    if !root_or_skip("who_held_up_a_sample_is_named") {
        return;
    }
    let far = "publish v0 --policy fifo:70 --cpu 0 --duration 9s";
    let near = "subscribe v1 --policy fifo:60 --clock same-host --duration 5s";
    let named = named(far, near, "subscribe", "age/MU01");
    assert!(named >= 4, "{named} of {BLOCKS} blocks");
}
