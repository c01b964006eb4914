//! Every frame over both machines: recorded by the publisher on the far one and in this kernel, joined in one run.

use crate::machines::{FarEnd, Machines, alone, qualify, secret, words};
use crate::setting;
use rustix::process::Signal;
use serde_json::Value;
use store::RunFile;
use support::left::Before;
use support::{json, root_or_skip, run, series, stderr};

const STEP: &str = r#"
[[step]]
probe = "sampled-values"
duration = "2s"
streams = 2
rate = 4000
asdus = 1
trace = true
record = true
policy = "fifo:60"
"#;

fn count(series: &Value, name: &str) -> u64 {
    series[name].as_u64().unwrap_or_else(|| panic!("{name} in {series}"))
}

#[test]
fn one_command_has_the_way_of_every_frame_from_the_far_publisher_to_the_application() {
    let test = "one_command_has_the_way_of_every_frame_from_the_far_publisher_to_the_application";
    if !root_or_skip(test) {
        return;
    }
    let (_alone, before) = (alone(), Before::look());
    let directory = tempfile::tempdir().expect("a directory");
    let (machines, secret) = (Machines::new(), secret(directory.path(), "secret", "0123456789abcdef"));
    let out = directory.path().join("run.triptime");
    let far = FarEnd::start(&machines, &secret);
    let mut words = words(directory.path(), STEP, &secret, &out.display().to_string());
    words.extend(["--far-end", "test-set"].map(str::to_owned));
    let output = qualify(&machines, &words);
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{}", stderr(&output));
    far.until_said("has left");
    assert!(far.end(Signal::INT).status.success());
    drop(machines);
    before.nothing_is_left();
    let entries = std::fs::read_dir(directory.path()).expect("readable");
    let aside = entries.filter(|entry| {
        let name = entry.as_ref().expect("an entry").file_name();
        name.to_string_lossy().contains(".frames-")
    });
    assert_eq!(aside.count(), 0, "recordings of the ends are removed");

    let events = RunFile::open(&out).expect("a run").events().expect("events");
    if let Some(why) = events.iter().find(|event| event.text.contains("hops are not traced")) {
        return testing::skip(test, &why.text);
    }
    let document = json(&output);
    let sent = count(series(&document, "publish/lateness"), "received");
    let mut crossed = 0;
    for id in ["MU01", "MU02"] {
        let hop = |way: &str| series(&document, &format!("hop/{way}/{id}"));
        let (crossing, whole) = (hop("publisher.sent-to-host.nic"), hop("publisher.due-to-host.app"));
        crossed += count(crossing, "expected");
        assert!(count(crossing, "received") > 1_000, "{crossing}");
        assert!(count(whole, "received") > 1_000, "{whole}");
        // Both namespaces read one clock: no frame arrives before it is sent, and the whole way is the longer one.
        assert!(crossing["min"].as_i64() > Some(0), "{crossing}");
        assert!(whole["mean"].as_f64() > crossing["mean"].as_f64(), "{crossing} {whole}");
        // They are judged as one-way figures of two machines, whose clocks nobody stated to follow PTP.
        let uncertain = setting(crossing, "clock uncertainty (ns)").and_then(|ns| ns.parse::<u64>().ok());
        assert!(uncertain.is_some_and(|ns| ns > 0), "{crossing}");
        assert!(crossing["clock"].to_string().contains("not monitored"), "{crossing}");
        // The hops of this kernel stay series of their own.
        assert!(count(hop("nic-to-app"), "received") > 1_000);
    }
    assert_eq!(crossed, sent, "each frame that was sent is accounted for");
    let joined = |text: &str| text.starts_with("joined: merged publisher, host: ");
    assert!(events.iter().any(|event| joined(&event.text)), "{events:?}");
    let points = document["recording"]["points"].as_array().expect("a recording");
    let points: Vec<&str> = points.iter().filter_map(Value::as_str).collect();
    assert_eq!(
        points[..3],
        ["publisher.due", "publisher.sent", "host.nic"],
        "{points:?}"
    );
    assert_eq!(points.last(), Some(&"host.app"));
    let lines = run(&["export", &out.display().to_string(), "--format", "frames"]);
    let frames = String::from_utf8_lossy(&lines.stdout).lines().count() as u64;
    assert!(frames >= sent, "{frames} lines for {sent} frames: {}", stderr(&lines));
}
