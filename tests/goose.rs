//! GOOSE end to end: `publish --goose` and `subscribe` over a veth pair, and files that cannot be used.

use std::path::Path;
use support::{end, json, namespace, root_or_skip, run, series, start, stderr, until_thread, wait};
use sys::netns::NetNs;
use testing::Running;

const FILE: &str = r#"
[[goose]]
gocb_ref = "IED1LD0/LLN0$GO$gcbTrip"
dat_set = "IED1LD0/LLN0$dsTrip"
dst = "01:0c:cd:01:00:01"
appid = 1
vlan = 100
max_time = "100ms"
tal_factor = 1000
member = [{ name = "trip", type = "boolean" }, { name = "t", type = "timestamp" }]
change = [
    { at = "200ms", every = "500ms", set = { trip = true } },
    { at = "400ms", every = "500ms", set = { trip = false } },
]
"#;

fn in_directory(directory: &Path, name: &str) -> String {
    directory.join(name).to_str().expect("UTF-8").to_owned()
}

fn start_in(namespace: &NetNs, arguments: &[&str]) -> Running {
    namespace.run(|| start(arguments)).expect("a thread in the namespace")
}

#[test]
fn published_changes_are_received_and_timed() {
    if !root_or_skip("published_changes_are_received_and_timed") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let [file, sent, received] =
        ["trip.toml", "sent.triptime", "received.triptime"].map(|name| in_directory(directory.path(), name));
    std::fs::write(&file, FILE).expect("writable");
    let namespace = namespace();
    let subscribe = [
        "subscribe",
        "v1",
        "--clock",
        "same-host",
        "--policy",
        "other",
        "--json",
        "--out",
        &received,
    ];
    let publish = [
        "publish",
        "v0",
        "--goose",
        &file,
        "--streams",
        "1",
        "--policy",
        "other",
        "--duration",
        "1s",
        "--json",
        "--out",
        &sent,
    ];
    let mut subscriber = start_in(&namespace, &subscribe);
    until_thread(&mut subscriber, "subscribe");
    let publisher = wait(start_in(&namespace, &publish), &publish);
    let subscriber = end(subscriber, &subscribe);
    assert_eq!(publisher.status.code(), Some(0), "{}", stderr(&publisher));
    assert_eq!(subscriber.status.code(), Some(0), "{}", stderr(&subscriber));
    let (sent, received) = (json(&publisher), json(&subscriber));
    let messages = series(&sent, "publish/goose-lateness")["received"].as_u64();
    let spacing = series(&received, "goose/IED1LD0/LLN0$GO$gcbTrip");
    assert_eq!(spacing["received"].as_u64().map(|count| count + 1), messages);
    assert_eq!(
        (spacing["lost"].as_u64(), spacing["duplicate"].as_u64()),
        (Some(0), Some(0))
    );
    let transfer = series(&received, "goose-transfer/IED1LD0/LLN0$GO$gcbTrip");
    assert_eq!(transfer["received"], 4, "200, 400, 700 and 900 ms");
    assert!(series(&received, "spacing/MU01")["received"].as_u64() > Some(0));
}

const STATION: &str = include_str!("../crates/scl/tests/data/station.scd");

#[test]
fn control_blocks_of_an_scl_file_are_published_as_they_are_expected() {
    if !root_or_skip("control_blocks_of_an_scl_file_are_published_as_they_are_expected") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let [file, sent, received] =
        ["station.scd", "sent.triptime", "received.triptime"].map(|name| in_directory(directory.path(), name));
    // Slow enough for a machine that stalls.
    let station = STATION.replace("multiplier=\"m\">4</MinTime>", "multiplier=\"m\">200</MinTime>");
    assert_ne!(station, STATION);
    std::fs::write(&file, station).expect("writable");
    let namespace = namespace();
    let of_relay = ["--scl", &file, "--ied", "RELAY1", "--policy", "other", "--json"];
    let subscribe = [
        &["subscribe", "v1", "--goose-tal-factor", "20", "--out", &received],
        &of_relay[..],
    ]
    .concat();
    let publish = [
        &["publish", "v0", "--duration", "2s", "--goose-from-scl", "--out", &sent],
        &of_relay[..],
    ]
    .concat();
    let mut subscriber = start_in(&namespace, &subscribe);
    until_thread(&mut subscriber, "subscribe");
    let publisher = wait(start_in(&namespace, &publish), &publish);
    let subscriber = end(subscriber, &subscribe);
    assert_eq!(publisher.status.code(), Some(0), "{}", stderr(&publisher));
    assert_eq!(subscriber.status.code(), Some(0), "{}", stderr(&subscriber));
    let (sent, received) = (json(&publisher), json(&subscriber));
    let messages = series(&sent, "publish/goose-lateness")["received"].as_u64();
    assert_eq!(messages, Some(5), "at 0, 200, 400, 800 and 1600 ms");
    let spacing = series(&received, "goose/RELAY1PROT/LLN0$GO$gcbTrip");
    let counts = ["received", "lost", "late", "duplicate", "reordered"].map(|name| spacing[name].as_u64());
    assert_eq!(counts, [Some(4), Some(0), Some(0), Some(0), Some(0)], "{spacing}");
    let events = received["events"].as_array().expect("events");
    let texts: Vec<&str> = events
        .iter()
        .filter(|event| event["kind"] == "stream")
        .filter_map(|event| event["text"].as_str())
        .map(|text| text.split_once(": ").map_or(text, |(_, rest)| rest))
        .collect();
    assert_eq!(
        texts,
        ["first seen with stNum 1, sqNum 1", "0 changes of state, 4 repetitions"],
        "no finding"
    );
}

#[test]
fn scl_files_without_a_control_block_to_publish_are_refused() {
    let directory = tempfile::tempdir().expect("tempdir");
    let file = in_directory(directory.path(), "station.scd");
    std::fs::write(&file, STATION.replace(">4</MinTime>", ">4000</MinTime>")).expect("writable");
    for (ied, words) in [
        ("RELAY1", "MinTime 4000 ms and MaxTime 1000 ms are not possible"),
        ("MU01", "no GSEControl"),
    ] {
        let output = run(&["publish", "lo", "--scl", &file, "--ied", ied, "--goose-from-scl"]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(words), "no {words} in {}", stderr(&output));
    }
}

#[test]
fn a_file_that_cannot_be_used_is_named_with_its_line() {
    let directory = tempfile::tempdir().expect("tempdir");
    let file = in_directory(directory.path(), "trip.toml");
    for (from, to, words) in [
        (
            "trip = true",
            "trap = true",
            ["line 12", "no member \"trap\" (have: trip, t)"],
        ),
        ("max_time", "max_tim", ["line 8", "unknown field `max_tim`"]),
        ("01:0c:cd", "1:0c:cd", ["line 5", "1:0c:cd:01:00:01"]),
    ] {
        std::fs::write(&file, FILE.replace(from, to)).expect("writable");
        let output = run(&["publish", "lo", "--goose", &file]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        for word in ["trip.toml"].iter().chain(&words) {
            assert!(stderr(&output).contains(word), "no {word} in {}", stderr(&output));
        }
    }
    let missing = in_directory(directory.path(), "none.toml");
    let output = run(&["publish", "lo", "--goose", &missing]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("none.toml: No such file"),
        "{}",
        stderr(&output)
    );
}
