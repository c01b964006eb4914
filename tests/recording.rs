//! Recordings end to end: recorded, killed, damaged, imported, reported.

use serde_json::Value;
use std::path::Path;
use support::{json, namespace, root_or_skip, run, start, stderr, until_thread, wait};
use sys::netns::NetNs;
use testing::Running;

fn begin(namespace: &NetNs, directory: &Path, name: &str, arguments: &str) -> (Running, String) {
    let out = directory.join(name).to_str().expect("UTF-8").to_owned();
    let mut words: Vec<&str> = arguments.split(' ').collect();
    words.extend(["--quiet", "--out", &out]);
    (namespace.run(|| start(&words)).expect("a thread in the namespace"), out)
}

fn report(out: &str) -> Value {
    let output = run(&["report", out, "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    json(&output)
}

fn count(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_else(|| panic!("{name} in {value}"))
}

/// SIGKILL loses at most the last second, which is not sealed.
#[test]
fn a_killed_recording_is_read_as_far_as_it_was_sealed() {
    if !root_or_skip("a_killed_recording_is_read_as_far_as_it_was_sealed") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let bed = namespace();
    let (mut subscriber, out) = begin(
        &bed,
        directory.path(),
        "sub.triptime",
        "subscribe v1 --rate 4800 --record --no-flight-recorder",
    );
    until_thread(&mut subscriber, "subscribe");
    let arguments = "publish v0 --streams 4 --policy other --duration 4500ms";
    let (publisher, _) = begin(&bed, directory.path(), "pub.triptime", arguments);
    let published = wait(publisher, &[arguments]);
    assert_eq!(published.status.code(), Some(0), "{}", stderr(&published));
    subscriber.kill().expect("SIGKILL");
    subscriber.wait().expect("ended");
    let recording = &report(&out)["recording"];
    let (segments, received) = (count(recording, "segments"), count(recording, "received"));
    assert!(segments >= 2, "{segments} sealed in 4.5 s");
    assert!(received >= 4 * 4_800, "{received} samples");
    assert_eq!(recording["streams"].as_array().map(Vec::len), Some(4));
}

/// A flipped bit loses one segment, which is named.
#[test]
fn a_damaged_recording_is_read_but_for_what_is_damaged() {
    if !root_or_skip("a_damaged_recording_is_read_but_for_what_is_damaged") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let bed = namespace();
    let arguments = "subscribe v1 --rate 4800 --record --duration 5s";
    let (subscriber, out) = begin(&bed, directory.path(), "sub.triptime", arguments);
    let publishing = "publish v0 --streams 2 --policy other --duration 4s";
    let (publisher, _) = begin(&bed, directory.path(), "pub.triptime", publishing);
    let ended = wait(subscriber, &[arguments]);
    assert_eq!(ended.status.code(), Some(0), "{}", stderr(&ended));
    wait(publisher, &[publishing]);
    let whole = &report(&out)["recording"];
    let (segments, received) = (count(whole, "segments"), count(whole, "received"));
    assert!(segments >= 2, "{segments} sealed in 4 s");
    damage_one_segment(Path::new(&out));
    let damaged = &report(&out)["recording"];
    assert_eq!(
        (count(damaged, "unreadable"), count(damaged, "segments")),
        (1, segments - 1)
    );
    assert!(count(damaged, "received") < received && count(damaged, "received") > 0);
    let why = damaged["reasons"][0].as_str().expect("a reason");
    assert!(why.contains("segment 1: its checksum is wrong"), "{why}");
}

/// Flips a bit in the middle of the first segment, as a failing disk would.
fn damage_one_segment(file: &Path) {
    let mut first = Vec::new();
    let run = store::RunFile::open(file).expect("a run");
    run.each_segment(|segment| {
        if first.is_empty() {
            first = segment.expect("readable").to_vec();
        }
    })
    .expect("readable");
    drop(run);
    let mut octets = std::fs::read(file).expect("a closed file");
    // Finds a piece in the middle that is not divided by a page boundary.
    let mut pieces = first[first.len() / 2..].windows(64).step_by(64);
    let find = |piece: &[u8]| octets.windows(64).position(|window| window == piece);
    let at = pieces.find_map(find).expect("the segment in the file");
    octets[at] ^= 0x10;
    std::fs::write(file, octets).expect("written");
}

#[test]
fn logger_files_are_paired_and_judged() {
    let directory = tempfile::tempdir().expect("tempdir");
    let path = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    let (sent, came, out) = (path("pub.txt"), path("sub.txt"), path("run.triptime"));
    let line = |sample: i64, delay: i64| {
        let (pass, count, at) = (
            sample / 4_000,
            sample % 4_000,
            1_790_000_000_000_000 + sample * 250 + delay,
        );
        format!("{pass}:svID0000:{count}:{at}\n")
    };
    std::fs::write(&sent, (0..20_000).map(|sample| line(sample, 0)).collect::<String>()).expect("written");
    let late = |sample: i64| if sample == 7_777 { 120 } else { 40 };
    let came_text: String = (0..20_000)
        .filter(|sample| *sample != 4_000)
        .map(|sample| line(sample, late(sample)))
        .collect();
    std::fs::write(&came, came_text).expect("written");
    let limits = path("limits.toml");
    std::fs::write(
        &limits,
        "name = \"lab\"\nwhat = \"a test\"\n\n[[limit]]\nid = \"latency.max\"\nseries = \"latency/*\"\nquantity = \"max\"\nallowed = \"100us\"\nsource = \"SEAPATH\"\n",
    )
    .expect("written");
    let output = run(&[
        "import",
        &came,
        "--publisher",
        &sent,
        "--clock",
        "same-host",
        "--limits",
        &limits,
        "--out",
        &out,
        "--json",
    ]);
    assert_eq!(
        output.status.code(),
        Some(1),
        "one sample took 120 us: {}",
        stderr(&output)
    );
    let document = json(&output);
    let recording = &document["recording"];
    assert_eq!((count(recording, "received"), count(recording, "lost")), (19_999, 1));
    let worst = &recording["latencies"][0]["worst"][0];
    assert_eq!(
        (count(worst, "value"), count(worst, "sample"), count(worst, "smpCnt")),
        (120_000, 7_777, 3_777)
    );

    // 120 us is 20 us over the limit: with clocks that agree only to 25 us, this proves nothing.
    let (uncertain, html) = (path("uncertain.triptime"), path("report.html"));
    let output = run(&[
        "import",
        &came,
        "--publisher",
        &sent,
        "--clock",
        "synchronised",
        "--uncertainty",
        "25us",
        "--limits",
        &limits,
        "--out",
        &uncertain,
        "--html",
        &html,
        "--json",
    ]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let why = json(&output)["checks"][0]["why"].as_str().expect("a reason").to_owned();
    assert!(
        why.contains("closer to the limit than its uncertainty of 26.0 µs"),
        "{why}"
    );
    let page = std::fs::read_to_string(&html).expect("a report");
    assert!(
        page.contains("publisher -&gt; subscriber") || page.contains("publisher -&#62; subscriber"),
        "the recording's section"
    );

    let unstated = path("unstated.triptime");
    let output = run(&[
        "import",
        &came,
        "--publisher",
        &sent,
        "--limits",
        &limits,
        "--out",
        &unstated,
        "--json",
    ]);
    assert_eq!(
        output.status.code(),
        Some(3),
        "clocks of no stated relation judge nothing: {}",
        stderr(&output)
    );
}

#[test]
fn svtrace_files_are_one_series() {
    let directory = tempfile::tempdir().expect("tempdir");
    let path = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    let (file, out) = (path("hyp.record"), path("run.triptime"));
    std::fs::write(&file, "20\n".repeat(5_000) + "35\n").expect("written");
    let output = run(&["import", &file, "--out", &out, "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let document = json(&output);
    let series = support::series(&document, "hop/svtrace");
    assert_eq!((count(series, "received"), count(series, "max")), (5_001, 35_999));
    // Shipped profiles judge the transit through the host. How many frames were lost is not known: no file passes.
    for (worst, code, verdict) in [("35", 3, "inconclusive"), ("150", 1, "fail")] {
        std::fs::write(&file, "20\n".repeat(5_000) + worst + "\n").expect("written");
        for profile in ["substation", "seapath"] {
            let again = path(&format!("{profile}-{worst}.triptime"));
            let output = run(&["import", &file, "--limits", profile, "--out", &again, "--json"]);
            assert_eq!(output.status.code(), Some(code), "{profile}: {}", stderr(&output));
            let document = json(&output);
            let checks = document["checks"].as_array().expect("checks");
            let transit = checks
                .iter()
                .find(|check| check["limit"] == "transit.max" && check["series"] == "hop/svtrace");
            let transit = transit.unwrap_or_else(|| panic!("{profile}: {checks:?}"));
            assert_eq!(transit["verdict"], verdict, "{profile}: {transit}");
        }
    }
}
