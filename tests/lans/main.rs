//! A doubly attached publisher and subscriber over two pairs of interfaces, against a ledger made from a capture of both LANs.

mod trips;

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use support::{end, json, namespace, root_or_skip, series, start, stderr, until_sent, until_thread, wait};
use sys::netns::NetNs;
use testing::Running;
use wire::ether::EthernetView;
use wire::redundancy::{Lan, Redundancy, SUPERVISION};

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

/// A namespace with LAN A between `v0` and `v1`, and LAN B between `w0` and `w1`.
fn two_lans() -> NetNs {
    let namespace = namespace();
    let made = namespace.run(|| {
        sys::link::add_veth("w0", "w1", &namespace)?;
        sys::link::set_up("w0")?;
        sys::link::set_up("w1")
    });
    made.expect("a thread in it").expect("a veth pair");
    let until = Instant::now() + Duration::from_secs(30);
    while !matches!(
        namespace.run(|| sys::link::find("w1").map(|link| link.carrier)),
        Ok(Ok(true))
    ) {
        assert!(Instant::now() < until, "no carrier");
        std::thread::sleep(Duration::from_millis(5));
    }
    namespace
}

fn begin(namespace: &NetNs, directory: &Path, words: &str) -> Running {
    let command = words.split(' ').next().unwrap_or_default();
    let out = directory.join(format!("{command}.triptime"));
    let mut all: Vec<&str> = words.split_whitespace().collect();
    let out = out.to_str().expect("UTF-8");
    // A shot counts only if every frame of it was sent in time.
    let policy = match command {
        "trip" => "fifo:60",
        _ => "other",
    };
    all.extend([
        "--policy",
        policy,
        "--json",
        "--quiet",
        "--no-flight-recorder",
        "--out",
        out,
    ]);
    namespace.run(|| start(&all)).expect("a thread in the namespace")
}

/// The LANs on which each number of these EtherTypes came, in the order of the capture.
fn ledger(capture: &Path, of: impl Fn(u16) -> bool) -> Vec<[bool; 2]> {
    let mut reader = capture::Reader::open(capture).expect("a capture");
    let mut came: BTreeMap<u32, [bool; 2]> = BTreeMap::new();
    let mut newest: u32 = 1 << 20;
    while let Some(frame) = reader.next_frame().expect("whole") {
        let ethernet = EthernetView::parse(frame.data).expect("a header");
        if !of(ethernet.ether_type()) {
            continue;
        }
        let mark = Redundancy::of(&ethernet).expect("every frame is marked");
        // Numbers wrap; no frame is more than a few thousand behind the newest.
        let step = mark.sequence.wrapping_sub(newest as u16) as i16;
        let number = newest.wrapping_add_signed(i32::from(step));
        newest = newest.max(number);
        came.entry(number).or_default()[mark.lan().number()] = true;
    }
    came.into_values().collect()
}

/// Texts of the events of this kind.
fn of_kind(document: &Value, kind: &str) -> Vec<String> {
    let events = document["events"].as_array().expect("events").iter();
    let of = events.filter(|event| event["kind"] == kind);
    of.map(|event| event["text"].as_str().unwrap_or_default().to_owned())
        .collect()
}

fn count(document: &Value, name: &str, counter: &str) -> u64 {
    series(document, name)[counter].as_u64().expect("a number")
}

/// Frames that an interface in a program's namespace has sent.
fn sent(child: &Running, interface: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{}/net/dev", child.id())).expect("a running program");
    let of = |line: &str| {
        line.trim()
            .strip_prefix(interface)?
            .strip_prefix(':')
            .map(str::to_owned)
    };
    let line = text.lines().find_map(of).expect("the interface");
    // Eight fields of received frames, then sent bytes and sent frames.
    line.split_whitespace()
        .nth(9)
        .and_then(|sent| sent.parse().ok())
        .expect("a number")
}

