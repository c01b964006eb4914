//! The main job, end to end, on a short plan; and its remains after each kind of end.

use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use support::left::Before;
use support::{json, root_or_skip, run, series, start, stderr, until_thread, wait};
use testing::Running;

const PLAN: &str = r#"
name = "short"
what = "The quick plan in a few seconds, for tests"
limits = "substation"
window = "500ms"

[cpus]
housekeeping = "first"
measured = "rest"

[[load]]
kind = "hackbench"
groups = 2
fds = 1

[[load]]
kind = "command"
line = "stress-ng --quiet --cpu 1"

[[step]]
probe = "wakeup"
duration = "2s"
interval = "1ms"
policy = "fifo:80"

[[step]]
probe = "reflect"
duration = "2s"
interval = "500us"
policy = "fifo:60"

[[step]]
probe = "sampled-values"
duration = "3s"
streams = 4
rate = 4800
asdus = 2
policy = "fifo:60"
trace = true
"#;

fn path(directory: &Path, name: &str) -> String {
    directory.join(name).to_str().expect("UTF-8").to_owned()
}

fn start_plan(directory: &Path) -> (Running, String) {
    let plan = path(directory, "short.toml");
    std::fs::write(&plan, PLAN).expect("writable");
    let out = path(directory, "run.triptime");
    (start(&["qualify", &plan, "--json", "--out", &out]), out)
}

fn count(series: &Value, name: &str) -> u64 {
    series[name].as_u64().unwrap_or_else(|| panic!("{name} in {series}"))
}

#[test]
fn a_plan_ends_in_a_verdict_a_run_file_and_a_report() {
    if !root_or_skip("a_plan_ends_in_a_verdict_a_run_file_and_a_report") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let before = Before::look();
    let (child, out) = start_plan(directory.path());
    let output = wait(child, &["qualify"]);
    let document = json(&output);
    let status = match document["verdict"].as_str() {
        Some("pass") => 0,
        Some("fail") => 1,
        Some("inconclusive") => 3,
        other => panic!("verdict {other:?}"),
    };
    assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
    assert_eq!(document["schema"], "triptime.result/1");
    assert_eq!(document["run"]["state"], "complete");
    for name in [
        "rtt/reflect",
        "turnaround/reflect",
        "publish/lateness",
        "delivery/subscribe",
    ] {
        assert!(count(series(&document, name), "received") > 0, "{name}");
    }
    for stream in ["MU01", "MU04"] {
        let age = series(&document, &format!("age/{stream}"));
        assert_eq!(count(age, "expected"), count(age, "received") + count(age, "lost"));
        // Every sample was published once, or is missed at the publisher and lost at the subscriber: 3 s of 4800/s.
        assert!(
            count(age, "expected") <= 14_400 && count(age, "received") > 7_200,
            "{age}"
        );
        assert_eq!((count(age, "duplicate"), count(age, "reordered")), (0, 0));
    }
    let published = series(&document, "publish/lateness");
    assert_eq!(
        count(published, "expected"),
        28_800,
        "3 s of 2400 frames/s of four streams"
    );
    every_frame_is_traced(&document);
    before.nothing_is_left();

    let html = std::fs::read_to_string(Path::new(&out).with_extension("html")).expect("an HTML report beside the run");
    assert!(html.contains("rtt/reflect") && html.contains("Will the trip arrive in time?"));
    let again = run(&["report", &out, "--json"]);
    assert_eq!(
        json(&again)["checks"],
        document["checks"],
        "the same limits judge it the same way later"
    );
    exports(&out);
}

