//! R-GOOSE and R-SV from a publisher to a subscriber, and a trip over UDP, with signatures and without; judged by tshark and by Python's `hmac`.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
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

/// A publisher that starts again counts from 0, as a recording of it does; one that goes on is no doubt.
#[test]
fn datagrams_with_numbers_that_were_left_behind_are_a_doubt() {
    if !root_or_skip("datagrams_with_numbers_that_were_left_behind_are_a_doubt") {
        return;
    }
    let (namespace, directory) = (namespace(), tempfile::tempdir().expect("a directory"));
    let key = keys(directory.path(), "key.toml", "hmac-sha256-128", SECRET);
    for (publishers, is_doubt) in [(1, false), (2, true)] {
        let subscribe = format!("subscribe v1 --routed 239.192.0.1 --duration 7s --key {key}");
        let mut near = begin(&namespace, directory.path(), &subscribe);
        until_thread(&mut near, "subscribe");
        for _ in 0..publishers {
            let words = format!(
                "publish v0 --routed 239.192.0.1 --source-ip 10.9.0.1 --streams 1 --duration 1500ms --sign {key}"
            );
            let output = wait(begin(&namespace, directory.path(), &words), &["publish"]);
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        }
        let document = json(&wait(near, &["subscribe"]));
        assert!(count(&document, "spacing/MU01", "received") > 5_000, "{document}");
        let told = is_told(
            &document,
            "stream-doubt",
            "SPDU numbers that their sender had left behind",
        );
        assert_eq!(told, is_doubt, "{publishers} publishers: {}", document["events"]);
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

/// Results of three shots over UDP with these options of the relay and of `trip`, and a capture of the relay's port.
fn shots(directory: &Path, of_relay: &str, of_trip: &str) -> (Output, Output, PathBuf) {
    let namespace = namespace();
    let capture = directory.join("seen.pcapng");
    let relay = format!(
        "relay {RELAY} v1 --routed 239.192.0.1 --source-ip 10.9.0.2 --clock same-host --capture-all --capture {} {of_relay}",
        capture.display()
    );
    let mut relay = begin(&namespace, directory, &relay);
    until_thread(&mut relay, "relay");
    let shots = format!(
        "trip v0 --routed 239.192.0.1 --source-ip 10.9.0.1 --scenario overcurrent --profile F4000S1I4U4 --shots 3 --controls no-fault \
         --settle 300ms {of_trip}"
    );
    let trip = wait(begin(&namespace, directory, &shots), &["trip"]);
    let relay = end(relay, &["relay"]);
    (trip, relay, capture)
}

const TRIP: &str = "F1LD0/LLN0$GO$gcbTrip";

/// True if an event of this kind has these words.
fn is_told(document: &Value, kind: &str, words: &str) -> bool {
    let mut events = document["events"].as_array().expect("events").iter();
    events.any(|event| event["kind"] == kind && event["text"].as_str().is_some_and(|text| text.contains(words)))
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
    let both = format!("--sign {right} --key {right}");
    for (of_relay, of_trip, key) in [
        ("", "", "0x00000000"),
        (&both, &both, "0x00000007"),
        (&both, &format!("--sign {right}"), "0x00000007"),
    ] {
        let (trip, relay, capture) = shots(directory.path(), of_relay, &format!("--goose {TRIP} {of_trip}"));
        let document = json(&trip);
        let trips = series(&document, "trip/overcurrent");
        // Not every shot counts on a machine with stalls.
        assert!(trips["received"].as_u64() >= Some(1), "{of_trip}: {document}");
        assert_eq!(
            (&trips["lost"], &trips["unwanted"]),
            (&0.into(), &0.into()),
            "{of_trip}: {document}"
        );
        // The way was UDP, in both directions.
        let layer_2 = tshark(&capture, &["-Y", "eth.type == 0x88b8 || eth.type == 0x88ba"]);
        assert!(layer_2.is_empty(), "{layer_2:?}");
        let told = tshark(
            &capture,
            &[
                "-Y",
                "r-goose && ip.src == 10.9.0.2",
                "-T",
                "fields",
                "-e",
                "rgoose.key_id",
            ],
        );
        assert!(!told.is_empty() && told.iter().all(|id| id == key), "{told:?}");
        let is_unchecked = of_trip.contains("--sign") && !of_trip.contains("--key");
        assert_eq!(
            is_told(&document, "note", "under the relay's name are signed, not checked"),
            is_unchecked,
            "{}",
            document["events"]
        );
        assert!(!is_told(&document, "stream-doubt", "sign"), "{}", document["events"]);
        let relay = json(&relay);
        assert!(!is_told(&relay, "stream-doubt", "sign"), "{}", relay["events"]);
    }
}

#[test]
fn a_relay_with_another_key_or_none_gives_no_trip_and_the_reason_is_named() {
    if !root_or_skip("a_relay_with_another_key_or_none_gives_no_trip_and_the_reason_is_named") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let [right, wrong] = [
        ("right.toml", SECRET),
        ("wrong.toml", "ff0102030405060708090a0b0c0d0e0f"),
    ]
    .map(|(name, hex)| keys(directory.path(), name, "hmac-sha256-128", hex));
    // The relay takes the samples, and signs its own messages with another key, or not at all.
    for of_relay in [format!("--key {right} --sign {wrong}"), format!("--key {right}")] {
        for goose in [format!("--goose {TRIP}"), String::new()] {
            let (trip, _, _) = shots(
                directory.path(),
                &of_relay,
                &format!("--sign {right} --key {right} {goose}"),
            );
            assert_eq!(trip.status.code(), Some(3), "{}", stderr(&trip));
            let said = stderr(&trip);
            assert!(
                said.contains("came, and none was used: they are not signed, or not by a key of --key"),
                "{said}"
            );
        }
    }
    // The relay refuses the samples, says so, and never trips.
    let of_trip = format!("--sign {right} --key {right} --goose {TRIP}");
    let (trip, relay, _) = shots(directory.path(), &format!("--key {wrong} --sign {right}"), &of_trip);
    let document = json(&trip);
    assert!(stderr(&relay).contains("and none was used"), "{}", stderr(&relay));
    let trips = document["series"].as_array().expect("series").iter();
    let mut trips = trips.filter(|series| series["name"] == "trip/overcurrent");
    assert!(trips.all(|series| series["received"] == 0), "{document}");
}

/// Interfaces on which the group 239.192.0.1 is joined, in a text like `/proc/net/igmp`.
fn joined(igmp: &str) -> Vec<String> {
    let mut device = String::new();
    let mut all = Vec::new();
    for line in igmp.lines() {
        let mut fields = line.split_whitespace();
        match (line.starts_with(char::is_whitespace), fields.next()) {
            // The octets of the group from last to first.
            (true, Some("0100C0EF")) => all.push(device.clone()),
            (false, Some(_)) => device = fields.next().unwrap_or_default().to_owned(),
            _ => {}
        }
    }
    all
}

#[test]
fn a_group_is_joined_in_both_lans_and_left_at_the_end_and_each_lan_carries_the_datagrams() {
    if !root_or_skip("a_group_is_joined_in_both_lans_and_left_at_the_end_and_each_lan_carries_the_datagrams") {
        return;
    }
    let (namespace, directory) = (namespace(), tempfile::tempdir().expect("a directory"));
    let made = namespace.run(|| {
        sys::link::add_veth("w0", "w1", &namespace)?;
        sys::link::set_up("w0")?;
        sys::link::set_up("w1")
    });
    made.expect("a thread in it").expect("a veth pair");
    let routed = "--lan-b w1 --routed 239.192.0.1";
    for (words, thread) in [
        (format!("subscribe v1 {routed} --duration 60s"), "subscribe"),
        (format!("relay {RELAY} v1 {routed} --source-ip 10.9.0.2"), "relay"),
        (
            format!("trip v1 {routed} --source-ip 10.9.0.1 --goose {TRIP}"),
            "trip-listen",
        ),
    ] {
        let mut child = begin(&namespace, directory.path(), &words);
        until_thread(&mut child, thread);
        let igmp = std::fs::read_to_string(format!("/proc/{}/net/igmp", child.id())).expect("a running program");
        assert_eq!(joined(&igmp), ["v1", "w1"], "{words}: {igmp}");
        let _ = end(child, &[thread]);
        let igmp = namespace.run(|| std::fs::read_to_string("/proc/thread-self/net/igmp"));
        let igmp = igmp.expect("a thread in it").expect("a table");
        assert_eq!(joined(&igmp), Vec::<String>::new(), "{words}: {igmp}");
    }
    let publish = "publish v0 --lan-b w0 --routed 239.192.0.1 --source-ip 10.9.0.1 --streams 1";
    let far = begin(&namespace, directory.path(), publish);
    until_sent(&far, "w0", 200);
    let near = begin(
        &namespace,
        directory.path(),
        &format!("subscribe v1 {routed} --duration 2s"),
    );
    let near = json(&wait(near, &["subscribe"]));
    let far = end(far, &["publish"]);
    assert_eq!(far.status.code(), Some(0), "{}", stderr(&far));
    assert!(count(&near, "spacing/MU01", "received") > 1_000, "{near}");
    for lan in ["lan/A", "lan/B"] {
        assert!(count(&near, lan, "received") > 1_000, "{lan}: {near}");
    }
}