fn link(namespace: &NetNs, interface: &str, state: &str) {
    let done = namespace.run(|| {
        std::process::Command::new("ip")
            .args(["link", "set", interface, state])
            .status()
    });
    assert!(done.expect("a thread in the namespace").expect("ip").success());
}

/// A subscriber for three seconds while a publisher sends; LAN A is cut at `cut` for a while. The subscriber's result, its capture and
/// the publisher's result.
fn cut_lan_a(directory: &Path, protocol: &str, cut: &str) -> (Value, PathBuf, Value) {
    let namespace = two_lans();
    let goose = directory.join("goose.toml");
    std::fs::write(&goose, GOOSE).expect("a file");
    let capture = directory.join("seen.pcapng");
    let far = begin(
        &namespace,
        directory,
        &format!(
            "publish v0 --lan-b w0 --redundancy {protocol} --streams 2 --goose {}",
            goose.display()
        ),
    );
    until_sent(&far, "w0", 100);
    let mut near = begin(
        &namespace,
        directory,
        &format!(
            "subscribe v1 --lan-b w1 --duration 6s --capture-all --capture {}",
            capture.display()
        ),
    );
    until_thread(&mut near, "subscribe");
    until_sent(&far, "w0", sent(&far, "w0") + 8_000);
    link(&namespace, cut, "down");
    until_sent(&far, "w0", sent(&far, "w0") + 6_000);
    link(&namespace, cut, "up");
    let near = wait(near, &["subscribe"]);
    let far = end(far, &["publish"]);
    assert_eq!(far.status.code(), Some(0), "{}", stderr(&far));
    assert_eq!(near.status.code(), Some(0), "{}", stderr(&near));
    (json(&near), capture, json(&far))
}

#[test]
fn a_cut_of_lan_a_loses_nothing_together_and_every_frame_there() {
    if !root_or_skip("a_cut_of_lan_a_loses_nothing_together_and_every_frame_there") {
        return;
    }
    // At the publisher's port, and at the subscriber's.
    for (protocol, cut) in [("prp", "v0"), ("prp", "v1"), ("hsr", "v0")] {
        let directory = tempfile::tempdir().expect("a directory");
        let (near, capture, far) = cut_lan_a(directory.path(), protocol, cut);
        let came = ledger(&capture, |_| true);
        let of = |lan: Lan| came.iter().filter(|came| came[lan.number()]).count() as u64;
        let lost_on_a = came.len() as u64 - of(Lan::A);
        assert!(lost_on_a > 1_000, "LAN A was cut: {lost_on_a} of {}", came.len());
        for lan in Lan::BOTH {
            let name = format!("lan/{}", lan.letter());
            // The capture has up to two frames after the end.
            let received = count(&near, &name, "received");
            assert!(
                (received..=received + 2).contains(&of(lan)),
                "{protocol}, {cut}: {name}: {received}, {}",
                of(lan)
            );
            for counter in ["late", "duplicate", "conflicting", "wrong"] {
                assert_eq!(count(&near, &name, counter), 0, "{protocol}, {cut}: {name} {counter}");
            }
        }
        // The newest frames may be on their way when the reception ends.
        let counted = count(&near, "lan/A", "lost");
        assert!(
            lost_on_a.abs_diff(counted) <= 6,
            "{protocol}, {cut}: {counted} of {lost_on_a}"
        );
        assert!(count(&near, "lan/B", "lost") <= came.len() as u64 - of(Lan::B));
        // Each frame that came on any LAN is delivered once, and only samples that the publisher slept through are missing.
        let delivered = count(&near, "delivery/subscribe", "received");
        let all = ledger(&capture, |ether_type| ether_type != SUPERVISION).len() as u64;
        assert!(
            (delivered..=delivered + 2).contains(&all),
            "{protocol}, {cut}: {delivered} of {all}"
        );
        let streams = ["spacing/MU01", "spacing/MU02"];
        let lost: u64 = streams.iter().map(|stream| count(&near, stream, "lost")).sum();
        let missed = count(&far, "publish/lateness", "missed") + count(&far, "publish/lateness", "lost");
        assert!(
            lost <= missed,
            "{protocol}, {cut}: {lost} lost together, {missed} not sent: {near}"
        );
        for stream in streams {
            assert_eq!(count(&near, stream, "duplicate"), 0, "{protocol}, {cut}");
        }
        let events = near["events"].to_string();
        assert!(
            !events.contains("on neither LAN"),
            "SV and GOOSE share their numbers: {events}"
        );
        // A veth has no carrier while its peer is down, so both ends lose it.
        for (end, interface) in [(&near, "v1"), (&far, "v0")] {
            let links = of_kind(end, "link");
            let says = |text: &str| links.iter().any(|event| event.contains(text));
            assert!(says(&format!("LAN A ({interface}) lost its carrier")), "{links:?}");
            assert!(says(&format!("LAN A ({interface}) has its carrier again")), "{links:?}");
            assert!(says("lost its carrier 1 times, for at most"), "{links:?}");
            assert!(!says("LAN B"), "{links:?}");
        }
        let refused = far["events"].to_string().contains("frames were not sent on LAN A");
        // With the peer down, the kernel may refuse frames, too, after a while.
        assert!(refused || cut != "v0", "{}", far["events"]);
    }
}

