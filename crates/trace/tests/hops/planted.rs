//! Tests that a thread which blocks a CPU for a known time is found in the hop that it delayed, with its name and its time.

use crate::bed::{Bed, place, wait_for_carrier};
use crate::{frame, point, read, tracer};
use model::{Question, QuestionKind};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use sys::clock::monotonic;
use sys::link::{set_master, set_up};
use sys::netns::NetNs;
use sys::tap::{Tap, wait_readable};
use sys::thread::{Policy, RtThread};
use sys::wait::sleep_until;
use trace::FlightRecorder;
use trace::hops::{HopOptions, HopTracer, PointKind};
use units::Monotonic;

const BLOCK_NS: i64 = 5_000_000;
const BLOCKS: i64 = 8;
const PERIOD_NS: i64 = 60_000_000;
/// Real-time priority of the blocked thread: below the blocker's, and above all others that would delay frames, too.
const SERVING: u8 = 30;
/// Interval between frames in ns.
const INTERVAL_NS: i64 = 500_000;

/// One at a time, because blocks of one test would delay the frames of another.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

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

/// Two CPUs: the publisher's, and the blocked one. `None` if the test is skipped.
fn two_cpus(test: &str) -> Option<(u32, u32)> {
    let cpus: Vec<u32> = sys::thread::allowed_cpus().iter().collect();
    let &[first, .., last] = cpus.as_slice() else {
        testing::skip(test, "it takes two CPUs");
        return None;
    };
    Some((first, last))
}

