//! Sets of streams from files, published and expected by two processes, and the frames as read by tshark.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{end, json, namespace, root_or_skip, run, series, start, stderr, until_sent, wait};
use sys::netns::NetNs;
use testing::Running;

const SET: &str = r#"
[defaults]
profile = "F4800S2I4U4"
vlan = 100
confRev = 3

[[stream]]
svID = "BAY{01..02}"
appid = 0x4010
appid_step = 1

[[stream]]
svID = "WIDE"
profile = "6I3U"
dst = "01:0c:cd:04:01:00"
vlan = "none"
quality = "test"
smpSynch = 1
simulate = true
datSet = "WIDEMU/LLN0$Six"
"#;

fn station() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/scl/tests/data/station.scd")
}

fn begin(namespace: &NetNs, directory: &Path, words: &str) -> Running {
    let command = words.split(' ').next().unwrap_or_default();
    let out = directory.join(format!("{command}.triptime"));
    let out = out.to_str().expect("UTF-8");
    let mut all: Vec<&str> = words.split_whitespace().collect();
    all.extend([
        "--policy",
        "other",
        "--json",
        "--quiet",
        "--no-flight-recorder",
        "--out",
        out,
    ]);
    namespace.run(|| start(&all)).expect("a thread in the namespace")
}

/// A subscriber for one second while a publisher sends; the subscriber's result and capture.
fn pair(directory: &Path, publish: &str, subscribe: &str) -> (Value, PathBuf) {
    let namespace = namespace();
    let capture = directory.join("seen.pcapng");
    let far = begin(&namespace, directory, &format!("publish v0 {publish}"));
    until_sent(&far, "v0", 100);
    let options = format!("--duration 1s --capture-all --capture {}", capture.display());
    let near = begin(&namespace, directory, &format!("subscribe v1 {options} {subscribe}"));
    let near = wait(near, &["subscribe"]);
    let far = end(far, &["publish"]);
    assert_eq!(far.status.code(), Some(0), "{}", stderr(&far));
    assert_eq!(near.status.code(), Some(0), "{}", stderr(&near));
    (json(&near), capture)
}

/// The different combinations of the fields in the capture, sorted as text; `None` without tshark.
fn tshark(capture: &Path, fields: &[&str]) -> Option<Vec<String>> {
    let mut command = Command::new("tshark");
    command
        .arg("-r")
        .arg(capture)
        .args(["-Y", "sv", "-T", "fields", "-E", "separator=,", "-E", "occurrence=f"]);
    command.args(fields.iter().flat_map(|field| ["-e", field]));
    match command.output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", stderr(&output));
            let mut lines: Vec<String> = String::from_utf8_lossy(&output.stdout)
                .lines()
                .map(str::to_owned)
                .collect();
            lines.sort();
            lines.dedup();
            Some(lines)
        }
        Err(error) => {
            testing::skip("streams", &format!("tshark: {error}"));
            None
        }
    }
}

fn texts(result: &Value) -> Vec<&str> {
    let events = result["events"].as_array().expect("events");
    events.iter().filter_map(|event| event["text"].as_str()).collect()
}

fn received(result: &Value, name: &str) -> u64 {
    series(result, name)["received"].as_u64().expect("a count")
}

const FIELDS: [&str; 10] = [
    "eth.dst",
    "vlan.id",
    "vlan.priority",
    "sv.appid",
    "sv.noASDU",
    "sv.svID",
    "sv.datSet",
    "sv.confRev",
    "sv.smpSynch",
    "sv.smpRate",
];

#[test]
fn the_streams_of_a_toml_file() {
    if !root_or_skip("the_streams_of_a_toml_file") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let set = directory.path().join("set.toml");
    std::fs::write(&set, SET).expect("a file");
    let set = format!("--set {}", set.display());
    let (result, capture) = pair(directory.path(), &set, &format!("{set} --clock same-host"));
    for name in ["BAY01", "BAY02", "WIDE"] {
        assert!(received(&result, &format!("age/{name}")) > 1_000, "{name}");
    }
    let odd: Vec<&str> = texts(&result)
        .into_iter()
        .filter(|text| text.contains("expected"))
        .collect();
    assert_eq!(odd, Vec::<&str>::new());
    if let Some(seen) = tshark(&capture, &FIELDS) {
        assert_eq!(
            seen,
            [
                "01:0c:cd:04:00:01,100,4,0x4010,2,BAY01,,3,2,",
                "01:0c:cd:04:00:02,100,4,0x4011,2,BAY02,,3,2,",
                "01:0c:cd:04:01:00,,,0x4000,2,WIDE,WIDEMU/LLN0$Six,3,1,",
            ]
        );
    }
}

