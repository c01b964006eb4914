//! No action of other programs loses a run, and no incomplete run counts as complete.

use capture::write::PcapWriter;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use support::{binary, json, namespace, root_or_skip, run, start, stderr, wait};
use sys::packet::{PacketPort, PortOptions};
use testing::Running;
use wire::ether::Mac;
use wire::quality::SvQuality;
use wire::sv::{Message, OwnedAsdu};

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn samples(sv_id: &str, number: u8, smp_cnt: u16) -> Vec<u8> {
    let asdu = OwnedAsdu {
        smp_cnt,
        ..OwnedAsdu::new(sv_id, 1, 2, &[(0, SvQuality(0)); 8])
    };
    let message = Message {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, number]),
        src: Mac([2, 0, 0, 0, 0, number]),
        tags: Vec::new(),
        appid: 0x4000,
        simulate: false,
        asdus: vec![asdu],
    };
    message.encode().expect("encodes")
}

/// Difficult svIDs of devices: the same one twice, the name with which the second would be numbered, also twice, and one that is too long for a
/// number after it.
fn names() -> Vec<String> {
    let long = "L".repeat(129);
    [
        "MU01",
        "MU01",
        "MU01#2",
        "MU01#2",
        "MU01#3",
        long.as_str(),
        long.as_str(),
        long.as_str(),
    ]
    .map(str::to_owned)
    .into()
}

/// Names of the series of a family, without the family.
fn streams_of(document: &serde_json::Value, family: &str) -> Vec<String> {
    let series = document["series"].as_array().expect("series");
    let names = series
        .iter()
        .filter_map(|one| one["name"].as_str()?.strip_prefix(family));
    names.map(str::to_owned).collect()
}

fn assert_distinct(names: &[String], expected: usize) {
    let distinct: std::collections::BTreeSet<&String> = names.iter().collect();
    assert_eq!((names.len(), distinct.len()), (expected, expected), "{names:?}");
}

#[test]
fn a_capture_of_namesakes_is_a_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("bay.pcap");
    let mut writer = PcapWriter::new(BufWriter::new(File::create(&file).expect("a file"))).expect("a capture");
    for smp_cnt in 0..100_u16 {
        for (number, name) in (0..).zip(names()) {
            let at_ns = 1_790_000_000_000_000_000 + i64::from(smp_cnt) * 250_000 + i64::from(number);
            writer.write(at_ns, &samples(&name, number, smp_cnt)).expect("written");
        }
    }
    writer.finish().expect("finished");
    let out = directory.path().join("bay.triptime");
    let output = run(&["pcap", text(&file), "--json", "--out", text(&out)]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let found = streams_of(&json(&output), "spacing/");
    assert_distinct(&found, names().len());
    assert_eq!(found[..5], ["MU01", "MU01#2", "MU01#2#2", "MU01#2#3", "MU01#3"]);
    // The same again: the names do not depend on chance.
    let again = run(&[
        "pcap",
        text(&file),
        "--json",
        "--out",
        text(&directory.path().join("b.triptime")),
    ]);
    assert_eq!(streams_of(&json(&again), "spacing/"), found);
}

