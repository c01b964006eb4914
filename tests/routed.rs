//! R-GOOSE and R-SV from a publisher to a subscriber, and a trip over UDP, with signatures and without; judged by tshark and by Python's `hmac`.

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use support::feeder::RELAY;
use support::{end, json, namespace, root_or_skip, series, start, stderr, until_sent, until_thread, wait};
use sys::netns::NetNs;
use testing::Running;

/// A control block beside the streams.
const GOOSE: &str = r#"
[[goose]]
gocb_ref = "IED1LD0/LLN0$GO$gcbTrip"
dat_set = "IED1LD0/LLN0$dsTrip"
dst = "01:0c:cd:01:00:01"
appid = 1
vlan = 100
max_time = "100ms"
tal_factor = 1000
member = [{ name = "trip", type = "boolean" }]
"#;

const SECRET: &str = "000102030405060708090a0b0c0d0e0f";

/// Python, which finds the signature of each datagram on standard input, a line of hexadecimal digits each, and prints how many are right.
const CHECK: &str = "
import hmac, hashlib, struct, sys
key, octets = bytes.fromhex(sys.argv[1]), int(sys.argv[2])
right = 0
for line in sys.stdin:
    session = bytes.fromhex(line.strip())
    assert session[:2] == b'\\x01\\x40' and struct.unpack('>I', session[22:26])[0] == 7, session.hex()
    vector = session[26]
    begin = 27 + vector + 4
    end = begin + struct.unpack('>I', session[27 + vector:begin])[0]
    assert session[end] == 0x85, session.hex()
    wanted = hmac.new(key, session[:end], hashlib.sha256).digest()[:octets]
    right += session[end + 2:] == wanted
print(right)
";

fn begin(namespace: &NetNs, directory: &Path, words: &str) -> Running {
    let command = words.split(' ').next().unwrap_or_default();
    // A test starts a command more than once.
    static STARTED: AtomicU32 = AtomicU32::new(0);
    let number = STARTED.fetch_add(1, Ordering::Relaxed);
    let out = directory.join(format!("{command}{number}.triptime"));
    let mut all: Vec<&str> = words.split_whitespace().collect();
    let policy = match command {
        "trip" => "fifo:60",
        _ => "other",
    };
    all.extend(["--policy", policy, "--json", "--quiet", "--no-flight-recorder"]);
    all.extend(["--out", out.to_str().expect("UTF-8")]);
    namespace.run(|| start(&all)).expect("a thread in the namespace")
}

fn keys(directory: &Path, name: &str, algorithm: &str, hex: &str) -> String {
    let path = directory.join(name);
    let text = format!("[[key]]\nid = 7\nalgorithm = \"{algorithm}\"\nhex = \"{hex}\"\n");
    std::fs::write(&path, text).expect("a file");
    path.display().to_string()
}

/// Results of a subscriber with these options while a publisher with those sends streams and GOOSE, and the publisher's.
fn seen(namespace: &NetNs, directory: &Path, publish: &str, subscribe: &str) -> (Value, Value) {
    let goose = directory.join("goose.toml");
    std::fs::write(&goose, GOOSE).expect("a file");
    let words = format!(
        "publish v0 --routed 239.192.0.1 --source-ip 10.9.0.1 --streams 2 --goose {} {publish}",
        goose.display()
    );
    let far = begin(namespace, directory, &words);
    until_sent(&far, "v0", 200);
    let mut near = begin(
        namespace,
        directory,
        &format!("subscribe v1 --routed 239.192.0.1 --duration 2s {subscribe}"),
    );
    until_thread(&mut near, "subscribe");
    let near = wait(near, &["subscribe"]);
    let far = end(far, &["publish"]);
    assert_eq!(far.status.code(), Some(0), "{}", stderr(&far));
    (json(&near), json(&far))
}

fn count(document: &Value, name: &str, counter: &str) -> u64 {
    series(document, name)[counter].as_u64().expect("a number")
}