/// Each frame of each stream is seen at every point of the bed, and the budget has its lines from them.
fn every_frame_is_traced(document: &Value) {
    let sent = count(series(document, "publish/lateness"), "received") / 4;
    let gaps = document["events"].as_array().expect("events");
    let gaps: Vec<&Value> = gaps.iter().filter(|event| event["kind"] == "hop-gap").collect();
    for stream in ["MU01", "MU02", "MU03", "MU04"] {
        for hop in [
            "nic-to-port",
            "port-to-edge",
            "nic-to-edge",
            "edge-to-app",
            "nic-to-app",
        ] {
            let hop = series(document, &format!("hop/{hop}/{stream}"));
            assert_eq!(count(hop, "expected"), sent, "{hop} {gaps:?}");
            // The kernel does not run a program inside the same program: events that it left out are reported.
            assert!(count(hop, "lost") == 0 || !gaps.is_empty(), "{hop}");
        }
        let lost = |hop: &str| count(series(document, &format!("hop/{hop}/{stream}")), "lost");
        assert_eq!(lost("nic-to-edge"), lost("nic-to-port") + lost("port-to-edge"));
        assert_eq!(lost("nic-to-app"), lost("nic-to-edge") + lost("edge-to-app"));
    }
    let checks = document["checks"].as_array().expect("checks");
    let transit = checks.iter().filter(|check| check["limit"] == "transit.max");
    assert_eq!(transit.count(), 4);
    let lines = document["budget"]["lines"].as_array().expect("lines");
    for (line, worst) in [
        ("Host transit", "hop/nic-to-edge/"),
        ("Guest delivery", "delivery/subscribe"),
    ] {
        let line = lines.iter().find(|entry| entry["line"] == line).expect("the line");
        assert_eq!(line["measured"], true, "{line}");
        assert!(
            line["worst"].as_str().is_some_and(|name| name.starts_with(worst)),
            "{line}"
        );
    }
}

fn exports(out: &str) {
    let csv = run(&["export", out, "--format", "csv"]);
    assert_eq!(csv.status.code(), Some(0), "{}", stderr(&csv));
    let csv = String::from_utf8(csv.stdout).expect("UTF-8");
    assert!(csv.lines().count() > 20 && csv.contains("age/MU01"));
    let hlog = run(&["export", out, "--format", "hlog"]);
    assert!(String::from_utf8_lossy(&hlog.stdout).contains("Tag=rtt/reflect"));
    let rows = std::process::Command::new("sqlite3")
        .args([out, "select count(*) from window"])
        .output()
        .expect("sqlite3");
    let rows: u64 = String::from_utf8_lossy(&rows.stdout)
        .trim()
        .parse()
        .expect("readable with the plain shell");
    assert!(rows > 20);
}

/// Descendants of this test that run stress-ng for a plan.
fn children_of(parent: u32) -> usize {
    let wanted = parent.to_string();
    let stat_of = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("stat")).ok();
    std::fs::read_dir("/proc")
        .expect("/proc")
        .filter_map(Result::ok)
        .filter_map(stat_of)
        .filter(|stat| {
            stat.rsplit(')')
                .next()
                .is_some_and(|rest| rest.split_whitespace().nth(1) == Some(&wanted))
        })
        .count()
}

fn ended_by(signal: Signal) {
    let directory = tempfile::tempdir().expect("tempdir");
    let before = Before::look();
    let (mut child, out) = start_plan(directory.path());
    let id = child.id();
    until_thread(&mut child, "wakeup");
    assert!(children_of(id) > 0, "the external load is a child");
    // Another measurement is to run at the same time.
    std::thread::sleep(Duration::from_secs(2));
    support::signal(&child, signal);
    let output = wait(child, &["qualify"]);
    before.nothing_is_left();
    assert_eq!(children_of(id), 0);
    if signal != Signal::KILL {
        let document = json(&output);
        assert_eq!(document["run"]["state"], "interrupted");
        assert_ne!(document["verdict"], "pass");
        assert!(matches!(output.status.code(), Some(1 | 3)), "{}", stderr(&output));
    }
    let report = run(&["report", &out, "--json"]);
    let document = json(&report);
    assert_eq!(document["run"]["state"], "interrupted");
    assert!(count(series(&document, "wakeup/cpu1"), "received") > 0);
}

#[test]
fn an_interrupt_keeps_what_was_measured_and_leaves_nothing() {
    if root_or_skip("an_interrupt_keeps_what_was_measured_and_leaves_nothing") {
        ended_by(Signal::INT);
        ended_by(Signal::TERM);
    }
}

#[test]
fn a_killed_run_leaves_nothing_but_its_file() {
    if root_or_skip("a_killed_run_leaves_nothing_but_its_file") {
        ended_by(Signal::KILL);
    }
}

const SIDE_BY_SIDE: &str = r#"
name = "two"
what = "Wake-ups beside the round trip"
limits = "substation"
window = "500ms"

[cpus]
housekeeping = "first"
measured = "rest"

[[step]]
probe = "reflect"
duration = "2s"
interval = "1ms"
policy = "fifo:60"
receive = "block"
cpus = "FIRST"

[[step]]
probe = "wakeup"
duration = "2s"
spin_ahead = "20us"
cpus = "LAST"
beside_previous = true
"#;

