//! `reflect --dialect l2reflect` against an independent model of DPDK's l2reflect (`peers/l2reflect.py`), and against itself.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use support::{json, namespace, root_or_skip, series, start, stderr, wait};
use sys::netns::NetNs;
use testing::Running;

/// The address of the last octet decides: this one leads against [`SMALL`].
const LARGE: [u8; 6] = [2, 0, 0, 0, 0, 0x20];
const SMALL: [u8; 6] = [0xfe, 0, 0, 0, 0, 0x10];

/// A namespace whose interface `v0` has the first address and `v1` the second.
fn stations(v0: [u8; 6], v1: [u8; 6]) -> NetNs {
    let namespace = namespace();
    let set = namespace.run(|| {
        sys::link::set_mac("v0", v0)?;
        sys::link::set_mac("v1", v1)
    });
    set.expect("a thread in it").expect("addresses");
    namespace
}

/// The model on `v1`.
fn model(namespace: &NetNs, options: &str) -> Running {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/l2reflect.py");
    let mut command = Command::new("python3");
    command.arg(script).arg("v1").args(options.split_whitespace());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    namespace
        .run(|| Running::start(&mut command))
        .expect("a thread in the namespace")
}

/// One end of ours on `interface`.
fn ours(namespace: &NetNs, directory: &Path, interface: &str, options: &str) -> Running {
    let out = directory.join(format!("{interface}.triptime"));
    let mut words = vec!["reflect", interface, "--json", "--quiet", "--disturb", "--out"];
    words.push(out.to_str().expect("UTF-8"));
    words.extend(options.split_whitespace());
    namespace.run(|| start(&words)).expect("a thread in the namespace")
}

const DIALECT: &str = "--dialect l2reflect --engine block --policy other";

/// A game between our end on `v0` and the model: our output and the model's object.
fn game(namespace: &NetNs, ours_options: &str, model_options: &str) -> (Output, Value) {
    let directory = tempfile::tempdir().expect("a directory");
    let far = model(namespace, model_options);
    let near = ours(namespace, directory.path(), "v0", &format!("{DIALECT} {ours_options}"));
    let near = wait(near, &[ours_options]);
    let far = wait(far, &[model_options]);
    assert!(far.status.success(), "{} {}", stderr(&far), stderr(&near));
    (near, json(&far))
}

fn texts(result: &Value) -> Vec<&str> {
    let events = result["events"].as_array().expect("events");
    events.iter().filter_map(|event| event["text"].as_str()).collect()
}

fn says(result: &Value, part: &str) -> bool {
    texts(result).iter().any(|text| text.contains(part))
}

fn count(result: &Value, name: &str) -> u64 {
    series(result, "rtt/reflect")[name].as_u64().expect("a count")
}

#[test]
fn either_end_of_the_game_can_be_l2reflect() {
    if !root_or_skip("either_end_of_the_game_can_be_l2reflect") {
        return;
    }
    for (v0, v1, serves) in [
        (LARGE, SMALL, "with fe:00:00:00:00:10; this end serves"),
        (SMALL, LARGE, "with 02:00:00:00:00:20; the far end serves"),
    ] {
        let namespace = stations(v0, v1);
        let (near, far) = game(&namespace, "--duration 1s", "");
        assert_eq!(near.status.code(), Some(0), "{}", stderr(&near));
        let result = json(&near);
        assert!(says(&result, serves), "{:?}", texts(&result));
        assert_eq!((&far["leads"], &far["over"]), (&(v1 == LARGE).into(), &"remote".into()));
        let rtt = series(&result, "rtt/reflect");
        assert_eq!(result["run"]["state"], "complete");
        assert_eq!((count(&result, "lost"), count(&result, "duplicate")), (0, 0), "{rtt}");
        // Both ends count the same rounds of one ball, apart from the warm-up and from the stroke that only one of them has received.
        let (received, rounds) = (count(&result, "received"), far["rounds"].as_u64().expect("rounds"));
        assert!(received > 100, "{rtt}");
        assert!((received + 41).abs_diff(rounds) <= 1, "{received} here, {far}");
        // One frame travels: every stroke of ours carries another mark.
        assert!(far["balls"].as_u64().expect("balls").abs_diff(rounds) <= 1, "{far}");
        // The figures are of one loop from its two ends: the sums of all round trips differ by one of them at most.
        let ours_ns = rtt["mean"].as_f64().expect("a mean") * received as f64;
        assert!(ours_ns < 1.5e9, "{rtt}");
    }
}

#[test]
fn a_quit_of_the_far_end_ends_this_end() {
    if !root_or_skip("a_quit_of_the_far_end_ends_this_end") {
        return;
    }
    let namespace = stations(LARGE, SMALL);
    let (near, far) = game(&namespace, "--duration 60s", "--rounds 500");
    assert_eq!(far["over"], "local");
    let result = json(&near);
    assert_eq!(result["run"]["state"], "interrupted");
    assert!(says(&result, "the far end quit after"), "{:?}", texts(&result));
    assert_eq!(count(&result, "lost"), 0);
    assert!((400..=500).contains(&count(&result, "received")));
}

#[test]
fn a_lost_ball_ends_the_game_and_is_counted() {
    if !root_or_skip("a_lost_ball_ends_the_game_and_is_counted") {
        return;
    }
    let namespace = stations(SMALL, LARGE);
    let (near, far) = game(&namespace, "--duration 60s --limits substation", "--drop-at 300");
    assert_eq!(far["over"], "remote", "our end gave up first, and said so");
    let result = json(&near);
    assert!(
        says(&result, "the frame did not come back within 1.00 s"),
        "{:?}",
        texts(&result)
    );
    assert_eq!(
        (count(&result, "lost"), &result["run"]["state"]),
        (1, &"interrupted".into())
    );
    assert_ne!(result["verdict"], "pass");
}

