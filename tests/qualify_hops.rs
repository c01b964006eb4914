//! Sampled values of a plan traced from point to point: over every network, and on machines that cannot trace.

use serde_json::Value;
use std::path::Path;
use std::process::Output;
use support::{binary, json, root_or_skip, run, series, stderr};

const PLAN: &str = r#"
name = "short"
what = "Traced streams in a few seconds, for tests"
limits = "substation"
window = "500ms"

[cpus]
housekeeping = "first"
measured = "rest"

[bed]
networks = ["veth", "bridge", "macvlan", "tap", "openvswitch"]

[[step]]
probe = "sampled-values"
duration = "1s"
streams = 2
rate = 1000
asdus = 1
policy = "other"
trace = true
"#;

fn path(directory: &Path, name: &str) -> String {
    directory.join(name).to_str().expect("UTF-8").to_owned()
}

fn count(series: &Value, name: &str) -> u64 {
    series[name].as_u64().unwrap_or_else(|| panic!("{name} in {series}"))
}

fn ended(output: &Output) -> Value {
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{}", stderr(output));
    json(output)
}

/// Reason of the run for not measuring over a network; `None` if it was measured.
fn not_available(document: &Value, network: &str) -> Option<String> {
    let facts = document["inventory"].as_array().expect("facts");
    let fact = facts
        .iter()
        .find(|fact| fact["group"] == "networks compared" && fact["name"] == network)
        .unwrap_or_else(|| panic!("no word of {network} in {facts:?}"));
    fact["unknown_because"].as_str().map(ToOwned::to_owned)
}

#[test]
fn frames_are_traced_over_every_network() {
    if !root_or_skip("frames_are_traced_over_every_network") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let (plan, out) = (
        path(directory.path(), "short.toml"),
        path(directory.path(), "run.triptime"),
    );
    std::fs::write(&plan, PLAN).expect("writable");
    let document = ended(&run(&["qualify", &plan, "--json", "--out", &out]));
    let mut sent = 0;
    for (network, hops) in [
        ("veth", &["nic-to-app"][..]),
        ("bridge", &["nic-to-port", "port-to-edge", "edge-to-app"][..]),
        ("macvlan", &["nic-to-edge", "edge-to-app"][..]),
        ("tap", &["nic-to-switch", "switch-to-edge", "edge-to-app"][..]),
        (
            "openvswitch",
            &["nic-to-switch", "switch-to-port", "port-to-edge", "edge-to-app"][..],
        ),
    ] {
        if let Some(why) = not_available(&document, network) {
            // All others are networks of the kernel itself.
            assert!(
                network == "openvswitch" && why.ends_with("is not installed"),
                "{network}: {why}"
            );
            testing::skip("frames_are_traced_over_every_network/openvswitch", &why);
            continue;
        }
        for stream in ["MU01", "MU02"] {
            let of = |hop: &str| series(&document, &format!("hop/{hop}/{network}-{stream}"));
            let all = count(of(hops[0]), "expected");
            assert!(all > 100, "{network}: {all} of 1000");
            sent += all;
            // The next hop must receive the same frames.
            let mut came = all;
            for hop in hops {
                let hop = of(hop);
                assert_eq!(
                    count(hop, "expected"),
                    count(hop, "received") + count(hop, "lost"),
                    "{hop}"
                );
                assert!(count(hop, "expected") <= came, "{hop}");
                came = count(hop, "received");
            }
            if !matches!(network, "tap" | "openvswitch") {
                assert_eq!(came, all, "the kernel forwards every frame over {network}");
            }
        }
    }
    let lateness = series(&document, "publish/lateness");
    let published = count(lateness, "received");
    // If the kernel forwards, each sent frame comes to the first point; the same is true for a tap.
    assert!(
        sent <= published && published - sent <= published / 10,
        "{sent} of {published}"
    );
}

