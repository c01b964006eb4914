//! Frames that are lost on the way, and points that a stream never reaches: neither may pass.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use store::RunFile;
use support::bridge::{bed, inside, publishing};
use support::{json, root_or_skip, series, stderr};
use sys::link::{add_bridge, set_master};
use testing::Running;

const TRACE: [&str; 7] = ["trace", "p-ts", "--window", "1s", "--limits", "substation", "--json"];

/// Waits until the run has a series, because the kernel's check of the programs takes some time.
pub(super) fn until_traced(run: &str, name: &str) {
    let patience = Instant::now() + Duration::from_secs(60);
    let has = |run: RunFile| {
        run.series()
            .is_ok_and(|all| all.iter().any(|(_, spec)| spec.name == name))
    };
    while !RunFile::open(Path::new(run)).is_ok_and(has) {
        assert!(Instant::now() < patience, "no {name}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn transit(document: &Value) -> &Value {
    let checks = document["checks"].as_array().expect("checks");
    let mut transits = checks.iter().filter(|check| check["limit"] == "transit.max");
    let check = transits.next().expect("a check of the transit");
    assert_eq!(transits.next(), None, "of one stream to one edge");
    check
}

/// The port is removed from the bridge in the middle of the run, and stays removed.
#[test]
fn what_is_lost_before_the_port_is_lost_to_the_whole_way() {
    if !root_or_skip("what_is_lost_before_the_port_is_lost_to_the_whole_way") {
        return;
    }
    let [publisher, switch, device] = bed();
    let directory = tempfile::tempdir().expect("tempdir");
    let path = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    let _publishing = publishing(&publisher, &path("sent.triptime"), &[]);
    let edge = format!("edge=dut0@{}:rx", device.path().display());
    let mut trace = inside(&switch, &TRACE);
    trace.args(["--duration", "4s", "--out", &path("traced.triptime")]);
    trace.args(["--point", "port=p-dut:tx", "--point", &edge]);
    let tracing = Running::start(trace.stdout(Stdio::piped()).stderr(Stdio::piped()));
    until_traced(&path("traced.triptime"), "hop/nic-to-edge/MU01");
    let away = || add_bridge("br1").and_then(|()| set_master("p-dut", "br1"));
    switch.run(away).expect("entered").expect("moved");
    let output = tracing.output().expect("a child");
    let document = json(&output);
    let count = |hop: &str, name: &str| {
        let series = series(&document, &format!("hop/{hop}/MU01"));
        series[name].as_u64().unwrap_or_else(|| panic!("{name} in {series}"))
    };
    let lost = count("nic-to-port", "lost");
    assert!(lost > 100, "{lost} of some thousand");
    assert_eq!(count("nic-to-edge", "lost"), lost + count("port-to-edge", "lost"));
    assert_eq!(
        count("nic-to-edge", "expected"),
        count("nic-to-port", "expected"),
        "every frame that came to the first point"
    );
    let check = transit(&document);
    assert_ne!(check["verdict"], "pass", "{check}");
    assert!(check["why"].as_str().is_some_and(|why| why.contains("lost")), "{check}");
    assert!(matches!(output.status.code(), Some(1 | 3)), "{}", stderr(&output));
}

/// The port is in no bridge from the beginning.
#[test]
fn a_point_that_a_stream_never_comes_to_is_undecided() {
    if !root_or_skip("a_point_that_a_stream_never_comes_to_is_undecided") {
        return;
    }
    let [publisher, switch, device] = bed();
    let away = || add_bridge("br1").and_then(|()| set_master("p-dut", "br1"));
    switch.run(away).expect("entered").expect("moved");
    let directory = tempfile::tempdir().expect("tempdir");
    let path = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    let _publishing = publishing(&publisher, &path("sent.triptime"), &[]);
    let edge = format!("edge=dut0@{}:rx", device.path().display());
    let mut trace: Command = inside(&switch, &TRACE);
    trace.args(["--duration", "500ms", "--out", &path("traced.triptime")]);
    trace.args(["--point", "port=p-dut:tx", "--point", &edge]);
    let output = trace.output().expect("started");
    let document = json(&output);
    for hop in ["nic-to-port", "port-to-edge", "nic-to-edge"] {
        assert_eq!(series(&document, &format!("hop/{hop}/MU01"))["received"], 0, "{hop}");
    }
    let check = transit(&document);
    assert_eq!(check["verdict"], "inconclusive", "{check}");
    let why = check["why"].as_str().expect("text");
    assert!(why.contains("MU01 was never seen at edge"), "{why}");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
}
