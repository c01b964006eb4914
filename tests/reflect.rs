//! Both ends of a round trip, started as by users, and their captures as read by tshark.

use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Output};
use std::time::Duration;
use support::{end, json, namespace, root_or_skip, series, signal, start, stderr, until_file, wait};
use sys::netns::NetNs;
use testing::Running;

/// One running end on `interface`, its run file and capture in `directory`.
fn begin(namespace: &NetNs, directory: &Path, interface: &str, more: &str) -> Running {
    let out = directory.join(format!("{interface}.triptime"));
    let mut words = vec![
        "reflect",
        interface,
        "--json",
        "--quiet",
        // Real-time threads of other tests may run for a moment.
        "--disturb",
        "--out",
        out.to_str().expect("UTF-8"),
    ];
    words.extend(more.split_whitespace());
    namespace.run(|| start(&words)).expect("a thread in the namespace")
}

/// Both ends with the same options; the initiator's result and the reflector's.
fn both(namespace: &NetNs, directory: &Path, more: &str) -> (Value, Value) {
    let ends = ["v0", "v1"].map(|interface| begin(namespace, directory, interface, more));
    let mut results: Vec<Value> = ends.into_iter().map(|end| result(&wait(end, &[more]))).collect();
    let is_initiator = |result: &Value| {
        result["series"][0]["name"]
            .as_str()
            .is_some_and(|name| name.starts_with("rtt/"))
    };
    if !is_initiator(&results[0]) {
        results.reverse();
    }
    let reflector = results.pop().expect("two results");
    (results.pop().expect("two results"), reflector)
}

fn result(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    json(output)
}

fn texts(result: &Value) -> Vec<&str> {
    let events = result["events"].as_array().expect("events");
    events.iter().filter_map(|event| event["text"].as_str()).collect()
}

#[test]
fn two_ends_find_their_roles_over_every_engine() {
    if !root_or_skip("two_ends_find_their_roles_over_every_engine") {
        return;
    }
    let namespace = namespace();
    for (engine, says) in [
        ("block", "engine AF_PACKET, TPACKET_V2 ring, block"),
        ("packet --policy other", "engine AF_PACKET, TPACKET_V2 ring, spin"),
        (
            "xdp --policy other",
            "engine AF_XDP, native, copy (native, zero-copy refused: ",
        ),
        ("xdp --xdp generic --policy other", "engine AF_XDP, generic, copy, spin"),
        (
            "packet-xdp --policy other",
            "engine AF_PACKET, TPACKET_V2 ring; sends by AF_XDP, spin",
        ),
    ] {
        let directory = tempfile::tempdir().expect("a directory");
        let options = format!("--engine {engine} --interval 1ms --duration 1s");
        let (initiator, reflector) = both(&namespace, directory.path(), &options);
        let rtt = series(&initiator, "rtt/reflect");
        let count = |name: &str| rtt[name].as_u64().expect("a count");
        // A rest takes 60 cycles, in which nothing is due; a stall at the end leaves out a few hundred.
        assert!((500..=1_000).contains(&count("expected")), "{engine}: {rtt}");
        assert_eq!(
            count("received") + count("missed"),
            count("expected"),
            "{engine}: {rtt}"
        );
        assert_eq!(
            series(&reflector, "turnaround/reflect")["received"],
            rtt["received"],
            "{engine}"
        );
        assert!(
            texts(&initiator).iter().any(|text| text.contains(says)),
            "{engine}: {:?}",
            texts(&initiator)
        );
        let lost = "rtt/reflect: lost on the way there: 0, on the way back: 0 (by the far end's count)";
        assert!(texts(&initiator).contains(&lost), "{engine}: {:?}", texts(&initiator));
    }
}

/// Frames of the capture that pass the filter, as tshark counts them.
fn tshark(capture: &Path, filter: &str) -> Option<usize> {
    let output = Command::new("tshark")
        .arg("-r")
        .arg(capture)
        .args(["-Y", filter, "-T", "fields", "-e", "frame.time_epoch"])
        .output();
    match output {
        Ok(output) => {
            assert!(output.status.success(), "{}", stderr(&output));
            Some(String::from_utf8_lossy(&output.stdout).lines().count())
        }
        Err(error) => {
            testing::skip("captures", &format!("tshark: {error}"));
            None
        }
    }
}

