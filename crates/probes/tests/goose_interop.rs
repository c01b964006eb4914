//! GOOSE with independent software: open61850 as publisher and as supervisor, tshark as decoder.

mod common;

use capture::write::PcapWriter;
use common::{Pair, Run, can_run, wait_until};
use probes::Probe;
use probes::publish::{self, GooseConfig, start_all};
use probes::subscribe::{self, SubscribeConfig, SuperviseConfig};
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;
use streamset::goose::parse;
use sys::packet::{PacketPort, PortOptions, RxStamp};
use sys::thread::Policy;

const REF: &str = "IED1LD0/LLN0$GO$gcbTrip";

/// The interpreter that has open61850; `None` if it is missing and the test is skipped.
fn open61850(test: &str) -> Option<PathBuf> {
    let python = testing::python(test)?;
    let found = Command::new(&python).args(["-c", "import open61850"]).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    testing::skip(test, "open61850 is not installed: run scripts/need.sh test");
    None
}

/// Members that change at 300 and 600 ms, with every available type.
fn config() -> GooseConfig {
    let text = format!(
        r#"
        [[goose]]
        gocb_ref = "{REF}"
        dat_set = "IED1LD0/LLN0$dsTrip"
        go_id = "IED1_TRIP"
        dst = "01:0c:cd:01:00:01"
        appid = 1
        min_time = "20ms"
        max_time = "100ms"
        member = [
            {{ name = "trip", type = "boolean" }},
            {{ name = "q", type = "quality", value = "questionable" }},
            {{ name = "t", type = "timestamp" }},
            {{ name = "pos", type = "dbpos", value = "off" }},
            {{ name = "count", type = "integer", value = -3 }},
            {{ name = "steps", type = "unsigned", value = 4000000000 }},
            {{ name = "level", type = "float32", value = 1.5 }},
            {{ name = "name", type = "visible-string", value = "bay" }},
        ]
        change = [
            {{ at = "300ms", set = {{ trip = true, pos = "on", count = 70000, level = -2.25, name = "BAY" }} }},
            {{ at = "600ms", set = {{ trip = false, steps = 1 }} }},
        ]
        "#
    );
    GooseConfig {
        blocks: parse(&text, "test").expect("a sound file"),
        spin_ahead_ns: 0,
        duration_ns: Some(900_000_000),
        policy: Policy::Other,
        cpu: None,
        threshold_ns: None,
    }
}

/// Writes all frames of the ring to a capture; returns their number.
fn write_capture(mut port: PacketPort, path: &Path) -> u64 {
    let mut writer = PcapWriter::new(BufWriter::new(File::create(path).expect("a file"))).expect("a capture");
    let mut frames = 0;
    while let Some(frame) = port.next() {
        let (RxStamp::Software(stamp) | RxStamp::Socket(stamp)) = frame.stamp() else {
            panic!("veth has no clock");
        };
        writer.write(stamp.as_ns(), frame.data()).expect("written");
        frames += 1;
    }
    writer.finish().expect("flushed");
    frames
}

