//! The plan `vpac` with a relay that is not of this program: another process at the other end of a veth pair is that relay.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use support::left::Before;
use support::places::alone;
use support::{
    end, json, namespace, root_or_skip, run, series, signal, start, stderr, until_packet_socket, until_thread, wait,
    wait_up_to,
};
use sys::netns::NetNs;

/// A relay that repeats the ping in its task cycle.
const MIRROR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/mirror.toml");

/// A device that changes by itself ten times a second, and hears nothing.
const UNASKED: &str = r#"
[[goose]]
gocb_ref = "UNASKEDLD0/LLN0$GO$gcbPong"
dat_set = "UNASKEDLD0/LLN0$dsPong"
dst = "01:0c:cd:01:00:03"
appid = 3
member = [{ name = "x", type = "boolean" }]
change = [
    { at = "100ms", every = "200ms", set = { x = true } },
    { at = "200ms", every = "200ms", set = { x = false } },
]
"#;

/// The words of a run of the plan with this relay, each step this long.
fn words<'a>(relay: &'a str, duration: &'a str, out: &'a str) -> Vec<&'a str> {
    let of_plan = ["qualify", "vpac", "--relay", relay, "--nic", "v0", "--place", "native"];
    let more = ["--duration", duration, "--disturb", "--quiet", "--json", "--out", out];
    of_plan.into_iter().chain(more).collect()
}

fn measured(namespace: &NetNs, words: &[&str]) -> Output {
    let child = namespace.run(|| start(words)).expect("entered");
    wait(child, words)
}

/// Checks of a run by their limit.
fn checks<'a>(document: &'a Value, limit: &str) -> Vec<&'a Value> {
    let all = document["checks"].as_array().expect("checks");
    all.iter().filter(|check| check["limit"] == limit).collect()
}

/// Asserts that no limit of a week passes, and that each says how long it was measured.
fn is_no_week(document: &Value) {
    assert_ne!(document["verdict"], "pass", "seconds are no week");
    for limit in ["wakeup.max", "pong.max"] {
        let all = checks(document, limit);
        assert!(!all.is_empty(), "{limit}");
        for check in all {
            let why = check["why"].as_str().unwrap_or_default();
            assert!(
                check["verdict"] == "fail" || check["verdict"] == "inconclusive",
                "{check}"
            );
            assert!(why.contains("of the 7.00 d that the limit requires"), "{check}");
        }
    }
}

fn path(directory: &Path, name: &str) -> String {
    directory.join(name).display().to_string()
}

#[test]
fn a_relay_of_others_is_pinged_over_one_port_and_seconds_are_no_week() {
    if !root_or_skip("a_relay_of_others_is_pinged_over_one_port_and_seconds_are_no_week") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let (far, out) = (
        path(directory.path(), "relay.triptime"),
        path(directory.path(), "run.triptime"),
    );
    let namespace = namespace();
    let relay = ["relay", MIRROR, "v1", "--policy", "other", "--quiet", "--out", &far];
    let mut child = namespace.run(|| start(&relay)).expect("entered");
    until_thread(&mut child, "relay");
    let document = json(&measured(&namespace, &words("MIRRORLD0/LLN0$GO$gcbPong", "4s", &out)));
    end(child, &relay);
    let pongs = series(&document, "pong/relay");
    assert!(pongs["received"].as_u64() > Some(50), "{pongs}");
    assert_eq!(pongs["settings"]["answer"], "member 0 of MIRRORLD0/LLN0$GO$gcbPong");
    let names: Vec<&str> = document["series"]
        .as_array()
        .expect("series")
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert!(names.iter().any(|name| name.starts_with("wakeup/")), "{names:?}");
    assert!(
        !names.iter().any(|name| name.starts_with("turnaround/")),
        "the answers are not ours: {names:?}"
    );
    is_no_week(&document);
    let events = document["events"].as_array().expect("events");
    let bed = "network - relay MIRRORLD0/LLN0$GO$gcbPong";
    assert!(
        events
            .iter()
            .any(|event| event["text"].as_str().is_some_and(|text| text.contains(bed))),
        "{events:?}"
    );
}

