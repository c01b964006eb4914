//! A delayed reader of the kernel's counts.

use model::WindowRow;
use std::process::{Command, Stdio};
use std::time::Duration;
use store::RunFile;
use support::bridge::{bed, inside, publishing};
use support::{root_or_skip, until_thread};
use testing::Running;

/// Frames a second of the publisher.
const RATE: f64 = 1_000.0;

fn signal(running: &Running, name: &str) {
    let id = running.id().to_string();
    let sent = Command::new("kill").args([name, &id]).status().expect("kill");
    assert!(sent.success(), "{name}");
}

/// Ratio of the frames that came or were lost to those that were due in the window.
fn part(window: &WindowRow) -> f64 {
    let length_s = (window.end_ns - window.start_ns) as f64 / 1e9;
    window.counters.expected as f64 / (length_s * RATE)
}

#[test]
fn windows_follow_the_frames_when_the_reader_is_held_up() {
    let test = "windows_follow_the_frames_when_the_reader_is_held_up";
    if !root_or_skip(test) {
        return;
    }
    let [publisher, switch, _device] = bed();
    let directory = tempfile::tempdir().expect("tempdir");
    let path = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    let (sent, traced) = (path("sent.triptime"), path("traced.triptime"));
    let publishing = publishing(&publisher, &sent, &[]);
    let trace = [
        "trace",
        "p-ts",
        "--duration",
        "14s",
        "--window",
        "1s",
        "-q",
        "--out",
        &traced,
    ];
    let mut tracing = Running::start(inside(&switch, &trace).stdout(Stdio::null()).stderr(Stdio::null()));
    until_thread(&mut tracing, "triptime-hops");
    for _ in 0..2 {
        std::thread::sleep(Duration::from_millis(1_300));
        signal(&tracing, "-STOP");
        std::thread::sleep(Duration::from_millis(3_700));
        signal(&tracing, "-CONT");
    }
    let ended = tracing.wait().expect("ended");
    drop(publishing);
    assert_eq!(ended.code(), Some(0));
    let run = RunFile::open(traced.as_ref()).expect("a run");
    let series = run.series().expect("series");
    let (id, _) = series
        .iter()
        .find(|(_, spec)| spec.name == "hop/nic-to-port/MU01")
        .expect("the hop");
    let windows = run.windows(*id).expect("windows");
    let longest = windows.iter().map(|window| window.end_ns - window.start_ns).max();
    assert!(longest >= Some(3_000_000_000), "{longest:?}");
    // The first and the last window are cut, and the publisher also has to wait for its CPU.
    for window in &windows[1..windows.len() - 1] {
        assert!((0.7..1.3).contains(&part(window)), "{} in {window:?}", part(window));
    }
    let events = run.events().expect("events");
    assert!(events.iter().any(|event| event.text.contains("was held up")));
    let false_alarm = events.iter().find(|event| event.text.contains("two sequences"));
    assert!(false_alarm.is_none(), "{false_alarm:?}");
}