/// A table of nodes, as another node or the network's management keeps it, is filled by our supervision frames.
#[test]
fn a_publisher_announces_itself_on_both_lans() {
    if !root_or_skip("a_publisher_announces_itself_on_both_lans") {
        return;
    }
    for (protocol, sort) in [("prp", "20"), ("hsr", "23")] {
        let directory = tempfile::tempdir().expect("a directory");
        let namespace = two_lans();
        let capture = directory.path().join("seen.pcapng");
        let near = format!(
            "subscribe v1 --lan-b w1 --duration 6s --capture-all --capture {}",
            capture.display()
        );
        let mut near = begin(&namespace, directory.path(), &near);
        until_thread(&mut near, "subscribe");
        let far = format!("publish v0 --lan-b w0 --redundancy {protocol} --streams 1");
        let far = begin(&namespace, directory.path(), &far);
        let near = wait(near, &["subscribe"]);
        let _ = end(far, &["publish"]);
        let seen = supervision(&capture);
        assert!(seen.len() >= 4, "{seen:?}");
        let mac = &seen[0][3];
        for frame in &seen {
            assert_eq!(frame[..2], ["01:15:4e:00:01:00", "1"], "{frame:?}");
            assert_eq!((&frame[2], &frame[3]), (&sort.to_owned(), mac), "{frame:?}");
        }
        // Each on both LANs: the same number twice, and two seconds to the next.
        let numbers: Vec<u32> = seen.iter().map(|frame| frame[4].parse().expect("a number")).collect();
        let last = numbers.iter().max().expect("frames");
        for number in 0..*last {
            assert_eq!(
                numbers.iter().filter(|other| **other == number).count(),
                2,
                "{numbers:?}"
            );
        }
        let at = |number: u32| {
            let frame = seen.iter().find(|frame| frame[4] == number.to_string());
            frame.expect("it came")[5].parse::<f64>().expect("a time")
        };
        assert!((1.9..3.0).contains(&(at(1) - at(0))), "{seen:?}");
        let events = json(&near)["events"].to_string();
        assert!(events.contains(mac.as_str()), "{mac}: {events}");
    }
}

/// Destination, version, sort, address, number and time of each supervision frame, as tshark reads it.
fn supervision(capture: &Path) -> Vec<Vec<String>> {
    let fields = ["version", "tlv.type", "source_mac_address", "supervision_seqno"];
    let fields = fields.map(|field| format!("hsr_prp_supervision.{field}"));
    let output = std::process::Command::new("tshark")
        .arg("-r")
        .arg(capture)
        .args([
            "-Y",
            "hsr_prp_supervision",
            "-T",
            "fields",
            "-E",
            "occurrence=f",
            "-e",
            "eth.dst",
        ])
        .args(fields.iter().flat_map(|field| ["-e", field]))
        .args(["-e", "frame.time_epoch"])
        .output()
        .expect("tshark is the oracle of this test: apt-get install tshark");
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let cells = |line: &str| line.split('\t').map(str::to_owned).collect();
    text.lines().map(cells).collect()
}