#[test]
fn tshark_and_open61850_read_what_is_published() {
    let test = "tshark_and_open61850_read_what_is_published";
    let Some(python) = open61850(test).filter(|_| can_run(test)) else {
        return;
    };
    let pair = Pair::build();
    let far = pair.port_b(&PortOptions {
        ethertypes: vec![wire::ether::GOOSE],
        ring_frames: 256,
        frame_bytes: 512,
        ..PortOptions::default()
    });
    let mut run = Run::start();
    let port = pair.port_a(&publish::port_options()).into();
    let running = start_all(None, Some((&config(), port)), &mut run.recorder, &run.stop).expect("it starts");
    running.join().expect("it ends well");
    let directory = tempfile::tempdir().expect("a directory");
    let capture = directory.path().join("goose.pcap");
    let sent = write_capture(far, &capture);
    assert_eq!(run.finish().counters("publish/goose-lateness").received, sent);

    let supervised = Command::new(&python)
        .args(["-m", "open61850.supervision", "--events"])
        .arg(&capture)
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&supervised.stdout).into_owned();
    assert!(text.contains(&format!("{sent} messages, stNum 3, 0 missed")), "{text}");
    assert!(!text.contains("malformed") && !text.contains("RESTART"), "{text}");

    let fields = [
        "goose.gocbRef",
        "goose.stNum",
        "goose.sqNum",
        "goose.goID",
        "goose.timeAllowedtoLive",
        "goose.boolean",
    ];
    let mut tshark = Command::new("tshark");
    tshark.args(["-T", "fields", "-E", "separator=;", "-r"]).arg(&capture);
    for field in fields.iter().chain(&[
        "_ws.malformed",
        "_ws.expert.message",
        "goose.integer",
        "goose.visible_string",
    ]) {
        tshark.args(["-e", field]);
    }
    let output = tshark
        .output()
        .expect("tshark is the oracle of this test: apt-get install tshark");
    let lines: Vec<String> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect();
    assert_eq!(lines.len() as u64, sent);
    assert_eq!(lines[0], format!("{REF};1;1;IED1_TRIP;40;0;;;-3;bay"), "{lines:#?}");
    let change = lines
        .iter()
        .find(|line| line.starts_with(&format!("{REF};2;0;")))
        .expect("stNum 2, sqNum 0");
    assert_eq!(*change, format!("{REF};2;0;IED1_TRIP;40;1;;;70000;BAY"));
    assert!(
        lines.iter().all(|line| line.split(';').nth(6) == Some("")),
        "{lines:#?}"
    );
}

#[test]
fn open61850_publishes_and_we_supervise() {
    let test = "open61850_publishes_and_we_supervise";
    let Some(python) = open61850(test).filter(|_| can_run(test)) else {
        return;
    };
    let pair = Pair::build();
    let mut run = Run::start();
    let config = SubscribeConfig {
        goose: SuperviseConfig {
            // Python on a busy machine repeats messages late.
            tal_factor: 500.0,
            ..SuperviseConfig::default()
        },
        ..SubscribeConfig::default()
    };
    let port = pair.port_b(&subscribe::port_options());
    let subscription = config.start(port, &mut run.recorder, &run.stop).expect("it starts");
    let mut command = Command::new(&python);
    command
        .args([
            "-m",
            "open61850.goose_publisher",
            "a0",
            "02:00:00:00:00:01",
            "01:0c:cd:01:00:01",
            REF,
        ])
        .args([
            "IED1LD0/LLN0$dsTrip",
            "false,0,'bay'",
            "--appid",
            "1",
            "--max-time",
            "50",
        ])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped());
    let mut publisher = pair.spawn_a(&mut command);
    wait_until("its first message", || subscription.frames.load(Ordering::Relaxed) > 0);
    let mut input = publisher.stdin.take().expect("a pipe");
    for state in ["true,70000,'bay'", "false,-70000,'longer'", "true,1,''"] {
        std::thread::sleep(Duration::from_millis(100));
        writeln!(input, "{state}").expect("it reads");
    }
    std::thread::sleep(Duration::from_millis(100));
    drop(input);
    assert!(publisher.wait().expect("it ends").success());
    let mut said = String::new();
    let mut errors = publisher.stderr.take().expect("a pipe");
    errors.read_to_string(&mut said).expect("text");
    let sent: u64 = said
        .lines()
        .find_map(|line| {
            line.strip_prefix("open61850-goose: ")?
                .split_once(" frames sent, 0 errors")?
                .0
                .parse()
                .ok()
        })
        .unwrap_or_else(|| panic!("{said}"));
    wait_until("all messages", || subscription.frames.load(Ordering::Relaxed) >= sent);
    run.stop.request();
    subscription.running.join().expect("it ends well");
    let recorded = run.finish();
    let counters = recorded.counters(&format!("goose/{REF}"));
    assert_eq!(
        (
            counters.received + 1,
            counters.lost,
            counters.duplicate,
            counters.reordered
        ),
        (sent, 0, 0, 0)
    );
    let events: Vec<String> = recorded
        .events(&format!("goose/{REF}"))
        .into_iter()
        .map(|event| event.text)
        .collect();
    let first = &events[..4];
    for (end, text) in [
        "first seen with stNum 1, sqNum ",
        "stNum 1 -> 2",
        "stNum 2 -> 3",
        "stNum 3 -> 4",
    ]
    .iter()
    .zip(first)
    {
        assert!(text.contains(end), "{events:#?}");
    }
}
