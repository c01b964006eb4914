//! GOOSE end to end: `publish --goose` and `subscribe` over a veth pair, and files that cannot be used.

use std::path::Path;
use std::process::Child;
use support::{json, namespace, root_or_skip, run, series, start, stderr, wait};
use sys::netns::NetNs;

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

fn start_in(namespace: &NetNs, arguments: &[&str]) -> Child {
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
        "--duration",
        "4s",
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
    let subscriber = start_in(&namespace, &subscribe);
    std::thread::sleep(std::time::Duration::from_millis(1_000));
    let publisher = wait(start_in(&namespace, &publish), &publish);
    let subscriber = wait(subscriber, &subscribe);
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
