//! Hops traced end to end: a publisher, a bridge, and an application in another network namespace.

use std::process::{Command, Stdio};
use support::bridge::{bed, inside};
use support::{json, root_or_skip};

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
    let publish = [
        "publish",
        "ts0",
        "--streams",
        "2",
        "--rate",
        "1000",
        "--duration",
        "60s",
        "-q",
        "--out",
        &sent,
    ];
    let subscribe = ["subscribe", "dut0", "--duration", "60s", "-q", "--out", &received];
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
