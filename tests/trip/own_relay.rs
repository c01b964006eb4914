//! Shots and type tests, played against our own relay over a pair of interfaces.

use serde_json::Value;
use std::path::Path;
use support::{end, json, namespace, signal, start, until_packet_socket, wait};

/// The result document and the page of a type test through a relay, both given as the text of a file. The relay sends `RLD0/LLN0$GO$gcbTrip`.
pub(crate) fn played(folder: &Path, name: &str, [relay, test]: [&str; 2], more: &[&str]) -> (Value, String) {
    let file = folder.join(format!("{name}-test.toml")).display().to_string();
    std::fs::write(&file, test).expect("a file");
    let shots = ["--type-test", &file, "--controls", "no-fault"];
    shot(folder, name, relay, &[&shots, more].concat())
}

/// The same of these shots.
pub(crate) fn shot(folder: &Path, name: &str, relay: &str, shots: &[&str]) -> (Value, String) {
    let path = |end: &str| folder.join(format!("{name}-{end}")).display().to_string();
    let file = path("relay.toml");
    std::fs::write(&file, relay).expect("a file");
    let (relay_run, run, page, namespace) = (
        path("relay.triptime"),
        path("test.triptime"),
        path("page.html"),
        namespace(),
    );
    let quiet = ["--quiet", "--no-flight-recorder", "--policy", "fifo:60"];
    let relay = [&["relay", &file, "v1", "--out", &relay_run], &quiet[..]].concat();
    let relay = namespace.run(|| start(&relay)).expect("entered");
    until_packet_socket(&relay);
    let tester = ["trip", "v0", "--goose", "RLD0/LLN0$GO$gcbTrip"];
    let output = ["--json", "--html", &page, "--out", &run];
    let tester = [&tester[..], &output, &quiet, shots].concat();
    let child = namespace.run(|| start(&tester)).expect("entered");
    let output = wait(child, &tester);
    signal(&relay, rustix::process::Signal::INT);
    end(relay, &["relay"]);
    (json(&output), std::fs::read_to_string(&page).expect("a page"))
}