/// With the relay elsewhere, the pinging end takes one CPU, and wake-ups are measured on the others at the same time.
#[test]
fn wake_ups_are_measured_beside_the_ping_pong_on_other_cpus() {
    const NAME: &str = "wake_ups_are_measured_beside_the_ping_pong_on_other_cpus";
    if !root_or_skip(NAME) {
        return;
    }
    let all = sys::thread::cpuset_cpus();
    let (Some(first), Some(second)) = (all.first(), all.iter().nth(1)) else {
        testing::skip(NAME, "needs two CPUs");
        return;
    };
    let directory = tempfile::tempdir().expect("tempdir");
    let (far, out) = (
        path(directory.path(), "relay.triptime"),
        path(directory.path(), "run.triptime"),
    );
    let namespace = namespace();
    let relay = ["relay", MIRROR, "v1", "--policy", "other", "--quiet", "--out", &far];
    let mut child = namespace.run(|| start(&relay)).expect("entered");
    until_thread(&mut child, "relay");
    let cpus = format!("{first},{second}");
    let of_plan = words("MIRRORLD0/LLN0$GO$gcbPong", "4s", &out);
    let document = json(&measured(&namespace, &[&of_plan[..], &["--cpus", &cpus]].concat()));
    end(child, &relay);
    let beside = format!("ping-pong on cpu {first}, wake-up on cpu {second}");
    for name in ["pong/relay", &format!("wakeup/cpu{second}")] {
        let series = series(&document, name);
        assert_eq!(series["settings"]["side by side"], beside, "{series}");
        assert!(series["received"].as_u64() > Some(50), "{series}");
    }
    is_no_week(&document);
}

#[test]
fn both_ends_in_containers_have_figures_and_seconds_are_no_week() {
    const NAME: &str = "both_ends_in_containers_have_figures_and_seconds_are_no_week";
    if !root_or_skip(NAME) {
        return;
    }
    let runtime = Command::new("runc").arg("--version").stdout(Stdio::null()).status();
    if runtime.is_err() {
        testing::skip(NAME, "runc is not installed");
        return;
    }
    let _alone = alone();
    let directory = tempfile::tempdir().expect("tempdir");
    let out = path(directory.path(), "run.triptime");
    let before = Before::look();
    let of_plan = ["qualify", "vpac", "--place", "container", "--duration", "4s"];
    let output = run(&[&of_plan[..], &["--disturb", "--quiet", "--json", "--out", &out]].concat());
    before.nothing_is_left();
    assert!(matches!(output.status.code(), Some(1 | 3)), "{}", stderr(&output));
    let document = json(&output);
    let cpu = sys::thread::allowed_cpus().iter().last().expect("a CPU");
    for (name, least) in [
        (&format!("wakeup/cpu{cpu}")[..], 1_000),
        ("pong/devices", 100),
        ("turnaround/pong", 100),
    ] {
        let series = series(&document, name);
        assert!(series["received"].as_u64() > Some(least), "{series}");
        let place = series["settings"]["place"].as_str().unwrap_or_default();
        assert!(place.starts_with("container: runc"), "{series}");
    }
    is_no_week(&document);
}

/// The acceptance between two guests across the hypervisor, as its source states it. They are emulated, and slow beside the plan's loads.
#[test]
fn both_ends_in_guests_have_figures_and_emulated_ones_pass_nothing() {
    const NAME: &str = "both_ends_in_guests_have_figures_and_emulated_ones_pass_nothing";
    if !root_or_skip(NAME) {
        return;
    }
    let kernel = match support::guest::guest("6.12-rt") {
        Ok(folder) => folder,
        Err(why) => return testing::skip(NAME, &why),
    };
    let _alone = alone();
    let directory = tempfile::tempdir().expect("tempdir");
    let out = path(directory.path(), "run.triptime");
    let before = Before::look();
    let (vmlinux, modules) = (path(&kernel, "vmlinux"), path(&kernel, ""));
    let guest = [
        "--place",
        "vm",
        "--accel",
        "tcg",
        "--kernel",
        &vmlinux,
        "--modules",
        &modules,
    ];
    let more = ["--duration", "3s", "--disturb", "--quiet", "--json", "--out", &out];
    let words = [&["qualify", "vpac"], &guest[..], &more].concat();
    let output = wait_up_to(Duration::from_secs(600), start(&words), &words);
    before.nothing_is_left();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let document = json(&output);
    let all = document["series"].as_array().expect("series");
    let wakeups = all.iter().filter_map(|one| one["name"].as_str());
    let wakeups: Vec<&str> = wakeups.filter(|name| name.starts_with("wakeup/")).collect();
    assert!(!wakeups.is_empty(), "{all:?}");
    for name in wakeups.iter().chain(&["pong/devices", "turnaround/pong"]) {
        let series = series(&document, name);
        assert!(series["received"].as_u64() > Some(10), "{series}");
        let place = series["settings"]["place"].as_str().unwrap_or_default();
        assert!(place.starts_with("vm: QEMU"), "{series}");
    }
    let events = document["events"].as_array().expect("events");
    let bed = "2 devices under test side by side";
    let is_bed = |event: &Value| event["text"].as_str().is_some_and(|text| text.contains(bed));
    assert!(events.iter().any(is_bed), "{events:?}");
    for limit in ["wakeup.max", "pong.max", "pong.lost"] {
        let all = checks(&document, limit);
        assert!(!all.is_empty(), "{limit}");
        assert!(all.iter().all(|check| check["verdict"] == "inconclusive"), "{all:?}");
    }
}

