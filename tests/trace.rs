//! Hops traced end to end: a publisher, a bridge, and an application in another network namespace.

#[path = "trace/doubts.rs"]
mod doubts;
#[path = "trace/follow.rs"]
mod follow;
#[path = "trace/held_up.rs"]
mod held_up;
#[path = "trace/loss.rs"]
mod loss;

use model::Cause;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use store::RunFile;
use support::bridge::{bed, inside, publishing};
use support::{json, root_or_skip, until_thread};
use sys::clock::monotonic;
use sys::netns::NetNs;
use sys::thread::{Policy, RtThread};
use sys::wait::sleep_until;
use testing::Running;

#[test]
fn hops_of_a_stream_over_a_bridge_into_a_namespace() {
    if !root_or_skip("hops_of_a_stream_over_a_bridge_into_a_namespace") {
        return;
    }
    let [publisher, switch, device] = bed();
    let directory = tempfile::tempdir().expect("tempdir");
    let path = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    let (sent, received, traced) = (
        path("sent.triptime"),
        path("received.triptime"),
        path("traced.triptime"),
    );
    let html = path("hops.html");
    let subscribe = ["subscribe", "dut0", "--duration", "60s", "-q", "--out", &received];
    let mut subscribe = inside(&device, &subscribe);
    let mut subscribing = Running::start(subscribe.stdout(Stdio::null()).stderr(Stdio::null()));
    let publishing = publishing(&publisher, &sent, &["--streams", "2"]);
    until_thread(&mut subscribing, "subscribe");
    let trace = [
        "trace",
        "p-ts",
        "--duration",
        "4s",
        "--window",
        "1s",
        "--json",
        "-q",
        "--out",
        &traced,
        "--html",
        &html,
        "--record",
    ];
    let output = inside(&switch, &trace).output().expect("started");
    drop((publishing, subscribing));
    assert_eq!(output.status.code(), Some(0), "{}", support::stderr(&output));
    let document = json(&output);
    for name in ["hop/nic-to-port/MU01", "hop/port-to-edge/MU01", "hop/nic-to-app/MU02"] {
        let series = support::series(&document, name);
        let exposure_s = series["exposure_s"].as_f64().expect("a number");
        assert!((2.0..4.5).contains(&exposure_s), "{name}: {exposure_s} s of 4 s traced");
        assert!(series["received"].as_u64() > Some(500), "{name}: {series}");
        assert_eq!(series["lost"], 0, "{name}");
    }
    let page = std::fs::read_to_string(&html).expect("the report");
    assert!(page.contains("The way of a frame inside this host") && page.contains("p-dut: veth"));
    let recording = &document["recording"];
    let ways = recording["latencies"].as_array().expect("ways");
    let between = |from: &str, to: &str| {
        ways.iter()
            .find(|way| way["from"] == from && way["to"] == to)
            .expect("a way")
    };
    for (from, to) in [("nic", "port"), ("port", "edge"), ("nic", "app")] {
        let recorded = between(from, to)["figures"]["count"].as_u64();
        let counted = ["MU01", "MU02"]
            .map(|id| support::series(&document, &format!("hop/{from}-to-{to}/{id}"))["received"].as_u64());
        assert_eq!(
            recorded,
            counted[0].zip(counted[1]).map(|(a, b)| a + b),
            "{from} to {to}"
        );
    }
}

#[test]
fn what_cannot_be_traced_is_said() {
    if !root_or_skip("what_cannot_be_traced_is_said") {
        return;
    }
    let [_publisher, switch, _device] = bed();
    let refused = |mut command: Command, status: i32, wanted: &str| {
        let output = command.output().expect("started");
        let said = support::stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(said.contains(wanted), "{said}");
    };
    refused(inside(&switch, &["trace", "nosuch0"]), 2, "have: ");
    refused(
        inside(&switch, &["trace", "p-ts", "--point", "tap"]),
        2,
        "NAME=INTERFACE",
    );
    let directory = tempfile::tempdir().expect("tempdir");
    let out = directory.path().join("none.triptime");
    let silent = [
        "trace",
        "p-ts",
        "--duration",
        "300ms",
        "-q",
        "--out",
        out.to_str().expect("UTF-8"),
    ];
    refused(inside(&switch, &silent), 3, "no sampled values came");
    assert!(!out.exists(), "nothing was measured");
}

/// A shell inside a namespace, with that namespace's /sys; returns true if it succeeded.
fn shell(namespace: &NetNs, script: &str) -> bool {
    let net = format!("--net={}", namespace.path().display());
    let script = format!("set -e; mount -t sysfs sysfs /sys; {script}");
    let mut command = Command::new("nsenter");
    command.args([&net, "unshare", "--mount", "sh", "-c", &script]);
    command.output().expect("util-linux").status.success()
}

