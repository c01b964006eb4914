//! From the host's network card to the application in a virtual machine, traced on both sides.

use crate::machine::{Kernel, Left, Machine, Setup};
use crate::merged::assert_merged;
use crate::runs::{counts, not_timed, published, report};
use crate::ways::assert_followed_one_by_one;
use rustix::process::Signal;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::{binary, root_or_skip, stderr};
use sys::link::{add_bridge, add_veth, find, set_master, set_up};
use sys::netns::NetNs;
use tempfile::TempDir;
use testing::Running;

/// The run files of one delivery.
pub(crate) struct Runs {
    folder: TempDir,
    guest: Left,
    /// Output of `trace --show-path` on the host.
    way: String,
}

impl Runs {
    pub(crate) fn publisher(&self) -> PathBuf {
        self.folder.path().join("publish.triptime")
    }

    /// Run of the trace on the host.
    pub(crate) fn host(&self) -> PathBuf {
        self.folder.path().join("trace.triptime")
    }

    /// Run of the trace in the guest.
    pub(crate) fn guest(&self) -> PathBuf {
        self.guest.path("delivery/trace.triptime")
    }

    /// Run of the subscriber in the guest.
    pub(crate) fn subscriber(&self) -> PathBuf {
        self.guest.path("delivery/subscribe.triptime")
    }
}

/// The namespace of a publisher, and the namespace of a bridge with the publisher's port `p-ts` and the tap `vnet0`.
fn bed() -> [NetNs; 2] {
    let [publisher, host] = [(); 2].map(|()| NetNs::create().expect("a namespace"));
    let join = || {
        add_bridge("br0").expect("a bridge");
        add_veth("p-ts", "ts0", &publisher).expect("a pair");
        let tap = Command::new("ip")
            .args(["tuntap", "add", "vnet0", "mode", "tap"])
            .status();
        assert!(tap.expect("ip").success(), "a tap");
        for port in ["p-ts", "vnet0"] {
            set_master(port, "br0").expect("a port");
            set_up(port).expect("up");
        }
        set_up("br0").expect("up");
    };
    host.run(join).expect("entered");
    publisher.run(|| set_up("ts0").expect("up")).expect("entered");
    until(
        || publisher.run(|| find("ts0").expect("there").carrier).expect("entered"),
        "a carrier",
    );
    [publisher, host]
}

fn until(mut condition: impl FnMut() -> bool, wanted: &str) {
    let end = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < end, "{wanted} in 30 s");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The program inside a namespace, with its output kept.
fn inside(namespace: &NetNs, arguments: &[&str]) -> Running {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net={}", namespace.path().display()));
    command.arg(binary()).args(arguments).stdin(Stdio::null());
    Running::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
}

/// True if all points are watched: then the thread that reads their counts is started.
fn is_tracing(process: u32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task"));
    tasks.into_iter().flatten().flatten().any(|task| {
        let name = std::fs::read_to_string(task.path().join("comm"));
        name.is_ok_and(|name| name.trim() == "triptime-hops")
    })
}