#[test]
fn a_capture_has_every_frame_both_ways_and_its_tag() {
    if !root_or_skip("a_capture_has_every_frame_both_ways_and_its_tag") {
        return;
    }
    let namespace = namespace();
    let directory = tempfile::tempdir().expect("a directory");
    let capture = directory.path().join("v1.pcapng");
    let far = begin(
        &namespace,
        directory.path(),
        "v0",
        "--role reflector --engine block --vlan 5:6",
    );
    let options = format!(
        "--role initiator --engine block --vlan 5:6 --interval 1ms --duration 1s --capture-all --capture {}",
        capture.display()
    );
    let near = result(&wait(begin(&namespace, directory.path(), "v1", &options), &["near"]));
    signal(&far, Signal::INT);
    wait(far, &["far"]);
    let sent = series(&near, "rtt/reflect")["received"].as_u64().expect("a count");
    let [probe, marked] = ["data[5] == 01", "data[6:2] == 00:01"];
    let counted = format!("vlan.id == 5 && vlan.priority == 6 && {probe} && {marked}");
    let Some(frames) = tshark(&capture, &counted) else {
        return;
    };
    assert_eq!(frames as u64, 2 * sent, "each frame goes out and comes back");
    assert!(
        texts(&near)
            .iter()
            .any(|text| text.starts_with("capture ") && text.ends_with(" frames")),
        "{:?}",
        texts(&near)
    );
}

#[test]
fn a_capture_around_a_spike_is_a_part_of_the_run() {
    if !root_or_skip("a_capture_around_a_spike_is_a_part_of_the_run") {
        return;
    }
    let namespace = namespace();
    let directory = tempfile::tempdir().expect("a directory");
    let capture = directory.path().join("around.pcapng");
    let far = begin(&namespace, directory.path(), "v0", "--role reflector --engine block");
    // The first round trip ends the run; the earlier data are in the file.
    let options = format!(
        "--role initiator --engine block --interval 1ms --duration 10s --break-above 1ns --capture {}",
        capture.display()
    );
    let near = wait(begin(&namespace, directory.path(), "v1", &options), &["near"]);
    signal(&far, Signal::INT);
    wait(far, &["far"]);
    assert_eq!(json(&near)["run"]["state"], "interrupted");
    let Some(marked) = tshark(&capture, "frame.comment contains \"over its threshold\"") else {
        return;
    };
    assert_eq!(marked, 1);
    assert!(
        tshark(&capture, "eth.type == 0x88b5").expect("frames") > 64,
        "the warm-up too"
    );
}

#[test]
fn nobody_there_is_said_with_what_to_do() {
    if !root_or_skip("nobody_there_is_said_with_what_to_do") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let output = wait(begin(&namespace(), directory.path(), "v0", "--wait 500ms"), &["alone"]);
    assert_eq!(output.status.code(), Some(3));
    let said = stderr(&output);
    assert!(
        said.contains("nobody answered on v0 within 500 ms: start `triptime reflect IF` at the far end too"),
        "{said}"
    );
}

#[test]
fn receive_queues_that_af_xdp_does_not_see_are_said() {
    if !root_or_skip("receive_queues_that_af_xdp_does_not_see_are_said") {
        return;
    }
    let namespace = NetNs::create().expect("a namespace");
    let queues = ["numrxqueues", "2", "numtxqueues", "2"];
    let made = namespace.run(|| {
        let mut ip = Command::new("ip");
        ip.args(["link", "add", "q0"]).args(queues);
        ip.args(["type", "veth", "peer", "name", "q1"]).args(queues);
        let output = ip.output().expect("iproute2 is installed");
        assert!(output.status.success(), "{}", stderr(&output));
        for name in ["q0", "q1"] {
            sys::link::set_up(name)?;
        }
        Ok::<(), sys::SysError>(())
    });
    made.expect("a thread in it").expect("up");
    let directory = tempfile::tempdir().expect("a directory");
    let options = "--engine xdp --policy other --interval 1ms --duration 300ms --wait 20s";
    let ends = ["q0", "q1"].map(|interface| begin(&namespace, directory.path(), interface, options));
    for (end, interface) in ends.into_iter().zip(["q0", "q1"]) {
        let result = result(&wait(end, &[interface]));
        let doubt =
            format!("before measuring: {interface} has 2 receive queues, and an AF_XDP socket sees one of them");
        let said = texts(&result);
        assert!(said.iter().any(|text| text.starts_with(&doubt)), "{said:?}");
    }
}

/// Fields of a line of `/proc/PID/stat` after the name; user and system time in ticks of 10 ms are the 12th and 13th of them.
fn cpu_ms(child: &Child) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("the child lives");
    let behind = stat.rsplit_once(") ").expect("a name").1;
    let ticks = behind
        .split(' ')
        .skip(11)
        .take(2)
        .map(|word| word.parse::<u64>().expect("ticks"));
    10 * ticks.sum::<u64>()
}

