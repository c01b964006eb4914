//! A type test of a file, played against our own relay over a pair of interfaces.

use serde_json::Value;
use std::path::Path;
use support::{end, json, namespace, signal, start, until_packet_socket, wait};

/// The result document and the page of a test through a relay, both given as the text of a file. The relay sends `RLD0/LLN0$GO$gcbTrip`.
pub(crate) fn played(folder: &Path, name: &str, [relay, test]: [&str; 2], more: &[&str]) -> (Value, String) {
    let path = |end: &str| folder.join(format!("{name}-{end}")).display().to_string();
    let files = [("relay.toml", relay), ("test.toml", test)].map(|(end, text)| {
        std::fs::write(path(end), text).expect("a file");
        path(end)
    });
    let (relay_run, run, page, namespace) = (
        path("relay.triptime"),
        path("test.triptime"),
        path("page.html"),
        namespace(),
    );
    let quiet = ["--quiet", "--no-flight-recorder", "--policy", "fifo:60"];
    let relay = [&["relay", &files[0], "v1", "--out", &relay_run], &quiet[..]].concat();
    let relay = namespace.run(|| start(&relay)).expect("entered");
    until_packet_socket(&relay);
    let tester = [
        "trip",
        "v0",
        "--type-test",
        &files[1],
        "--goose",
        "RLD0/LLN0$GO$gcbTrip",
    ];
    let output = ["--controls", "no-fault", "--json", "--html", &page, "--out", &run];
    let tester = [&tester[..], &output, &quiet, more].concat();
    let child = namespace.run(|| start(&tester)).expect("entered");
    let output = wait(child, &tester);
    signal(&relay, rustix::process::Signal::INT);
    end(relay, &["relay"]);
    (json(&output), std::fs::read_to_string(&page).expect("a page"))
}