/// The relay stands still for a while: pings meanwhile have no answer.
#[test]
fn a_relay_that_answers_some_pings_fails() {
    if !root_or_skip("a_relay_that_answers_some_pings_fails") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let (far, out) = (
        path(directory.path(), "relay.triptime"),
        path(directory.path(), "run.triptime"),
    );
    let namespace = namespace();
    let relay = ["relay", MIRROR, "v1", "--policy", "other", "--quiet", "--out", &far];
    let mut child = namespace.run(|| start(&relay)).expect("entered");
    until_thread(&mut child, "relay");
    let words = words("MIRRORLD0/LLN0$GO$gcbPong", "6s", &out);
    let mut pinging = namespace.run(|| start(&words)).expect("entered");
    until_thread(&mut pinging, "ping");
    std::thread::sleep(Duration::from_secs(2));
    signal(&child, rustix::process::Signal::STOP);
    std::thread::sleep(Duration::from_secs(2));
    signal(&child, rustix::process::Signal::CONT);
    let output = wait(pinging, &words);
    end(child, &relay);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let document = json(&output);
    let pongs = series(&document, "pong/relay");
    assert!(
        pongs["lost"].as_u64() >= Some(1) && pongs["received"].as_u64() >= Some(1),
        "{pongs}"
    );
    assert_eq!(checks(&document, "pong.lost")[0]["verdict"], "fail", "{document}");
}

#[test]
fn a_silent_relay_is_no_evidence() {
    if !root_or_skip("a_silent_relay_is_no_evidence") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let out = path(directory.path(), "run.triptime");
    let output = measured(&namespace(), &words("NOBODYLD0/LLN0$GO$gcbPong", "2s", &out));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("no GOOSE message of NOBODYLD0/LLN0$GO$gcbPong came"),
        "{}",
        stderr(&output)
    );
    assert!(output.stdout.is_empty(), "nothing was measured, so nothing is judged");
    assert!(!Path::new(&out).exists(), "a run without a sample is not kept");
}

#[test]
fn a_device_that_changes_unasked_never_passes() {
    if !root_or_skip("a_device_that_changes_unasked_never_passes") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let (far, out) = (
        path(directory.path(), "far.triptime"),
        path(directory.path(), "run.triptime"),
    );
    let file = path(directory.path(), "unasked.toml");
    std::fs::write(&file, UNASKED).expect("writable");
    let namespace = namespace();
    let device = [
        "publish",
        "v1",
        "--goose",
        &file,
        "--duration",
        "60s",
        "--quiet",
        "--out",
        &far,
    ];
    let child = namespace.run(|| start(&device)).expect("entered");
    until_packet_socket(&child);
    let output = measured(&namespace, &words("UNASKEDLD0/LLN0$GO$gcbPong", "5s", &out));
    end(child, &device);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let document = json(&output);
    let unwanted = checks(&document, "pong.unwanted");
    assert_eq!(unwanted[0]["verdict"], "fail", "{document}");
}

#[test]
fn the_port_to_the_relay_is_needed_and_another_bed_is_not() {
    let refused = |more: &[&str], says: &str| {
        let output = run(&[&["qualify"], more, &["--relay", "IED1LD0/LLN0$GO$gcb", "--show"]].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    };
    refused(
        &["vpac"],
        "name the one port of this machine that leads there: --nic IF",
    );
    refused(&["quick", "--nic", "lo"], "no step of this plan is a ping-pong");
    refused(&["vpac", "--nic", "lo,lo"], "name the one port");
    refused(&["vpac", "--nic", "lo", "--ping", "nowhere.toml"], "nowhere.toml");
    refused(&["vpac", "--nic", "lo", "--far", "192.0.2.7"], "cannot be used with");
}
