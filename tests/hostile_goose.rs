//! `triptime trip --peer`: attacks under the name of a device whose GOOSE the relay uses.

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use support::{json, namespace, root_or_skip, start, stderr, until_packet_socket, wait};
use sys::netns::NetNs;
use testing::Running;

const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/peer.toml");
const MIRROR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/mirror.toml");
const FOREIGN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/libiec61850_relay.py");

/// Status and JSON of a test of the relay with this control block, with these attacks.
fn attacked(namespace: &NetNs, folder: &Path, goose: &str, cases: &[&str]) -> (Option<i32>, Value) {
    let out = folder.join("trip.triptime").display().to_string();
    let words = [
        "trip", "v0", "--peer", PEER, "--goose", goose, "--shots", "1", "--settle", "200ms", "--policy", "fifo:50",
        "--json", "--quiet", "--out", &out,
    ];
    let words: Vec<&str> = words.iter().chain(cases).copied().collect();
    let trip = namespace.run(|| start(&words)).expect("a thread in the namespace");
    let output = wait(trip, &words);
    assert!(matches!(output.status.code(), Some(0..=3)), "{}", stderr(&output));
    (output.status.code(), json(&output))
}

/// Counters of a series; of one whose shots were all spoiled, nothing.
fn count(document: &Value, name: &str, counter: &str) -> u64 {
    let series = document["series"].as_array().expect("series");
    let found = series.iter().find(|series| series["name"] == name);
    found.map_or(0, |series| series[counter].as_u64().expect(counter))
}

fn all_faults(document: &Value) -> Vec<String> {
    let series = document["series"].as_array().expect("series");
    let is_wrong = |series: &&Value| series["unwanted"].as_u64() > Some(0) || series["lost"].as_u64() > Some(0);
    let of_relay = |series: &&Value| series["name"].as_str().is_some_and(|name| name.contains("/goose/"));
    let wrong = series.iter().filter(of_relay).filter(is_wrong);
    wrong
        .map(|series| format!("{} {} {}", series["name"], series["lost"], series["unwanted"]))
        .collect()
}

#[test]
fn our_relay_withstands_every_attack() {
    let test = "our_relay_withstands_every_attack";
    if !root_or_skip(test) {
        return;
    }
    let (namespace, folder) = (namespace(), tempfile::tempdir().expect("a folder"));
    let out = folder.path().join("relay.triptime").display().to_string();
    let relay = ["relay", MIRROR, "v1", "--quiet", "--out", &out];
    let relay = namespace.run(|| start(&relay)).expect("a thread in the namespace");
    until_packet_socket(&relay);
    let (_, document) = attacked(&namespace, folder.path(), "MIRRORLD0/LLN0$GO$gcbPong", &[]);
    assert_eq!(all_faults(&document), Vec::<String>::new());
    let tried = document["series"].as_array().expect("series").iter();
    let attacks = tried.filter(|series| {
        series["name"]
            .as_str()
            .is_some_and(|name| name.starts_with("security/goose/"))
    });
    assert_eq!(attacks.count(), 10, "honest shots and nine attacks that are judged");
    assert!(
        count(&document, "trip/goose/honest-trip", "received") + count(&document, "trip/goose/storm-after", "received")
            > 0
    );
}

#[test]
fn a_relay_on_libiec61850_takes_what_is_replayed() {
    let test = "a_relay_on_libiec61850_takes_what_is_replayed";
    let Some(python) = testing::python(test).filter(|_| root_or_skip(test)) else {
        return;
    };
    let (namespace, folder) = (namespace(), tempfile::tempdir().expect("a folder"));
    let mut command = Command::new(python);
    command
        .args([FOREIGN, "v1", "TRIPTIMELD0/LLN0$GO$gcbPing", "9"])
        .stdout(Stdio::piped());
    let mut foreign = namespace
        .run(|| Running::start(&mut command))
        .expect("a thread in the namespace");
    let said = BufReader::new(foreign.stdout.take().expect("piped"));
    assert!(
        said.lines().map_while(Result::ok).any(|line| line == "ready"),
        "it ended"
    );
    let cases = ["--hostile-goose", "replayed,test,padded"];
    let (status, document) = attacked(&namespace, folder.path(), "IED3LD0/LLN0$GO$gcbTrip", &cases);
    assert_ne!(status, Some(0), "{document:#}");
    for attack in ["security/goose/replayed", "security/goose/test"] {
        assert!(count(&document, attack, "unwanted") > 0, "{attack}");
    }
    for honest in ["security/goose/honest", "security/goose/padded"] {
        assert_eq!(count(&document, honest, "unwanted"), 0, "{honest}");
    }
}