/// Blocks this CPU for 5 ms, ten times a second, until the child has ended.
fn block(cpu: u32, child: &mut Child) {
    let thread = RtThread {
        policy: Policy::Fifo(50),
        cpu: Some(cpu),
        stack_bytes: 0,
    };
    let ended = || child.try_wait().expect("a child").is_some();
    let ended = std::thread::scope(|scope| {
        let blocker = scope.spawn(move || {
            sys::thread::set_name("planted-stall");
            thread.enter().expect("a real-time thread");
            let mut ended = ended;
            let mut next = monotonic();
            while !ended() {
                next = next + 100_000_000;
                sleep_until(next);
                let begin = monotonic();
                while monotonic() - begin < 5_000_000 {
                    std::hint::spin_loop();
                }
            }
        });
        blocker.join()
    });
    ended.expect("no panic");
}

/// Spikes of a hop over 2.5 ms: the number of all, and of those explained by the planted stall for most of their time.
fn late(run: &Path, name: &str) -> (usize, usize) {
    let run = RunFile::open(run).expect("a run");
    let all = run.series().expect("series");
    let (id, _) = all.iter().find(|(_, spec)| spec.name == name).expect("the series");
    let spikes = run.spikes(*id).expect("spikes");
    let late = spikes.iter().filter(|spike| spike.value_ns > 2_500_000);
    let ours = late.clone().filter(|spike| {
        spike.explanation.as_ref().is_some_and(|why| {
            let parts = why.occupants.iter().filter(|part| part.what.contains("planted-stall"));
            let ns: u64 = parts.map(|part| part.ns).sum();
            why.cause == Cause::Thread && i64::try_from(ns).is_ok_and(|ns| ns * 10 > spike.value_ns * 7)
        })
    });
    (late.count(), ours.count())
}

/// A container's interface served by a thread, on a CPU that is blocked now and then; and the bridge's port in the same way, where stalls come before
/// the kernel receives the frames.
#[test]
fn blocks_of_the_bridges_cpu_are_found_in_their_hop() {
    let test = "blocks_of_the_bridges_cpu_are_found_in_their_hop";
    if !root_or_skip(test) {
        return;
    }
    let cpus: Vec<u32> = sys::thread::allowed_cpus().iter().collect();
    let &[first, .., last] = cpus.as_slice() else {
        return testing::skip(test, "it takes two CPUs");
    };
    let directory = tempfile::tempdir().expect("tempdir");
    for (end, hop, others) in [
        ("dut0", "port-to-edge", ["sent-to-nic", "nic-to-port"]),
        ("p-ts", "sent-to-nic", ["nic-to-port", "port-to-edge"]),
    ] {
        let [publisher, switch, device] = bed();
        let path = |name: &str| {
            let file = directory.path().join(format!("{end}-{name}.triptime"));
            file.to_str().expect("UTF-8").to_owned()
        };
        let (served, (peer_namespace, peer)) = match end {
            "dut0" => (&device, (&switch, "p-dut")),
            _ => (&switch, (&publisher, "ts0")),
        };
        // Frames of a sender that segments by itself (TSO) would not pass the thread.
        let by_thread = format!(
            "ethtool -K {end} gro on; echo 1 > /sys/class/net/{end}/threaded; \
             for pid in $(pgrep ^napi/{end}-); do taskset -cp {last} $pid; chrt -f -p 30 $pid; done"
        );
        if !shell(peer_namespace, &format!("ethtool -K {peer} tso off")) || !shell(served, &by_thread) {
            return testing::skip(test, "no interface can be served by a thread here");
        }
        let (sent, traced) = (path("sent"), path("traced"));
        let first_cpu = first.to_string();
        let publish = [
            "publish", "ts0", "--rate", "1000", "--cpu", &first_cpu, "--policy", "fifo:40",
        ];
        let mut publish = inside(
            &publisher,
            &[&publish[..], &["--duration", "20s", "-q", "--out", &sent]].concat(),
        );
        let mut publishing = Running::start(publish.stdout(Stdio::null()).stderr(Stdio::null()));
        let before = format!("sent=ts0@{}:tx", publisher.path().display());
        let trace = [
            "trace",
            "p-ts",
            "--first",
            &before,
            "--threshold",
            "2ms",
            "--duration",
            "4s",
        ];
        let points = [
            "--point".to_owned(),
            "port=p-dut:tx".to_owned(),
            "--point".to_owned(),
            format!("edge=dut0@{}:rx", device.path().display()),
        ];
        let points: Vec<&str> = points.iter().map(String::as_str).collect();
        until_thread(&mut publishing, "publish");
        let mut trace = inside(&switch, &[&trace[..], &points, &["-q", "--out", &traced]].concat());
        let mut tracing = Running::start(trace.stdout(Stdio::null()));
        block(last, &mut tracing);
        drop(publishing);
        assert_eq!(tracing.wait().expect("a child").code(), Some(0));
        let traced = Path::new(&traced);
        let (spikes, ours) = late(traced, &format!("hop/{hop}/MU01"));
        // Forty blocks, each of which delays two frames or three by more than its half.
        assert!(spikes >= 40, "{spikes} late frames in {hop}");
        assert!(ours >= 20, "{ours} of {spikes} late frames have the right cause");
        for other in others {
            let (spikes_there, ours_there) = late(traced, &format!("hop/{other}/MU01"));
            assert!(
                4 * ours_there <= ours && 2 * spikes_there <= spikes,
                "{spikes_there} late frames in {other}"
            );
        }
    }
}