#[test]
fn a_ball_that_was_out_too_long_at_the_end_is_a_doubt() {
    if !root_or_skip("a_ball_that_was_out_too_long_at_the_end_is_a_doubt") {
        return;
    }
    let namespace = stations(SMALL, LARGE);
    let (near, _) = game(&namespace, "--duration 60s", "--hold-at 300");
    let result = json(&near);
    assert!(says(&result, "the frame had been out for"), "{:?}", texts(&result));
    let kinds: Vec<&str> = result["events"]
        .as_array()
        .expect("events")
        .iter()
        .filter_map(|event| event["kind"].as_str())
        .collect();
    assert!(kinds.contains(&"incomplete"), "{kinds:?}");
}

#[test]
fn a_reset_begins_again_and_keeps_the_figures() {
    if !root_or_skip("a_reset_begins_again_and_keeps_the_figures") {
        return;
    }
    let namespace = stations(LARGE, SMALL);
    let (near, far) = game(&namespace, "", "--reset-at 200 --rounds 300");
    assert_eq!(far["over"], "local");
    let result = json(&near);
    assert!(says(&result, "the far end reset its figures"), "{:?}", texts(&result));
    assert_eq!(
        texts(&result)
            .iter()
            .filter(|text| text.contains("this end serves"))
            .count(),
        2
    );
    // 200 and 300 rounds, less twice the warm-up.
    let received = count(&result, "received");
    assert!((400..=420).contains(&received), "{received}");
}

#[test]
fn a_doubled_ball_is_played_once() {
    if !root_or_skip("a_doubled_ball_is_played_once") {
        return;
    }
    let namespace = stations(SMALL, LARGE);
    let (near, far) = game(&namespace, "--duration 60s", "--double-at 200 --rounds 500");
    assert_eq!((&far["over"], &far["rounds"]), (&"local".into(), &500.into()));
    let result = json(&near);
    assert_eq!(count(&result, "duplicate"), 1);
    // Two balls in play would make strokes without marks of their own, and round trips that are too short.
    assert!(far["balls"].as_u64() >= Some(499), "{far}");
}

#[test]
fn both_ends_use_the_longer_frame() {
    if !root_or_skip("both_ends_use_the_longer_frame") {
        return;
    }
    let namespace = stations(LARGE, SMALL);
    let (near, _) = game(&namespace, "", "--rounds 100 --bytes 1000");
    let result = json(&near);
    assert!(
        says(&result, "frames of l2reflect, 996 octets without FCS"),
        "{:?}",
        texts(&result)
    );
    let (near, far) = game(&namespace, "--size 500", "--rounds 100");
    assert_eq!(near.status.code(), Some(0), "{}", stderr(&near));
    assert_eq!(far["bytes"], 504);
}

#[test]
fn two_ends_of_ours_play_over_every_engine() {
    if !root_or_skip("two_ends_of_ours_play_over_every_engine") {
        return;
    }
    let namespace = stations(LARGE, SMALL);
    for engine in ["packet", "block", "xdp", "packet-xdp"] {
        let directory = tempfile::tempdir().expect("a directory");
        let end = |interface, more: &str| {
            let options = format!("--dialect l2reflect --policy other --engine {engine} {more}");
            ours(&namespace, directory.path(), interface, &options)
        };
        let far = end("v1", "");
        let near = wait(end("v0", "--duration 500ms"), &[engine]);
        let far = wait(far, &[engine]);
        assert_eq!(
            (near.status.code(), far.status.code()),
            (Some(0), Some(0)),
            "{}",
            stderr(&near)
        );
        let (near, far) = (json(&near), json(&far));
        assert!(says(&near, "this end serves") && says(&far, "the far end serves"));
        assert!(count(&near, "received") > 100, "{engine}");
        assert!(
            count(&near, "received").abs_diff(count(&far, "received")) <= 1,
            "{engine}"
        );
    }
}

#[test]
fn the_other_dialect_is_recognised_and_impossible_settings_are_refused() {
    if !root_or_skip("the_other_dialect_is_recognised_and_impossible_settings_are_refused") {
        return;
    }
    let namespace = stations(LARGE, SMALL);
    let directory = tempfile::tempdir().expect("a directory");
    let mut far = model(&namespace, "");
    let near = wait(
        ours(&namespace, directory.path(), "v0", "--engine block --policy other"),
        &["own"],
    );
    assert_eq!(near.status.code(), Some(2), "{}", stderr(&near));
    assert!(
        stderr(&near)
            .contains("the far end fe:00:00:00:00:10 uses the frames of l2reflect: give this end --dialect l2reflect"),
        "{}",
        stderr(&near)
    );
    far.kill().expect("our own child");
    for (wrong, says) in [
        ("--role initiator", "leave out --role"),
        ("--interval 250us", "leave out --interval"),
        ("--frames 2", "leave out --frames"),
        ("--vlan 5", "leave out --vlan"),
        ("--stamps software", "leave out --stamps"),
    ] {
        let near = wait(
            ours(&namespace, directory.path(), "v0", &format!("{DIALECT} {wrong}")),
            &[wrong],
        );
        assert_eq!(near.status.code(), Some(2), "{wrong}: {}", stderr(&near));
        assert!(stderr(&near).contains(says), "{wrong}: {}", stderr(&near));
    }
    let alone = wait(
        ours(&namespace, directory.path(), "v0", &format!("{DIALECT} --wait 700ms")),
        &["alone"],
    );
    assert_eq!(alone.status.code(), Some(3));
    assert!(
        stderr(&alone).contains("no end with the frames of l2reflect answered on v0 within 700 ms"),
        "{}",
        stderr(&alone)
    );
}