#[test]
fn namesakes_on_the_wire_lose_no_run() {
    if !root_or_skip("namesakes_on_the_wire_lose_no_run") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("wire.triptime");
    let namespace = namespace();
    let words = [
        "subscribe",
        "v1",
        "--duration",
        "2s",
        "--policy",
        "other",
        "--clock",
        "same-host",
        "--rate",
        "4000",
        "--record",
        "--json",
        "--quiet",
        "--out",
        text(&out),
    ];
    let subscriber = namespace.run(|| start(&words)).expect("a thread in it");
    let sent = namespace.run(|| {
        let port = PacketPort::open("v0", &PortOptions::default()).expect("a port");
        for smp_cnt in 0..700_u16 {
            for (number, name) in (0..).zip(names()) {
                port.send(&samples(&name, number, smp_cnt)).expect("sent");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    sent.expect("a thread in it");
    let output = wait(subscriber, &words);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let document = json(&output);
    let spacing = streams_of(&document, "spacing/");
    assert_distinct(&spacing, names().len());
    assert_eq!(
        streams_of(&document, "age/"),
        spacing,
        "a stream has one name in all its series"
    );
    let frames = run(&["export", text(&out), "--format", "frames"]);
    let rows = String::from_utf8_lossy(&frames.stdout).into_owned();
    for name in &spacing {
        assert!(
            rows.lines().any(|row| row.starts_with(&format!("{name},"))),
            "{name} is not in the recording"
        );
    }
}

/// Starts a run of a minute in windows of 200 ms, and waits until it measures.
fn measuring(out: &Path, more: &[&str]) -> Running {
    // One of the tests closes the terminal, and the tests themselves may be run under nohup.
    let mut command = Command::new("env");
    command
        .arg("--default-signal=HUP")
        .arg(binary())
        .args([
            "wakeup",
            "--cpus",
            "0",
            "--policy",
            "other",
            "--interval",
            "1ms",
            "--window",
            "200ms",
            "--duration",
            "60s",
        ])
        .args(["--no-flight-recorder", "--quiet", "--out", text(out)])
        .args(more)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = Running::start(&mut command);
    for _ in 0..1_000 {
        let windows = || {
            let run = store::RunFile::open(out).ok()?;
            let (id, _) = run.series().ok()?.pop()?;
            Some(run.totals(id).ok()?.windows)
        };
        if windows().is_some_and(|windows| windows >= 2) {
            return child;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("no window in 20 s");
}

#[test]
fn a_copy_without_its_log_says_so_in_every_command() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    let out = at("x.triptime");
    let mut child = measuring(&out, &[]);
    child.kill().expect("SIGKILL");
    child.wait().expect("ended");
    let copy = at("copy.triptime");
    fs::copy(&out, &copy).expect("copied");
    let received = |output: &Output| json(output)["series"][0]["received"].as_u64().expect("a count");
    let whole = run(&["report", text(&out), "--json"]);
    assert_eq!(whole.status.code(), Some(0), "{}", stderr(&whole));
    let lone = run(&["report", text(&copy), "--json"]);
    assert!(received(&lone) > 0 && received(&lone) <= received(&whole));
    for words in [
        vec!["report", text(&copy)],
        vec!["report", text(&copy), "--json"],
        vec!["export", text(&copy), "--format", "csv"],
        vec!["compare", text(&out), text(&copy)],
    ] {
        let output = run(&words);
        assert_eq!(output.status.code(), Some(3), "{words:?}: {}", stderr(&output));
        assert!(
            stderr(&output).contains("copy.triptime-wal"),
            "{words:?}: {}",
            stderr(&output)
        );
    }
    let shown = String::from_utf8_lossy(&run(&["report", text(&copy)]).stdout).into_owned();
    assert!(shown.contains("windows may be missing"), "{shown}");
}

#[test]
fn a_terminal_that_is_gone_ends_the_run_and_nohup_keeps_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("x.triptime");
    let child = measuring(&out, &["--json"]);
    kill_process(Pid::from_child(&child), Signal::HUP).expect("sent");
    let output = wait(child, &["wakeup"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let document = json(&output);
    assert_eq!(document["run"]["state"], "interrupted");
    assert!(!out.with_extension("triptime-wal").exists(), "the file is closed");
    // Ignored from the start, it stays ignored.
    let out = directory.path().join("kept.triptime");
    let script = "trap '' HUP; \"$1\" wakeup --cpus 0 --policy other --interval 1ms --duration 3s --no-flight-recorder --quiet --json \
                  --out \"$2\" & child=$!; sleep 1.5; kill -HUP $child; wait $child";
    let output = Command::new("sh")
        .args(["-c", script, "sh"])
        .args([binary().as_path(), out.as_path()])
        .output()
        .expect("a shell");
    assert_eq!(json(&output)["run"]["state"], "complete", "{}", stderr(&output));
}

#[test]
fn a_page_never_replaces_what_is_not_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    let (out, notes, page) = (at("x.triptime"), at("notes.txt"), at("x.html"));
    fs::write(&notes, "mine").expect("written");
    let short = [
        "wakeup",
        "--cpus",
        "0",
        "--policy",
        "other",
        "--duration",
        "300ms",
        "--quiet",
        "--no-flight-recorder",
    ];
    let measured = run(&[&short[..], &["--out", text(&out), "--html", text(&page)]].concat());
    assert_eq!(measured.status.code(), Some(0), "{}", stderr(&measured));
    let again = at("y.triptime");
    for words in [
        [&short[..], &["--out", text(&again), "--html", text(&notes)]].concat(),
        [&short[..], &["--out", text(&again), "--html", text(&again)]].concat(),
        vec!["report", text(&out), "--html", text(&notes)],
        vec!["report", text(&out), "--html", text(&out)],
        vec!["compare", text(&out), text(&out), "--html", text(&notes)],
        vec!["import", text(&notes), "--html", text(&notes)],
        vec!["pcap", text(&notes), "--html", text(&notes)],
    ] {
        let output = run(&words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("--html"), "{words:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{words:?}");
    }
    assert_eq!(fs::read(&notes).expect("there"), b"mine");
    assert!(!again.exists(), "nothing was measured");
    // An existing page of triptime is replaced, also by a page of another kind.
    for words in [
        vec!["report", text(&out)],
        vec!["compare", text(&out), text(&out)],
        vec!["report", text(&out)],
    ] {
        let output = run(&[words.as_slice(), &["--html", text(&page)]].concat());
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", stderr(&output));
    }
}

#[test]
fn without_room_for_the_page_the_verdict_is_there() {
    if !root_or_skip("without_room_for_the_page_the_verdict_is_there") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("x.triptime");
    let small = directory.path().join("small");
    fs::create_dir(&small).expect("made");
    let short = [
        "wakeup",
        "--cpus",
        "0",
        "--policy",
        "other",
        "--duration",
        "300ms",
        "--quiet",
        "--no-flight-recorder",
    ];
    let measured = run(&[&short[..], &["--out", text(&out)]].concat());
    assert_eq!(measured.status.code(), Some(0), "{}", stderr(&measured));
    let script = "mount -t tmpfs -o size=4k small \"$2\" || exit 99; \"$1\" report \"$3\" --html \"$2/q.html\"; status=$?; ls -A \"$2\" >&2; \
                  exit $status";
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, "sh"])
        .args([binary().as_path(), small.as_path(), out.as_path()])
        .output()
        .expect("unshare is installed");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        shown.starts_with("NOT JUDGED") && shown.contains("wakeup/cpu0"),
        "{shown}"
    );
    let said = stderr(&output);
    assert!(said.contains("q.html: No space left"), "{said}");
    assert_eq!(said.lines().count(), 1, "half a page is left: {said}");
}

#[test]
fn a_capture_without_a_stream_is_no_result() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("empty.pcap");
    let mut writer = PcapWriter::new(BufWriter::new(File::create(&file).expect("a file"))).expect("a capture");
    writer.write(1_790_000_000_000_000_000, &[0xff; 60]).expect("written");
    writer.finish().expect("finished");
    for more in [&[][..], &["--json"]] {
        let output = run(&[&["pcap", text(&file)], more].concat());
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    }
    let listing = run(&["pcap", text(&file)]);
    assert!(String::from_utf8_lossy(&listing.stdout).contains("no stream of sampled values"));
}

#[test]
fn the_advice_on_a_missing_capability_names_all_in_one_command() {
    if !root_or_skip("the_advice_on_a_missing_capability_names_all_in_one_command") {
        return;
    }
    let advice = |words: &[&str]| {
        let output = Command::new("setpriv")
            .args(["--bounding-set", "-all", "--inh-caps", "-all", "--ambient-caps", "-all"])
            .arg(binary())
            .args(words)
            .output()
            .expect("setpriv is installed");
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        stderr(&output)
    };
    let said = advice(&["subscribe", "lo", "--duration", "1s"]);
    assert!(said.contains("needs CAP_NET_RAW"), "{said}");
    assert!(
        said.contains("setcap cap_sys_nice,cap_ipc_lock,cap_net_raw,cap_bpf,cap_perfmon+ep "),
        "{said}"
    );
    assert!(
        said.contains("this run also lacks CAP_SYS_NICE and CAP_IPC_LOCK"),
        "{said}"
    );
    let said = advice(&["subscribe", "lo", "--policy", "other", "--no-flight-recorder"]);
    assert!(said.contains("setcap cap_ipc_lock,cap_net_raw+ep "), "{said}");
    // No causes are requested for late samples of these.
    let said = advice(&["listen", "lo", "--policy", "other"]);
    assert!(said.contains("setcap cap_ipc_lock,cap_net_raw+ep "), "{said}");
    let said = advice(&["qualify"]);
    let all = "setcap cap_sys_nice,cap_ipc_lock,cap_net_raw,cap_net_admin,cap_sys_admin,cap_bpf,cap_perfmon+ep ";
    assert!(said.contains(all), "{said}");
}