fn tshark(capture: &Path, arguments: &[&str]) -> Vec<String> {
    let output = Command::new("tshark")
        .arg("-r")
        .arg(capture)
        .args(arguments)
        .output()
        .expect("tshark");
    assert!(output.status.success(), "{}", stderr(&output));
    String::from_utf8(output.stdout)
        .expect("UTF-8")
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
fn streams_and_goose_arrive_over_udp_and_tshark_reads_them() {
    if !root_or_skip("streams_and_goose_arrive_over_udp_and_tshark_reads_them") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let capture = directory.path().join("seen.pcapng");
    let subscribe = format!("--capture-all --capture {}", capture.display());
    let (near, far) = seen(&namespace(), directory.path(), "--ttl 5 --dscp 34", &subscribe);
    for stream in ["spacing/MU01", "spacing/MU02"] {
        assert!(count(&near, stream, "received") > 1_000, "{near}");
        assert_eq!(
            (count(&near, stream, "duplicate"), count(&near, stream, "reordered")),
            (0, 0),
            "{near}"
        );
    }
    let lost: u64 = ["spacing/MU01", "spacing/MU02"]
        .map(|stream| count(&near, stream, "lost"))
        .iter()
        .sum();
    let missed = count(&far, "publish/lateness", "missed") + count(&far, "publish/lateness", "lost");
    assert!(lost <= missed, "{lost} lost, {missed} not sent: {near}");
    assert!(count(&near, "goose/IED1LD0/LLN0$GO$gcbTrip", "received") > 5, "{near}");
    let fields = [
        "-Y",
        "r-goose",
        "-T",
        "fields",
        "-e",
        "ip.dst",
        "-e",
        "ip.src",
        "-e",
        "ip.ttl",
        "-e",
        "ip.dsfield.dscp",
    ];
    let more = [
        "-e",
        "udp.dstport",
        "-e",
        "ip.checksum.status",
        "-e",
        "eth.dst",
        "-e",
        "goose.gocbRef",
        "-e",
        "rgoose.key_id",
    ];
    let rows = tshark(
        &capture,
        &[&["-o", "ip.check_checksum:TRUE"], &fields[..], &more].concat(),
    );
    assert!(rows.len() > 5, "tshark reads GOOSE: {rows:?}");
    let wanted = "239.192.0.1\t10.9.0.1\t5\t34\t102\t1\t01:00:5e:40:00:01\tIED1LD0/LLN0$GO$gcbTrip\t0x00000000";
    assert!(rows.iter().all(|row| row == wanted), "{rows:?}");
    let broken = tshark(&capture, &["-Y", "_ws.malformed || ip.checksum.status == 0"]);
    assert!(broken.is_empty(), "{broken:?}");
}

#[test]
fn signatures_are_those_of_another_implementation_and_a_wrong_key_uses_nothing() {
    if !root_or_skip("signatures_are_those_of_another_implementation_and_a_wrong_key_uses_nothing") {
        return;
    }
    let namespace = namespace();
    for (algorithm, octets) in [
        ("hmac-sha256-80", "10"),
        ("hmac-sha256-128", "16"),
        ("hmac-sha256-256", "32"),
    ] {
        let directory = tempfile::tempdir().expect("a directory");
        let capture = directory.path().join("seen.pcapng");
        let right = keys(directory.path(), "right.toml", algorithm, SECRET);
        let subscribe = format!("--key {right} --capture-all --capture {}", capture.display());
        let (near, _) = seen(&namespace, directory.path(), &format!("--sign {right}"), &subscribe);
        assert!(count(&near, "spacing/MU01", "received") > 1_000, "{near}");
        assert!(count(&near, "goose/IED1LD0/LLN0$GO$gcbTrip", "received") > 5, "{near}");
        assert!(!near["events"].to_string().contains("sign"), "{}", near["events"]);
        let payloads = tshark(
            &capture,
            &[
                "-Y",
                "udp.port == 102",
                "-T",
                "fields",
                "-e",
                "udp.payload",
                "-c",
                "3000",
            ],
        );
        assert!(payloads.len() > 1_000);
        let input = directory.path().join("payloads");
        std::fs::write(&input, payloads.join("\n")).expect("a file");
        let python = Command::new("python3")
            .args(["-c", CHECK, SECRET, octets])
            .stdin(std::fs::File::open(&input).expect("the file"))
            .output()
            .expect("python3");
        let said = String::from_utf8_lossy(&python.stdout);
        assert_eq!(said.trim(), payloads.len().to_string(), "{}", stderr(&python));
    }
}

#[test]
fn a_wrong_signature_is_a_doubt_of_the_stream_that_it_names_and_no_other() {
    if !root_or_skip("a_wrong_signature_is_a_doubt_of_the_stream_that_it_names_and_no_other") {
        return;
    }
    let (namespace, directory) = (namespace(), tempfile::tempdir().expect("a directory"));
    let [right, wrong] = [
        ("right.toml", SECRET),
        ("wrong.toml", "ff0102030405060708090a0b0c0d0e0f"),
    ]
    .map(|(name, hex)| keys(directory.path(), name, "hmac-sha256-128", hex));
    // The genuine publisher has both streams, the other one only the first.
    let forge = |options: &str| {
        let other = tempfile::tempdir().expect("a directory");
        let words = format!("publish v0 --routed 239.192.0.1 --source-ip 10.9.0.9 --streams 1 {options}");
        let forger = begin(&namespace, other.path(), &words);
        (forger, other)
    };
    for (options, words) in [
        (format!("--sign {wrong}"), "have a wrong signature: not used"),
        (String::new(), "are not signed, though a key was given: not used"),
    ] {
        let (forger, _kept) = forge(&options);
        let sign = format!("--sign {right}");
        let (near, _) = seen(&namespace, directory.path(), &sign, &format!("--key {right}"));
        let _ = end(forger, &["publish"]);
        let events = near["events"].as_array().expect("events").iter();
        let told: Vec<&Value> = events
            .filter(|event| event["text"].as_str().is_some_and(|text| text.contains(words)))
            .collect();
        assert!(!told.is_empty(), "{words}: {}", near["events"]);
        assert!(told.iter().all(|event| event["series"] == "spacing/MU01"), "{told:?}");
        assert!(told.iter().all(|event| event["kind"] == "stream-doubt"), "{told:?}");
        for name in ["spacing/MU01", "spacing/MU02"] {
            assert!(count(&near, name, "received") > 1_000, "{name}: {near}");
            assert_eq!(
                count(&near, name, "duplicate") + count(&near, name, "conflicting"),
                0,
                "{name}: {near}"
            );
        }
    }
}

#[test]
fn without_a_key_a_signature_is_named_and_with_another_key_nothing_is_measured() {
    if !root_or_skip("without_a_key_a_signature_is_named_and_with_another_key_nothing_is_measured") {
        return;
    }
    let (namespace, directory) = (namespace(), tempfile::tempdir().expect("a directory"));
    let [right, wrong] = [
        ("right.toml", SECRET),
        ("wrong.toml", "ff0102030405060708090a0b0c0d0e0f"),
    ]
    .map(|(name, hex)| keys(directory.path(), name, "hmac-sha256-128", hex));
    let (near, _) = seen(&namespace, directory.path(), &format!("--sign {right}"), "");
    for name in ["spacing/MU01", "spacing/MU02", "goose/IED1LD0/LLN0$GO$gcbTrip"] {
        assert!(count(&near, name, "received") > 5, "{name}: {near}");
        let mut events = near["events"].as_array().expect("events").iter();
        let is_told = |event: &Value| {
            event["series"] == name
                && event["text"]
                    .as_str()
                    .is_some_and(|text| text.contains("are signed, not checked"))
        };
        assert!(events.any(is_told), "{name}: {}", near["events"]);
    }
    let words = format!("publish v0 --routed 239.192.0.1 --source-ip 10.9.0.1 --streams 1 --sign {right}");
    let far = begin(&namespace, directory.path(), &words);
    until_sent(&far, "v0", 200);
    let words = format!("subscribe v1 --routed 239.192.0.1 --duration 1s --key {wrong}");
    let near = wait(begin(&namespace, directory.path(), &words), &["subscribe"]);
    let _ = end(far, &["publish"]);
    assert_eq!(near.status.code(), Some(3), "{}", stderr(&near));
    assert!(stderr(&near).contains("none was used"), "{}", stderr(&near));
}

#[test]
fn with_a_key_frames_of_layer_2_are_not_used() {
    if !root_or_skip("with_a_key_frames_of_layer_2_are_not_used") {
        return;
    }
    let (namespace, directory) = (namespace(), tempfile::tempdir().expect("a directory"));
    let right = keys(directory.path(), "right.toml", "hmac-sha256-128", SECRET);
    let far = begin(&namespace, directory.path(), "publish v0 --streams 1");
    until_sent(&far, "v0", 200);
    let heard = |key: &str| {
        let words = format!("subscribe v1 --routed 239.192.0.1 --duration 1s {key}");
        wait(begin(&namespace, directory.path(), &words), &["subscribe"])
    };
    let (plain, keyed) = (heard(""), heard(&format!("--key {right}")));
    let _ = end(far, &["publish"]);
    assert!(count(&json(&plain), "spacing/MU01", "received") > 100);
    assert_eq!(keyed.status.code(), Some(3), "{}", stderr(&keyed));
    assert!(stderr(&keyed).contains("none was used"), "{}", stderr(&keyed));
}

#[test]
fn a_trip_comes_over_udp_signed_and_plain() {
    if !root_or_skip("a_trip_comes_over_udp_signed_and_plain") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let right = keys(directory.path(), "right.toml", "hmac-sha256-256", SECRET);
    for options in [String::new(), format!("--sign {right} --key {right}")] {
        let namespace = namespace();
        let mut relay = begin(
            &namespace,
            directory.path(),
            &format!("relay {RELAY} v1 --routed 239.192.0.1 --source-ip 10.9.0.2 --clock same-host {options}"),
        );
        until_thread(&mut relay, "relay");
        let shots = format!(
            "trip v0 --routed 239.192.0.1 --source-ip 10.9.0.1 --scenario overcurrent --profile F4000S1I4U4 --shots 5 --controls no-fault \
             --goose F1LD0/LLN0$GO$gcbTrip --settle 300ms {options}"
        );
        let trip = wait(begin(&namespace, directory.path(), &shots), &["trip"]);
        let _ = end(relay, &["relay"]);
        let document = json(&trip);
        let trips = series(&document, "trip/overcurrent");
        // Not every shot counts on a machine with stalls.
        assert!(trips["received"].as_u64() >= Some(1), "{options}: {document}");
        assert_eq!(
            (&trips["lost"], &trips["unwanted"]),
            (&0.into(), &0.into()),
            "{options}: {document}"
        );
    }
}
