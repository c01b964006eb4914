//! Faults of another injector: `triptime pcap --observe` and `triptime trip --observe` end to end.

#[path = "../../crates/observation/tests/common/mod.rs"]
mod injector;
mod live;
mod open61850;

use capture::write::PcapWriter;
use injector::{Fault, Injector, MS, RELAY, publisher};
use serde_json::Value;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::Output;
use support::{json, run, series, stderr};

/// Writes frames into a capture, in the order of their stamps.
fn write_capture(path: &Path, parts: &[&[(i64, Vec<u8>)]]) {
    let mut frames: Vec<&(i64, Vec<u8>)> = parts.iter().copied().flatten().collect();
    frames.sort_by_key(|(at, _)| *at);
    let mut writer = PcapWriter::new(BufWriter::new(File::create(path).expect("a file"))).expect("a capture");
    for (at_ns, octets) in frames {
        writer.write(*at_ns, octets).expect("a frame");
    }
    writer.finish().expect("written");
}

/// `pcap --observe` of this capture, with more words behind.
fn observed(capture: &Path, out: &Path, words: &str) -> Output {
    let mut all = vec!["pcap", capture.to_str().expect("UTF-8"), "--json", "--goose", RELAY];
    all.extend(words.split_whitespace());
    all.extend(["--out", out.to_str().expect("UTF-8")]);
    let output = run(&all);
    std::fs::remove_file(out).ok();
    output
}

/// Events of a result in which these words are.
fn events<'a>(document: &'a Value, words: &str) -> Vec<&'a str> {
    let events = document["events"].as_array().expect("events").iter();
    let texts = events.filter_map(|event| event["text"].as_str());
    texts.filter(|text| text.contains(words)).collect()
}

fn check<'a>(document: &'a Value, limit: &str) -> &'a Value {
    let checks = document["checks"].as_array().expect("checks");
    let found = checks.iter().find(|check| check["limit"] == limit);
    found.unwrap_or_else(|| panic!("{limit} in {checks:?}"))
}

/// Two faults, for which the relay trips after 17 and 19 ms.
fn two_faults() -> (Injector, Vec<(i64, Vec<u8>)>) {
    let fault = |from: u64| Fault {
        from,
        until: from + 500,
        times: 10.0,
        turned_deg: -60.0,
    };
    let injector = Injector {
        faults: vec![fault(5_001), fault(8_137)],
        ..Injector::default()
    };
    let at = |fault: usize, ms: i64| injector.taken_ns(injector.faults[fault].from) + ms * MS;
    let changes = [
        (at(0, 17), true),
        (at(0, 300), false),
        (at(1, 19), true),
        (at(1, 300), false),
    ];
    let relay = publisher(RELAY, &changes, injector.taken_ns(injector.samples));
    (injector, relay)
}

#[test]
fn a_capture_of_another_injector_is_timed_and_judged_with_the_uncertainty_of_its_starts() {
    let directory = tempfile::tempdir().expect("a directory");
    let (capture, out) = (
        directory.path().join("shots.pcap"),
        directory.path().join("out.triptime"),
    );
    let (injector, relay) = two_faults();
    write_capture(&capture, &[&injector.frames(), &relay]);
    for rule in ["above:1500A", "change:30%", "digital:8.3"] {
        let of = |more: &str| observed(&capture, &out, &format!("--observe {rule} --sv-id INJ01 {more}"));
        let output = of("--within 25ms");
        let document = json(&output);
        assert_eq!(output.status.code(), Some(0), "{rule}: {document}");
        let trips = series(&document, "trip/observed");
        let max = trips["max"].as_i64().expect("a time");
        assert!((max - 19 * MS).abs() < 208_333, "{rule}: {max}");
        assert_eq!(
            [&trips["received"], &trips["lost"], &trips["unwanted"]],
            [2, 0, 0],
            "{rule}: {trips}"
        );
        for limit in ["trip.within.observed", "trip.failures", "trip.false"] {
            assert_eq!(check(&document, limit)["verdict"], "pass", "{rule}: {limit}");
        }
        assert_eq!(
            events(&document, "fault from smpCnt 201 on").len(),
            1,
            "{rule}: {document}"
        );
        assert_eq!(of("--within 18ms").status.code(), Some(1), "{rule}");
        // The fault may have begun up to a sample earlier: then the trip took longer than that.
        let near = json(&of("--within 19100us"));
        let near = check(&near, "trip.within.observed");
        assert_eq!(near["verdict"], "inconclusive", "{rule}: {near}");
        assert!(
            near["why"].as_str().expect("a reason").contains("may have begun up to"),
            "{near}"
        );
    }
}

