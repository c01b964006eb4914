//! Planted stalls with known instants and lengths are found and explained.

use model::Cause;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use store::RunFile;
use support::{json, root_or_skip, series, start, stderr, until_measuring, wait};
use sys::thread::{Policy, RtThread};
use sys::wait::sleep_until;
use units::Monotonic;

const BLOCKS: i64 = 15;
const BLOCK_NS: i64 = 3_000_000;
const EVERY_NS: i64 = 190_700_000;

fn last_cpu() -> u32 {
    sys::thread::allowed_cpus().iter().last().expect("a CPU")
}

/// Blocks `cpu` from a real-time thread called `planted-stall`, `BLOCKS` times; returns how long each block really was.
fn plant(cpu: u32, first: Monotonic) -> JoinHandle<Vec<i64>> {
    std::thread::spawn(move || {
        sys::thread::set_name("planted-stall");
        let blocker = RtThread {
            policy: Policy::Fifo(95),
            cpu: Some(cpu),
            stack_bytes: 0,
        };
        blocker.enter().expect("a real-time thread");
        let block = |number| {
            sleep_until(first + number * EVERY_NS);
            let begin = sys::clock::monotonic();
            while sys::clock::monotonic() - begin < BLOCK_NS {
                std::hint::spin_loop();
            }
            sys::clock::monotonic() - begin
        };
        (0..BLOCKS).map(block).collect()
    })
}

/// Length in ns beyond which a block was itself delayed by the host, whose part may be larger than the planted one.
const UNDISTURBED_NS: i64 = BLOCK_NS + 200_000;

/// Runs a probe during the planted stalls; returns its document, its file, and the number of blocks that the host did not delay.
fn measure(directory: &Path, arguments: &[&str]) -> (Value, PathBuf, usize) {
    let file = directory.join("run.triptime");
    let cpu = last_cpu().to_string();
    let mut all = arguments.to_vec();
    let out = file.to_str().expect("text");
    all.extend(["--cpus", &cpu, "--duration", "4s", "--json", "--quiet", "--out", out]);
    let mut child = start(&all);
    until_measuring(&mut child, arguments[0]);
    // The thread gets the CPU under its name only after it has slept once.
    let blocks = plant(last_cpu(), sys::clock::monotonic() + EVERY_NS)
        .join()
        .expect("no panic");
    let output = wait(child, &all);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(blocks.len(), usize::try_from(BLOCKS).expect("small"));
    let undisturbed = blocks.iter().filter(|ns| **ns < UNDISTURBED_NS).count();
    assert!(undisturbed >= 10, "this machine stands still too often: {blocks:?}");
    (json(&output), file, undisturbed)
}

/// The spikes that are explained by the planted thread: their occupant's part, in ns.
fn explained_by_us(file: &Path, name: &str) -> Vec<u64> {
    let run = RunFile::open(file).expect("a run");
    let all = run.series().expect("series");
    let (id, _) = all.iter().find(|(_, spec)| spec.name == name).expect("the series");
    let spikes = run.spikes(*id).expect("spikes");
    for spike in &spikes {
        let why = spike.explanation.as_ref().expect("every spike is explained");
        let occupied: u64 = why.occupants.iter().map(|part| part.ns).sum();
        let value = u64::try_from(spike.value_ns).expect("positive");
        assert_eq!(occupied + why.unexplained_ns, value, "the parts add up: {why:?}");
        let stages: u64 = why.stages.iter().map(|part| part.ns).sum();
        assert!(why.stages.is_empty() || stages == value, "the stages add up: {why:?}");
    }
    spikes
        .iter()
        .filter_map(|spike| spike.explanation.as_ref())
        .filter(|why| why.cause == Cause::Thread)
        .filter_map(|why| why.occupants.iter().find(|part| part.what.contains("planted-stall")))
        .map(|part| part.ns)
        .filter(|ns| *ns > 2_000_000)
        .collect()
}

/// At most one of the blocks that the host did not delay may be hidden by a stall directly after it; the others must be found with their length.
fn assert_found(parts: &[u64], undisturbed: usize, least: u64) {
    assert!(
        parts.len() + 1 >= undisturbed,
        "{} of {undisturbed}: {parts:?}",
        parts.len()
    );
    let mut sorted = parts.to_vec();
    sorted.sort_unstable();
    let median = sorted[sorted.len() / 2];
    assert!((least..=3_300_000).contains(&median), "{sorted:?}");
}

#[test]
fn a_thread_that_blocks_the_cpu_is_named_by_wakeup() {
    if !root_or_skip("a_thread_that_blocks_the_cpu_is_named_by_wakeup") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let (document, file, undisturbed) = measure(
        directory.path(),
        &["wakeup", "--interval", "500us", "--threshold", "1ms"],
    );
    let name = format!("wakeup/cpu{}", last_cpu());
    assert!(series(&document, &name)["overflow"].as_u64().expect("a count") >= 14);
    // A block begins up to one interval before the due instant it first delays.
    assert_found(&explained_by_us(&file, &name), undisturbed, 2_400_000);
}

#[test]
fn a_thread_that_blocks_the_cpu_is_named_by_noise() {
    if !root_or_skip("a_thread_that_blocks_the_cpu_is_named_by_noise") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    // An ordinary thread makes no pauses, so no block can be hidden by one.
    let arguments = ["noise", "--policy", "other", "--threshold", "1ms"];
    let (_, file, undisturbed) = measure(directory.path(), &arguments);
    let name = format!("noise/cpu{}", last_cpu());
    assert_found(&explained_by_us(&file, &name), undisturbed, 2_950_000);
    let run = RunFile::open(&file).expect("a run");
    let all = run.series().expect("series");
    let id = all[0].0;
    let gaps = run.totals(id).expect("totals").counters.received;
    let explained: u64 = run.causes(id).expect("causes").iter().map(|total| total.count).sum();
    assert_eq!(explained, gaps, "every gap is told apart, not only the spikes");
}