#[test]
fn frames_of_a_publisher_with_one_port_prove_nothing_about_a_lan() {
    if !root_or_skip("frames_of_a_publisher_with_one_port_prove_nothing_about_a_lan") {
        return;
    }
    let namespace = two_lans();
    let directory = tempfile::tempdir().expect("a directory");
    let far = begin(&namespace, directory.path(), "publish v0 --streams 1");
    until_sent(&far, "v0", 100);
    let near = begin(&namespace, directory.path(), "subscribe v1 --lan-b w1 --duration 1s");
    let near = wait(near, &["subscribe"]);
    let _ = end(far, &["publish"]);
    let document = json(&near);
    assert!(count(&document, "spacing/MU01", "received") > 1_000);
    let events = document["events"].to_string();
    assert!(
        events.contains("no marks of PRP or HSR") && events.contains("nothing is known about this LAN"),
        "{events}"
    );
}

/// A node that marks its frames must not answer for a publisher with one port.
#[test]
fn marks_of_another_node_prove_nothing_about_a_publisher_with_one_port() {
    if !root_or_skip("marks_of_another_node_prove_nothing_about_a_publisher_with_one_port") {
        return;
    }
    let namespace = two_lans();
    let [directory, other] = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
    let set = other.path().join("goose.toml");
    std::fs::write(&set, GOOSE).expect("a file");
    let far = begin(&namespace, directory.path(), "publish v0 --streams 1");
    let node = format!("publish v0 --lan-b w0 --goose {}", set.display());
    let node = begin(&namespace, other.path(), &node);
    until_sent(&far, "v0", 100);
    until_sent(&node, "w0", 10);
    let near = "subscribe v1 --lan-b w1 --duration 2s --limits substation";
    let near = wait(begin(&namespace, directory.path(), near), &["subscribe"]);
    let _ = (end(far, &["publish"]), end(node, &["publish"]));
    let document = json(&near);
    assert!(count(&document, "lan/A", "received") > 0, "{document}");
    let mut checks = document["checks"].as_array().expect("checks").iter();
    let check = checks.find(|check| check["series"] == "lan/A" && check["limit"] == "redundancy.lost");
    let check = check.expect("a check of LAN A");
    assert_eq!(check["verdict"], "inconclusive", "{check}");
    assert!(check["why"].to_string().contains("no marks of PRP or HSR"), "{check}");
}

/// A profile for streams also judges the LANs.
#[test]
fn a_dead_lan_does_not_pass_by_the_other_one() {
    if !root_or_skip("a_dead_lan_does_not_pass_by_the_other_one") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let namespace = two_lans();
    let far = begin(&namespace, directory.path(), "publish v0 --lan-b w0 --streams 1");
    until_sent(&far, "w0", 100);
    link(&namespace, "v0", "down");
    let near = "subscribe v1 --lan-b w1 --duration 2s --limits substation";
    let near = wait(begin(&namespace, directory.path(), near), &["subscribe"]);
    let _ = end(far, &["publish"]);
    assert!(matches!(near.status.code(), Some(1 | 3)), "{}", stderr(&near));
    let document = json(&near);
    let verdict = |series: &str, limit: &str| {
        let mut checks = document["checks"].as_array().expect("checks").iter();
        let check = checks.find(|check| check["series"] == series && check["limit"] == limit);
        check.unwrap_or_else(|| panic!("{series} {limit}: {document}"))["verdict"].clone()
    };
    assert_ne!(verdict("lan/A", "redundancy.lost"), "pass");
    // The publisher may leave out a sample on both LANs; such a loss is no business of the LANs.
    assert_ne!(verdict("lan/B", "redundancy.lost"), "fail");
}
