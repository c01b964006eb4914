//! Hops traced end to end: a publisher, a bridge, and an application in another network namespace.

#[path = "trace/follow.rs"]
mod follow;

use std::process::{Command, Stdio};
use support::{binary, json, root_or_skip};
use sys::link::{add_bridge, add_veth, find, set_master, set_up};
use sys::netns::NetNs;

/// The publisher's, the bridge's and the application's namespaces, joined.
fn bed() -> [NetNs; 3] {
    let [publisher, switch, device] = [(); 3].map(|()| NetNs::create().expect("a namespace"));
    switch.run(|| add_bridge("br0").expect("a bridge")).expect("entered");
    for (end, name, port) in [(&publisher, "ts0", "p-ts"), (&device, "dut0", "p-dut")] {
        let join = || {
            add_veth(port, name, end).expect("a pair");
            set_master(port, "br0").expect("a port");
            set_up(port).expect("up");
        };
        switch.run(join).expect("entered");
        end.run(|| set_up(name).expect("up")).expect("entered");
    }
    switch.run(|| set_up("br0").expect("up")).expect("entered");
    for (namespace, name) in [(&publisher, "ts0"), (&switch, "br0"), (&device, "dut0")] {
        while !namespace.run(|| find(name).expect("there").carrier).expect("entered") {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
    [publisher, switch, device]
}

/// The program inside a namespace.
fn inside(namespace: &NetNs, arguments: &[&str]) -> Command {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net={}", namespace.path().display()));
    command.arg(binary()).args(arguments).stdin(Stdio::null());
    command
}

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
    let (html, single) = (path("hops.html"), path("hops.csv"));
    let publish = [
        "publish",
        "ts0",
        "--streams",
        "2",
        "--rate",
        "1000",
        "--duration",
        "12s",
        "-q",
        "--out",
        &sent,
    ];
    let subscribe = ["subscribe", "dut0", "--duration", "12s", "-q", "--out", &received];
    let quiet = |mut command: Command| {
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("started")
    };
    let mut others = [quiet(inside(&publisher, &publish)), quiet(inside(&device, &subscribe))];
    std::thread::sleep(std::time::Duration::from_secs(1));
    let trace = [
        "trace",
        "p-ts",
        "--duration",
        "2s",
        "--window",
        "1s",
        "--json",
        "-q",
        "--out",
        &traced,
        "--html",
        &html,
        "--record",
        &single,
    ];
    let output = inside(&switch, &trace).output().expect("started");
    for other in &mut others {
        let _ = other.kill();
        let _ = other.wait();
    }
    assert_eq!(output.status.code(), Some(0), "{}", support::stderr(&output));
    let document = json(&output);
    for name in ["hop/nic-to-port/MU01", "hop/port-to-edge/MU01", "hop/nic-to-app/MU02"] {
        let series = support::series(&document, name);
        let exposure_s = series["exposure_s"].as_f64().expect("a number");
        assert!((1.0..2.5).contains(&exposure_s), "{name}: {exposure_s} s of 2 s traced");
        assert!(series["received"].as_u64() > Some(500), "{name}: {series}");
        assert_eq!(series["lost"], 0, "{name}");
    }
    let page = std::fs::read_to_string(&html).expect("the report");
    assert!(page.contains("The way of a frame inside this host") && page.contains("p-dut: veth"));
    let lines = std::fs::read_to_string(&single).expect("the durations");
    assert!(
        lines
            .lines()
            .filter(|line| line.contains(",nic-to-port,\"MU01\","))
            .count()
            > 500
    );
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