#[test]
fn without_a_fault_nothing_is_judged_and_what_was_lost_does_not_count() {
    let directory = tempfile::tempdir().expect("a directory");
    let (capture, out) = (
        directory.path().join("shots.pcap"),
        directory.path().join("out.triptime"),
    );
    let (mut injector, relay) = two_faults();
    let quiet = publisher(RELAY, &[], injector.taken_ns(injector.samples));
    // A relay that does not trip fails, and one that trips without a fault, too.
    write_capture(&capture, &[&injector.frames(), &quiet]);
    let failed = observed(&capture, &out, "--observe above:1500A --sv-id INJ01");
    assert_eq!(failed.status.code(), Some(1), "{}", stderr(&failed));
    assert_eq!(check(&json(&failed), "trip.failures")["measured"], 2);
    // A threshold that nothing reaches sees no fault: then trips are false ones.
    write_capture(&capture, &[&injector.frames(), &relay]);
    let high = observed(&capture, &out, "--observe above:90kA --sv-id INJ01");
    assert_eq!(check(&json(&high), "trip.false")["measured"], 2);
    write_capture(&capture, &[&injector.frames(), &quiet]);
    let high = observed(&capture, &out, "--observe above:90kA --sv-id INJ01");
    assert_eq!(high.status.code(), Some(3), "{}", stderr(&high));
    assert_eq!(events(&json(&high), "no fault was seen").len(), 1, "{}", json(&high));
    // Samples are missing before one of the two faults.
    injector.lost = vec![5_000];
    write_capture(&capture, &[&injector.frames(), &relay]);
    let lost = observed(&capture, &out, "--observe above:1500A --sv-id INJ01 --within 25ms");
    let document = json(&lost);
    assert_eq!(lost.status.code(), Some(3), "{document}");
    assert_eq!(series(&document, "trip/observed")["received"], 1);
    assert_eq!(
        events(&document, "1 samples right before the first faulted one never came").len(),
        1,
        "{document}"
    );
    // Nothing of that name is in the capture.
    let other = observed(&capture, &out, "--observe above:1500A --sv-id INJ02");
    assert_eq!(other.status.code(), Some(3));
    assert!(!events(&json(&other), "no sample of the stream came").is_empty());
}

#[test]
fn what_cannot_be_observed_is_refused() {
    for (words, why) in [
        ("pcap x --observe above:1500A", "--goose"),
        ("pcap x --observe nothing --goose x", "is no rule"),
        (
            "pcap x --observe above:1A --goose x --nominal-frequency 0",
            "10 to 100 Hz",
        ),
        ("pcap x --within 3ms", "--observe"),
        ("pcap x --decode --observe above:1A", "cannot be used"),
        ("trip lo --observe above:1A --goose x --shots 3", "cannot be used"),
        ("trip lo --observe above:1A --goose x --watch a,b", "cannot be used"),
        ("trip lo --observe above:1A --goose x --trip-member PTRC1.Tr", "--scl"),
    ] {
        let words: Vec<&str> = words.split_whitespace().collect();
        let output = run(&words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{words:?}: {}", stderr(&output));
    }
}
