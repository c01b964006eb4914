//! A thread that blocks a CPU for a known time is found in the hop it delayed, by name and with its time.

use crate::bed::{Bed, place, wait_for_carrier};
use crate::{frame, point, read, tracer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use sys::clock::monotonic;
use sys::link::{set_master, set_up};
use sys::tap::{Tap, wait_readable};
use sys::thread::{Policy, RtThread};
use sys::wait::sleep_until;
use trace::hops::{HopOptions, PointKind};
use trace::{FlightRecorder, Options, Question, QuestionKind};
use units::Monotonic;

const BLOCK_NS: i64 = 5_000_000;
const BLOCKS: i64 = 8;
const PERIOD_NS: i64 = 60_000_000;
/// From frame to frame.
const INTERVAL_NS: i64 = 500_000;

type Block = (Monotonic, Monotonic);

/// Runs `work` on a thread of this name, pinned to this CPU.
fn pinned<T: Send + 'static>(
    name: &'static str,
    cpu: u32,
    policy: Policy,
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let thread = RtThread {
        policy,
        cpu: Some(cpu),
        stack_bytes: 64 * 1024,
    };
    std::thread::spawn(move || {
        sys::thread::set_name(name);
        thread.enter().expect("a thread");
        work()
    })
}

/// Blocks its CPU at known instants.
fn block() -> Vec<Block> {
    let start = monotonic() + PERIOD_NS;
    let blocks = (0..BLOCKS).map(|number| {
        sleep_until(start + number * PERIOD_NS);
        let begin = monotonic();
        let mut now = begin;
        while now - begin < BLOCK_NS {
            now = monotonic();
        }
        (begin, now)
    });
    blocks.collect()
}

/// Takes frames from the tap, as a virtual machine's vhost thread does.
fn take(tap: &Tap, is_over: &AtomicBool) {
    let mut buffer = [0; 2048];
    while !is_over.load(Ordering::Relaxed) {
        let _ = wait_readable(&[tap], Some(Duration::from_millis(50)));
        while let Ok(Some(_)) = tap.read(&mut buffer) {}
    }
}

#[test]
fn a_blocked_reader_of_a_tap_is_found_in_its_hop_with_who_blocked_it() {
    let test = "planted delay in a hop";
    let cpus: Vec<u32> = sys::thread::allowed_cpus().iter().collect();
    let &[first, .., last] = cpus.as_slice() else {
        return testing::skip(test, "it takes two CPUs");
    };
    let Some(bed) = Bed::build(test) else { return };
    let tap = bed.switch.run(|| {
        let tap = Tap::create("vnet0").expect("a tap");
        set_master("vnet0", "br0").expect("a port");
        set_up("vnet0").expect("up");
        tap
    });
    let tap = tap.expect("to enter");
    wait_for_carrier(&bed.switch, "vnet0");
    let options = HopOptions {
        points: vec![
            point("nic", 0, place(&bed.switch, "p-ts", PointKind::Receive)),
            point("tap", 0, place(&bed.switch, "vnet0", PointKind::Transmit)),
            point("taken", 1, place(&bed.switch, "vnet0", PointKind::Consume)),
        ],
        max_streams: 4,
        threshold_ns: Some(2_000_000),
        tell_all: true,
    };
    let Some(mut tracer) = tracer(test, options) else {
        return;
    };
    let recorder = FlightRecorder::start(Options::default()).expect("a recorder");
    let is_over = Arc::new(AtomicBool::new(false));
    let over_too = Arc::clone(&is_over);
    let reading = pinned("reader", last, Policy::Other, move || take(&tap, &over_too));
    let blocking = pinned("blocker", last, Policy::Fifo(50), block);
    let sender = std::thread::spawn(move || {
        let thread = RtThread {
            policy: Policy::Fifo(40),
            cpu: Some(first),
            stack_bytes: 64 * 1024,
        };
        thread.enter().expect("a thread");
        let start = monotonic();
        for number in 0..(BLOCKS + 2) * PERIOD_NS / INTERVAL_NS {
            sleep_until(start + number * INTERVAL_NS);
            bed.send(&frame("MU01", &[(number % 4000) as u16]));
        }
        bed
    });
    let mut late = Vec::new();
    let mut others_late = 0;
    while !sender.is_finished() {
        std::thread::sleep(Duration::from_millis(20));
        recorder.observe();
        let mut told = Vec::new();
        tracer.durations(|duration| told.push(duration));
        // Those of the block's first half: they waited long.
        for duration in told
            .into_iter()
            .filter(|duration| duration.ns > 2_500_000 && !duration.series.total)
        {
            if duration.series.point == 2 {
                let question = Question {
                    cpu: duration.cpu,
                    thread: duration.thread,
                    from: duration.at - i64::try_from(duration.ns).expect("short"),
                    to: duration.at,
                    kind: QuestionKind::Hop,
                };
                late.push((duration, recorder.explain(&question).expect("an answer").explanation));
            } else {
                others_late += 1;
            }
        }
    }
    let _bed = sender.join().expect("no panic");
    let blocks = blocking.join().expect("no panic");
    is_over.store(true, Ordering::Relaxed);
    reading.join().expect("no panic");
    let readings = read(&mut tracer);
    let taken = readings.iter().find(|reading| reading.point == 2).expect("a reading");
    assert!(taken.counts.over > 0);

    let mut found = 0;
    for block in &blocks {
        let of_block = late.iter().filter(|(duration, _)| {
            let from = duration.at - i64::try_from(duration.ns).expect("short");
            from > block.0 && from < block.1 && duration.at >= block.1
        });
        found += i64::from(of_block.into_iter().any(|(duration, explanation)| {
            let parts = explanation.occupants.iter();
            let blockers = parts.filter(|part| part.what.starts_with("thread blocker (pid "));
            let blocker_ns: u64 = blockers.map(|part| part.ns).sum();
            let is_named = explanation.cause == store::Cause::Thread && explanation.text.contains("blocker");
            is_named && blocker_ns * 10 >= duration.ns * 8
        }));
    }
    // The machine itself may stand still meanwhile, or the kernel keep a switch from us: some blocks may go unexplained.
    assert!(
        found * 4 >= BLOCKS,
        "found {found} of {BLOCKS}; late: {:?}",
        late.iter()
            .map(|(duration, explanation)| (duration.ns, &explanation.text))
            .collect::<Vec<_>>()
    );
    assert!(
        others_late <= late.len() / 2,
        "{others_late} late in the hop before, {} in this one",
        late.len()
    );
}