/// Begin and end of a step, in seconds of the run.
fn span(document: &Value, step: &str) -> (f64, f64) {
    let at = |kind: &str| {
        let events = document["events"].as_array().expect("events");
        let found = events
            .iter()
            .find(|event| event["kind"] == kind && event["text"] == step);
        found.and_then(|event| event["at_s"].as_f64()).expect("an event")
    };
    (at("step-started"), at("step-stopped"))
}

#[test]
fn steps_side_by_side_measure_at_the_same_time_on_cpus_of_their_own() {
    const NAME: &str = "steps_side_by_side_measure_at_the_same_time_on_cpus_of_their_own";
    let cpus = sys::thread::cpuset_cpus();
    if !root_or_skip(NAME) {
        return;
    }
    let (Some(first), Some(last)) = (cpus.first(), cpus.iter().nth(1)) else {
        testing::skip(NAME, "needs two CPUs");
        return;
    };
    let directory = tempfile::tempdir().expect("tempdir");
    let (plan, out) = (
        path(directory.path(), "two.toml"),
        path(directory.path(), "run.triptime"),
    );
    let on = |wakeups: u32| {
        let text = SIDE_BY_SIDE.replace("FIRST", &first.to_string());
        std::fs::write(&plan, text.replace("LAST", &wakeups.to_string())).expect("writable");
        let load = format!("hackbench:groups=1,fds=1@{first}");
        run(&["qualify", &plan, "--load", &load, "--json", "--out", &out])
    };
    let refused = on(first);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(
        stderr(&refused).contains(&format!("both take cpu {first}")),
        "{}",
        stderr(&refused)
    );
    assert!(!Path::new(&out).exists());

    let document = json(&on(last));
    let (trips, wakeups) = (span(&document, "round trip"), span(&document, "wake-up"));
    assert!(trips.0 < wakeups.1 && wakeups.0 < trips.1, "{trips:?} {wakeups:?}");
    assert!(trips.1.max(wakeups.1) < 3.5, "2 s, and not 4: {trips:?} {wakeups:?}");
    let named = [format!("wakeup/cpu{last}"), "rtt/reflect".to_owned()];
    for name in named {
        let series = series(&document, &name);
        assert!(count(series, "received") + count(series, "missed") > 1_500, "{series}");
        let beside = format!("round trip on cpu {first}, wake-up on cpu {last}");
        assert_eq!(series["settings"]["side by side"], beside, "{series}");
        let load = series["settings"]["load"].as_str().expect("text");
        assert!(load.contains("hackbench"), "of the command line: {load}");
    }
}

/// The acceptance of Red Hat asks for a week: seconds never pass, however fast the answers are.
#[test]
fn goose_between_two_devices_is_timed_and_seconds_are_no_week() {
    const NAME: &str = "goose_between_two_devices_is_timed_and_seconds_are_no_week";
    if !root_or_skip(NAME) {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let (plan, out) = (
        path(directory.path(), "pong.toml"),
        path(directory.path(), "run.triptime"),
    );
    let text = "name = \"pong\"\nwhat = \"tests\"\nlimits = \"vpac\"\nwindow = \"500ms\"\n[cpus]\nhousekeeping = \"first\"\n\
                measured = \"rest\"\n[[step]]\nprobe = \"ping-pong\"\nlabel = \"two\"\nduration = \"3s\"\npause = \"2ms\"\npolicy = \"fifo:60\"\n";
    std::fs::write(&plan, text).expect("writable");
    let document = json(&run(&["qualify", &plan, "--json", "--out", &out]));
    assert_ne!(document["verdict"], "pass", "{document}");
    let (pongs, answers) = (series(&document, "pong/two"), series(&document, "turnaround/pong"));
    assert!(count(pongs, "received") > 100, "{pongs}");
    assert!(
        count(answers, "received") > count(pongs, "received"),
        "the first ones do not count: {answers}"
    );
    let checks = document["checks"].as_array().expect("checks");
    let largest = checks
        .iter()
        .find(|check| check["limit"] == "pong.max")
        .expect("judged");
    let why = largest["why"].as_str().expect("text");
    assert!(
        largest["verdict"] == "fail" || why.contains("of the 7.00 d that the limit requires"),
        "{largest}"
    );
    for limit in ["pong.lost", "pong.unwanted"] {
        assert!(checks.iter().any(|check| check["limit"] == limit), "{limit}");
    }
}