/// Publishes to a guest over a bridge and a tap while both sides are traced; or returns the reason why no guest can run.
pub(crate) fn deliver(kernel: Kernel, streams: u32, profile: &str) -> Result<Runs, String> {
    let [publisher, host] = bed();
    let setup = Setup {
        kernel,
        // With the older kernel, the following of single frames is tested here, too, because another boot would take longer.
        scenarios: match kernel {
            Kernel::Rt61 => &["delivery.sh", "follow.sh"],
            _ => &["delivery.sh"],
        },
        programs: &[],
        files: &[],
        built: &[],
        has_card: false,
        network: Some((&host, "vnet0")),
    };
    let mut machine = Machine::boot(&setup)?;
    machine.wait_for("GUEST IS READY");
    let folder = tempfile::tempdir().expect("a directory");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let shown = inside(&host, &["trace", "p-ts", "--show-path"]);
    let shown = shown.output().expect("its output");
    let (sent, traced) = (path("publish.triptime"), path("trace.triptime"));
    let trace = ["trace", "p-ts", "--record", "--window", "1s", "-q", "--out", &traced];
    let tracer = inside(&host, &trace);
    until(|| is_tracing(tracer.id()), "tracing on the host");
    let streams = streams.to_string();
    let publish = [
        "publish",
        "ts0",
        "--streams",
        &streams,
        "--profile",
        profile,
        "--duration",
        "3s",
        "-q",
        "--out",
        &sent,
    ];
    ended(inside(&publisher, &publish), &publish);
    // The guest may be slow, so it receives frames for some more time.
    machine.go_on();
    machine.wait_for("GUEST IS QUIET");
    support::signal(&tracer, Signal::INT);
    ended(tracer, &["trace"]);
    machine.go_on();
    Ok(Runs {
        guest: machine.finish(),
        way: String::from_utf8_lossy(&shown.stdout).into_owned(),
        folder,
    })
}

fn ended(child: Running, arguments: &[&str]) {
    let output = support::wait(child, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
}

/// Every frame is accounted for, from the publisher to the application in the guest.
fn assert_every_frame(runs: &Runs, streams: u32) {
    for wanted in [
        "br0: bridge",
        "vnet0: tap",
        "virtual machine relay1",
        "points: nic",
        "taken",
    ] {
        assert!(runs.way.contains(wanted), "no \"{wanted}\" in {}", runs.way);
    }
    for status in ["delivery/trace.status", "delivery/subscribe.status"] {
        assert_eq!(runs.guest.text(status), "0", "{}", runs.guest.console);
    }
    let (host, guest) = (report(&runs.host()), report(&runs.guest()));
    let sent = published(&runs.publisher()) / u64::from(streams);
    assert!(sent > 0);
    let mut delivered = 0;
    for number in 1..=streams {
        let stream = format!("MU{number:02}");
        let hop = |name: &str| format!("hop/{name}/{stream}");
        assert_eq!(
            counts(&host, &hop("nic-to-tap")),
            (sent, 0),
            "every frame comes to the tap"
        );
        let (taken, left) = counts(&host, &hop("tap-to-taken"));
        assert_eq!(taken + left, sent, "each is taken by QEMU in time, or is not");
        let taken = taken + not_timed(&host, &stream, "taken");
        let (received, lost) = counts(&guest, &hop("nic-to-app"));
        assert_eq!(
            received + lost + not_timed(&guest, &stream, "app"),
            taken,
            "what QEMU took comes to the guest's network card"
        );
        assert!(received > 100, "{received} of {sent}");
        delivered += received + not_timed(&guest, &stream, "app");
    }
    let (subscribed, _) = counts(&report(&runs.subscriber()), "delivery/subscribe");
    assert_eq!(
        subscribed, delivered,
        "what the guest's trace saw come to the application is what came"
    );
}

fn delivery(test: &str, kernel: Kernel, streams: u32, profile: &str) {
    if !root_or_skip(test) {
        return;
    }
    match deliver(kernel, streams, profile) {
        Ok(runs) => {
            if matches!(kernel, Kernel::Rt61) {
                assert_followed_one_by_one(&runs.guest);
            }
            assert_every_frame(&runs, streams);
            assert_merged(&runs, streams);
        }
        Err(why) => testing::skip(test, &why),
    }
}

#[test]
fn every_frame_to_a_guest_is_traced_on_both_sides() {
    delivery(
        "every_frame_to_a_guest_is_traced_on_both_sides",
        Kernel::Rt612,
        1,
        "F4000S1I4U4",
    );
}

#[test]
fn every_frame_to_a_guest_with_an_older_kernel_is_traced_on_both_sides() {
    let test = "every_frame_to_a_guest_with_an_older_kernel_is_traced_on_both_sides";
    delivery(test, Kernel::Rt61, 4, "F1000S1I4U4");
}