#[test]
fn where_nothing_can_be_traced_the_line_is_undecided_and_says_why() {
    if !root_or_skip("where_nothing_can_be_traced_the_line_is_undecided_and_says_why") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let (plan, out) = (
        path(directory.path(), "short.toml"),
        path(directory.path(), "run.triptime"),
    );
    let bridge = PLAN.replace(
        "\"veth\", \"bridge\", \"macvlan\", \"tap\", \"openvswitch\"",
        "\"bridge\"",
    );
    std::fs::write(&plan, bridge).expect("writable");
    // Simulates a kernel without BTF, only for this process.
    let script = "mount --make-rprivate / && mount --bind /dev/null /sys/kernel/btf/vmlinux && exec \"$@\"";
    let mut command = std::process::Command::new("unshare");
    command.args(["--mount", "sh", "-c", script, "sh"]).arg(binary());
    let output = command
        .args(["qualify", &plan, "--json", "--out", &out])
        .output()
        .expect("unshare is installed");
    let document = ended(&output);
    assert_ne!(document["verdict"], "pass");
    assert!(
        count(series(&document, "age/bridge-MU01"), "received") > 0,
        "the step went on"
    );
    assert_eq!(count(series(&document, "hop/nic-to-edge/bridge-MU01"), "received"), 0);
    let checks = document["checks"].as_array().expect("checks");
    let transit: Vec<&Value> = checks.iter().filter(|check| check["limit"] == "transit.max").collect();
    assert_eq!(transit.len(), 2);
    for check in transit {
        assert_eq!(check["verdict"], "inconclusive", "{check}");
        assert!(check["why"].as_str().is_some_and(|why| why.contains("btf")), "{check}");
    }
    let events = document["events"].as_array().expect("events");
    let untraced = events.iter().find(|event| {
        event["kind"] == "hop-gap"
            && event["text"]
                .as_str()
                .is_some_and(|text| text.starts_with("hops are not traced"))
    });
    assert!(untraced.is_some(), "{events:?}");
    let lines = document["budget"]["lines"].as_array().expect("lines");
    let transit = lines
        .iter()
        .find(|line| line["line"] == "Host transit")
        .expect("the line");
    assert_eq!(
        (&transit["measured"], &transit["verdict"]),
        (&Value::Bool(false), &Value::from("inconclusive"))
    );
}

#[test]
fn frames_recorded_at_every_end_are_joined_and_judged_by_their_one_clock() {
    let test = "frames_recorded_at_every_end_are_joined_and_judged_by_their_one_clock";
    if !root_or_skip(test) {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let (plan, limits, out) = (
        path(directory.path(), "short.toml"),
        path(directory.path(), "limits.toml"),
        path(directory.path(), "run.triptime"),
    );
    let (head, steps) = PLAN.split_once("[bed]").expect("a bed");
    let (_, steps) = steps.split_once("\n\n").expect("steps");
    // At ordinary priority, a busy machine makes gaps in which no frame is certain.
    let steps = steps.replace("\"other\"", "\"fifo:60\"");
    std::fs::write(&plan, format!("{head}{steps}record = true\n")).expect("writable");
    let profile = "name = \"lab\"\nwhat = \"a test\"\n\n[[limit]]\nid = \"whole.max\"\n\
                   series = \"hop/publisher.due-to-host.app/*\"\nquantity = \"max\"\nallowed = \"10s\"\nsource = \"this test\"\n";
    std::fs::write(&limits, profile).expect("writable");
    let document = ended(&run(&["qualify", &plan, "--json", "--limits", &limits, "--out", &out]));
    let events = document["events"].to_string();
    if events.contains("hops are not traced") {
        return testing::skip(test, &events);
    }
    for id in ["MU01", "MU02"] {
        let crossing = series(&document, &format!("hop/publisher.sent-to-host.nic/{id}"));
        assert!(count(crossing, "received") > 100, "{crossing} {events}");
        assert!(crossing["min"].as_i64() > Some(0), "{crossing}");
        assert_eq!(crossing["clock"]["windows_in_doubt"], 0, "{crossing}");
    }
    let checks = document["checks"].as_array().expect("checks");
    let of_whole = checks.iter().filter(|check| check["limit"] == "whole.max");
    let whys: Vec<String> = of_whole.map(|check| check["why"].to_string()).collect();
    assert_eq!(whys.len(), 2, "{checks:?}");
    // After a stall, frames may be left out whose records fit two; but nothing doubts the clock that all ends read.
    let of_clock = |why: &String| why.replace("a step of a clock", "").contains("clock");
    assert!(!whys.iter().any(of_clock), "{whys:?}");
    let points = document["recording"]["points"].to_string();
    assert!(
        points.starts_with("[\"publisher.due\",\"publisher.sent\",\"host.nic\""),
        "{points}"
    );
}