#[test]
fn an_initiator_that_comes_first_waits_asleep() {
    if !root_or_skip("an_initiator_that_comes_first_waits_asleep") {
        return;
    }
    let namespace = namespace();
    let directory = tempfile::tempdir().expect("a directory");
    for engine in ["packet", "packet-xdp", "xdp"] {
        let end = |interface, more: &str| {
            let options = format!("--engine {engine} --interval 0 --policy fifo:60 {more}");
            begin(&namespace, directory.path(), interface, &options)
        };
        let near = end("v0", "--role initiator --cpu 0 --wait 20s --duration 500ms");
        std::thread::sleep(Duration::from_millis(1_500));
        // The start takes some CPU time; spinning would take all of it.
        assert!(cpu_ms(&near) < 750, "{engine}: {} ms", cpu_ms(&near));
        let far = end("v1", "--role reflector --cpu 1");
        let near = result(&wait(near, &["near"]));
        signal(&far, Signal::INT);
        let far = result(&wait(far, &["far"]));
        assert!(
            series(&near, "rtt/reflect")["received"].as_u64() > Some(1_000),
            "{engine}"
        );
        assert!(
            !texts(&far).iter().any(|text| text.contains("dropped")),
            "{engine}: {:?}",
            texts(&far)
        );
        for name in ["v0.triptime", "v1.triptime"] {
            std::fs::remove_file(directory.path().join(name)).expect("a run file");
        }
    }
}

#[test]
fn ends_in_different_vlans_do_not_measure() {
    if !root_or_skip("ends_in_different_vlans_do_not_measure") {
        return;
    }
    let namespace = namespace();
    for (near, far, says) in [
        (
            "--vlan 5:6",
            "",
            "answers frames of VLAN 5 with frames of no VLAN: give both ends the same --vlan",
        ),
        ("", "--vlan 5:6", "nobody answered on v0"),
        ("--vlan 5", "--vlan 6", "nobody answered on v0"),
    ] {
        let directory = tempfile::tempdir().expect("a directory");
        let end = |interface, more: String| begin(&namespace, directory.path(), interface, &more);
        let far = end("v1", format!("--role reflector --engine block {far}"));
        let near = end(
            "v0",
            format!("--role initiator --engine block --wait 1s --duration 1s {near}"),
        );
        let near = wait(near, &["near"]);
        signal(&far, Signal::INT);
        let far = wait(far, &["far"]);
        assert_eq!(near.status.code(), Some(3), "{}", stderr(&near));
        assert!(stderr(&near).contains(says), "{}", stderr(&near));
        assert_eq!(far.status.code(), Some(3), "{}", stderr(&far));
        assert!(
            stderr(&far).contains("ended before anything was measured"),
            "{}",
            stderr(&far)
        );
        assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 0);
    }
}

#[test]
fn an_end_that_nobody_asks_has_measured_nothing() {
    if !root_or_skip("an_end_that_nobody_asks_has_measured_nothing") {
        return;
    }
    let namespace = namespace();
    let directory = tempfile::tempdir().expect("a directory");
    let alone = begin(
        &namespace,
        directory.path(),
        "v0",
        "--role reflector --engine block --duration 300ms",
    );
    let alone = wait(alone, &["alone"]);
    assert_eq!(alone.status.code(), Some(3), "{}", stderr(&alone));
    assert!(
        stderr(&alone).contains("no traffic to measure arrived"),
        "{}",
        stderr(&alone)
    );
    let waiting = begin(&namespace, directory.path(), "v0", "--engine block");
    until_file(&directory.path().join("v0.triptime"));
    let waiting = end(waiting, &["waiting"]);
    assert_eq!(waiting.status.code(), Some(3), "{}", stderr(&waiting));
    assert!(
        stderr(&waiting).contains("ended before it found the other end on v0"),
        "{}",
        stderr(&waiting)
    );
}

#[test]
fn limits_are_judged_at_the_end_that_measures() {
    if !root_or_skip("limits_are_judged_at_the_end_that_measures") {
        return;
    }
    let namespace = namespace();
    let directory = tempfile::tempdir().expect("a directory");
    let end = |interface, role: &str| {
        let options = format!("--role {role} --engine block --interval 1ms --limits substation");
        begin(&namespace, directory.path(), interface, &options)
    };
    let far = end("v1", "reflector");
    let near = end("v0", "initiator --duration 500ms");
    let near = wait(near, &["near"]);
    signal(&far, Signal::INT);
    let far = wait(far, &["far"]);
    let profiles = |output: &Output| json(output)["profiles"].as_array().expect("profiles").len();
    assert_eq!(profiles(&near), 1, "{}", stderr(&near));
    // The far end was asked to judge, too, but did not: this is not a success.
    assert_eq!(far.status.code(), Some(3), "{}", stderr(&far));
    let document = json(&far);
    assert_eq!(
        (&document["verdict"], &document["coverage"]),
        (&"inconclusive".into(), &"none".into())
    );
    assert_eq!(profiles(&far), 1);
}