/// Publishes to the bed while a thread blocks a CPU, and checks that the blocks are found in the hop to this point, with the
/// blocking thread, and in no other hop.
fn blocks_are_found(bed: Bed, tracer: &mut HopTracer, (first, last): (u32, u32), point: usize) {
    let recorder = FlightRecorder::start().expect("a recorder");
    let both = Arc::new(Barrier::new(2));
    let both_too = Arc::clone(&both);
    let blocking = pinned("blocker", last, Policy::Fifo(50), move || {
        both_too.wait();
        block()
    });
    let sender = pinned("publisher", first, Policy::Fifo(40), move || {
        both.wait();
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
        // Durations in the first half of the block: these frames waited long.
        for duration in told
            .into_iter()
            .filter(|duration| duration.ns > 2_500_000 && !duration.series.total)
        {
            if duration.series.point == point {
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
    let readings = read(tracer);
    let here = readings.iter().find(|reading| reading.point == point);
    assert!(here.expect("a reading").counts.over > 0);

    let (mut met, mut found) = (0, 0);
    for block in &blocks {
        let of_block = late.iter().filter(|(duration, _)| {
            let from = duration.at - i64::try_from(duration.ns).expect("short");
            from > block.0 && from < block.1 && duration.at >= block.1
        });
        let mut of_block = of_block.peekable();
        met += i64::from(of_block.peek().is_some());
        found += i64::from(of_block.any(|(duration, explanation)| {
            let parts = explanation.occupants.iter();
            let blockers = parts.filter(|part| part.what.contains("thread blocker (pid "));
            let blocker_ns: u64 = blockers.map(|part| part.ns).sum();
            let is_named = explanation.cause == model::Cause::Thread && explanation.text.contains("blocker");
            is_named && blocker_ns * 10 >= duration.ns * 8
        }));
    }
    // The machine itself may stand still meanwhile, or the kernel may hide a switch: some blocks may stay unexplained.
    assert!(
        met * 4 >= BLOCKS * 3 && found * 4 >= BLOCKS,
        "{met} of {BLOCKS} blocks delayed a frame, {found} are named; late: {:?}",
        late.iter()
            .map(|(duration, explanation)| (duration.ns, &explanation.text))
            .collect::<Vec<_>>()
    );
    assert!(
        others_late <= late.len() / 2,
        "{others_late} late in other hops, {} in this one",
        late.len()
    );
}

fn options(points: Vec<trace::hops::Point>) -> HopOptions {
    HopOptions {
        points,
        max_streams: 4,
        threshold_ns: Some(2_000_000),
        tell_all: true,
        first_by_nic: false,
    }
}

#[test]
fn a_blocked_reader_of_a_tap_is_found_in_its_hop_with_who_blocked_it() {
    let test = "planted delay in a hop";
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(cpus) = two_cpus(test) else { return };
    let Some(bed) = Bed::build(test) else { return };
    let tap = bed.switch.run(|| {
        let tap = Tap::create("vnet0").expect("a tap");
        set_master("vnet0", "br0").expect("a port");
        set_up("vnet0").expect("up");
        tap
    });
    let tap = tap.expect("to enter");
    wait_for_carrier(&bed.switch, "vnet0");
    let options = options(vec![
        point("nic", 0, place(&bed.switch, "p-ts", PointKind::Receive)),
        point("tap", 0, place(&bed.switch, "vnet0", PointKind::Transmit)),
        point("taken", 1, place(&bed.switch, "vnet0", PointKind::Consume)),
    ]);
    let Some(mut tracer) = tracer(test, options) else {
        return;
    };
    let is_over = Arc::new(AtomicBool::new(false));
    let over_too = Arc::clone(&is_over);
    let reading = pinned("reader", cpus.1, Policy::Fifo(SERVING), move || take(&tap, &over_too));
    blocks_are_found(bed, &mut tracer, cpus, 2);
    is_over.store(true, Ordering::Relaxed);
    reading.join().expect("no panic");
}

/// An end of a veth pair.
type VethEnd<'bed> = (&'bed NetNs, &'static str);

/// Makes a thread take the frames that come to this end from the other, and pins it to the CPU; `None` if the test is skipped.
fn served_by_thread(test: &str, (namespace, end): VethEnd<'_>, (others, other): VethEnd<'_>, cpu: u32) -> Option<()> {
    // veth uses NAPI, and so the thread, only for frames that it could merge (GRO): frames of a sender that does its own
    // segmentation (TSO) count as merged already.
    let whole = format!("ethtool -K {other} tso off");
    let by_thread = format!(
        "set -e; ethtool -K {end} gro on; mount -t sysfs sysfs /sys; echo 1 > /sys/class/net/{end}/threaded; \
         for pid in $(pgrep ^napi/{end}-); do taskset -cp {cpu} $pid; chrt -f -p {SERVING} $pid; done"
    );
    for (namespace, script) in [(others, whole), (namespace, by_thread)] {
        let namespace = format!("--net={}", namespace.path().display());
        let mut command = Command::new("nsenter");
        command.args([&namespace, "unshare", "--mount", "sh", "-c", &script]);
        let output = command.output().expect("util-linux");
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            testing::skip(test, &format!("no thread serves {end}: {why}"));
            return None;
        }
    }
    Some(())
}

/// A container's interface with a receiving thread: from the bridge's port to the container's edge.
#[test]
fn a_blocked_thread_of_a_containers_interface_is_found_in_the_hop_to_it() {
    let test = "planted delay before the edge";
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(cpus) = two_cpus(test) else { return };
    let Some(bed) = Bed::build(test) else { return };
    let Some(()) = served_by_thread(test, (&bed.device, "dut0"), (&bed.switch, "p-dut"), cpus.1) else {
        return;
    };
    let options = options(vec![
        point("nic", 0, place(&bed.switch, "p-ts", PointKind::Receive)),
        point("port", 0, place(&bed.switch, "p-dut", PointKind::Transmit)),
        point("edge", 1, place(&bed.device, "dut0", PointKind::Receive)),
    ]);
    let Some(mut tracer) = tracer(test, options) else {
        return;
    };
    blocks_are_found(bed, &mut tracer, cpus, 2);
}

/// A bridge port with a receiving thread: the block is before the kernel receives the frames, and a point before that shows it.
#[test]
fn a_blocked_thread_of_the_bridges_port_is_found_before_it_receives() {
    let test = "planted delay before the first point";
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(cpus) = two_cpus(test) else { return };
    let Some(bed) = Bed::build(test) else { return };
    let Some(()) = served_by_thread(test, (&bed.switch, "p-ts"), (&bed.publisher, "ts0"), cpus.1) else {
        return;
    };
    let options = options(vec![
        point("sent", 0, place(&bed.publisher, "ts0", PointKind::Transmit)),
        point("nic", 0, place(&bed.switch, "p-ts", PointKind::Receive)),
        point("port", 1, place(&bed.switch, "p-dut", PointKind::Transmit)),
        point("edge", 2, place(&bed.device, "dut0", PointKind::Receive)),
    ]);
    let Some(mut tracer) = tracer(test, options) else {
        return;
    };
    blocks_are_found(bed, &mut tracer, cpus, 1);
}