#[test]
fn the_streams_of_an_scl_file() {
    if !root_or_skip("the_streams_of_an_scl_file") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let scl = format!("--scl {}", station().display());
    let (result, capture) = pair(directory.path(), &format!("{scl} --ied MU01"), &scl);
    assert!(received(&result, "spacing/MU01_A") > 1_000);
    assert!(received(&result, "spacing/MU01_B") > 1_000);
    let gone = series(&result, "spacing/MU02_A");
    assert_eq!(gone["received"], 0);
    assert!(
        gone["lost"].as_u64().is_some_and(|lost| lost >= 3_900),
        "a second at 4000: {gone}"
    );
    let texts = texts(&result);
    let says = |part: &str| assert!(texts.iter().any(|text| text.contains(part)), "{part}: {texts:?}");
    says("MU02_A: never came in 1");
    says("MSVCB03 of IED MU01: it has no address");
    if let Some(seen) = tshark(&capture, &FIELDS) {
        assert_eq!(
            seen,
            [
                "01:0c:cd:04:00:11,100,5,0x4011,2,MU01_A,MU01MU/LLN0$PhsMeas1,7,2,4800",
                "01:0c:cd:04:00:12,0,4,0x4012,1,MU01_B,,1,2,",
            ]
        );
    }
}

#[test]
fn a_profile_by_name_and_a_stream_that_nobody_expects() {
    if !root_or_skip("a_profile_by_name_and_a_stream_that_nobody_expects") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let set = directory.path().join("one.toml");
    std::fs::write(
        &set,
        "[[stream]]\nsvID = \"MU01\"\nprofile = \"F4800S2I4U4\"\nconfRev = 2\n",
    )
    .expect("a file");
    let (result, _) = pair(
        directory.path(),
        "--streams 2 --profile F4000S1I6U3",
        &format!("--set {}", set.display()),
    );
    let texts = texts(&result);
    for said in [
        "MU01: confRev is 1, not 2 as expected",
        "MU01: 1 ASDUs in a frame, not 2 as expected",
        "MU01: seqData has 72 octets, not 64 as expected: the dataset is different",
        "MU02: is not among the expected streams; it is sent to 01:0c:cd:04:00:02, APPID 0x4000, without a tag",
    ] {
        assert!(texts.contains(&said), "{said}: {texts:?}");
    }
}

#[test]
fn what_cannot_be_is_refused_with_file_and_line() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    };
    let bad_set = file("bad.toml", "[[stream]]\nsvID = \"A\"\nprofile = \"F4800S7I4U4\"\n");
    let bad_scl = file("bad.scd", "<SCL>\n<IED>\n</SCL>");
    let empty = file("empty.cid", "<SCL/>");
    let station = station();
    let station = station.to_str().expect("UTF-8");
    for (arguments, parts) in [
        (
            vec!["--set", &bad_set],
            ["bad.toml: TOML parse error at line 3", "not divisible by 7"],
        ),
        (vec!["--set", "/nowhere.toml"], ["/nowhere.toml", "No such file"]),
        (vec!["--scl", &bad_scl], ["bad.scd: line 3", "not well-formed XML"]),
        (
            vec!["--scl", &empty],
            ["empty.cid: it has no SampledValueControl", "nothing to publish"],
        ),
        (
            vec!["--scl", station, "--ied", "MU9"],
            ["no IED MU9", "have: MU01, MU02, RELAY1"],
        ),
        (
            vec!["--set", &bad_set, "--rate", "4000"],
            ["--rate", "cannot be used with"],
        ),
        (
            vec!["--set", &bad_set, "--scl", station],
            ["--set", "cannot be used with"],
        ),
        (vec!["--profile", "F1"], ["--profile", "is not a profile"]),
        (
            vec!["--profile", "F4800S2I4U4", "--asdus", "2"],
            ["--asdus", "cannot be used with"],
        ),
    ] {
        let words = [vec!["publish", "lo", "--duration", "1s"], arguments].concat();
        let output = run(&words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", stderr(&output));
        for part in parts {
            assert!(stderr(&output).contains(part), "{words:?}: {}", stderr(&output));
        }
    }
}
