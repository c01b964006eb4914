//! Steps of a plan in a container: the device under test is there, the run and the verdict are here, and nothing is left behind.

mod beside;
mod errand;

use beside::MANAGEMENT;
use model::Cause;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use store::RunFile;
use support::left::Before;
use support::places::{Alone, alone, in_container, plan};
use support::stalls::{beside_stalls, told_by_the_host};
use support::{json, root_or_skip, run, series, signal, start, stderr};
use tempfile::TempDir;

const STEPS: &str = r#"
[[step]]
probe = "wakeup"
duration = "2s"
interval = "1ms"
policy = "fifo:80"

[[step]]
probe = "reflect"
duration = "1s"
interval = "1ms"
policy = "fifo:60"
receive = "block"

[[step]]
probe = "sampled-values"
duration = "2s"
streams = 2
rate = 4000
asdus = 1
policy = "fifo:60"

[[step]]
probe = "talk-listen"
duration = "1s"
interval = "1ms"
policy = "fifo:60"

[[step]]
probe = "trip"
duration = "4s"
relay = ["bays1", "bays1"]
streams = 1
scenario = ["overcurrent"]
settle = "300ms"
policy = "fifo:60"

[[step]]
probe = "ping-pong"
duration = "4s"
policy = "fifo:60"
pause = "2ms"
"#;

const STALLED: &str = r#"
[[step]]
probe = "wakeup"
duration = "6s"
interval = "500us"
policy = "fifo:80"
"#;

/// Runs at the same time on the guest's other CPU, by the guest's numbers.
const BESIDE_IT: &str = r#"
[[step]]
probe = "wakeup"
label = "beside"
duration = "6s"
interval = "10ms"
cpus = "first"
beside_previous = true
"#;

const ROUND_TRIP: &str = r#"
[[step]]
probe = "reflect"
duration = "3s"
interval = "20ms"
policy = "fifo:60"
receive = "block"
"#;

fn can(test: &str) -> Option<Alone> {
    if !root_or_skip(test) {
        return None;
    }
    let runtime = Command::new("runc").arg("--version").stdout(Stdio::null()).status();
    if runtime.is_err() {
        testing::skip(test, "runc is not installed");
    }
    runtime.ok().map(|_| alone())
}

fn setting<'a>(series: &'a Value, name: &str) -> Option<&'a str> {
    series["settings"].get(name)?.as_str()
}

#[test]
fn every_step_runs_in_a_container_and_becomes_a_part_of_the_run() {
    let Some(_alone) = can("every_step_runs_in_a_container_and_becomes_a_part_of_the_run") else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let before = Before::look();
    let (output, out) = in_container(directory.path(), STEPS, &[]);
    // A stall of this machine makes the relays miss tasks, which fails a limit.
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{}", stderr(&output));
    before.nothing_is_left();
    let document = json(&output);
    let cpu = sys::thread::allowed_cpus().iter().last().expect("a CPU");
    for name in [
        &format!("wakeup/cpu{cpu}"),
        "age/MU01",
        "talk/test",
        "task/bays1-1",
        "task/bays1-2",
        "pong/devices",
        "turnaround/pong",
    ] {
        let series = series(&document, name);
        let place = setting(series, "place").unwrap_or_default();
        assert!(place.starts_with("container: runc"), "{name}: {series}");
        assert!(
            series["received"].as_u64().is_some_and(|samples| samples > 400),
            "{series}"
        );
    }
    // Round trips and trips are measured by the test set, which is here.
    for name in ["rtt/reflect", "trip/bays1-1-overcurrent", "trip/bays1-2-overcurrent"] {
        let series = series(&document, name);
        assert_eq!(setting(series, "place"), None, "{series}");
        assert!(
            series["received"].as_u64().is_some_and(|samples| samples > 0),
            "{series}"
        );
    }
    let run = RunFile::open(Path::new(&out)).expect("a run");
    let facts = run.facts().expect("facts");
    let fact = |group: &str, name: &str| {
        let found = facts.iter().find(|fact| fact.group == group && fact.name == name);
        found.unwrap_or_else(|| panic!("no {group}: {name}")).value.clone()
    };
    assert_eq!(
        fact("container: limits", "capabilities"),
        Ok("NET_RAW IPC_LOCK SYS_NICE".to_owned())
    );
    assert!(fact("place", "config.json").is_ok_and(|text| text.contains("CAP_NET_RAW")));
    let events = run.events().expect("events");
    let doubts = events.iter().filter(|event| event.text.contains("ended early"));
    assert_eq!(doubts.count(), 0, "{events:?}");
}

#[test]
fn what_held_up_a_thread_in_a_container_is_told_by_the_host() {
    let Some(_alone) = can("what_held_up_a_thread_in_a_container_is_told_by_the_host") else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let (output, out) = beside_stalls(3_000_000, || in_container(directory.path(), STALLED, &[]));
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr(&output));
    let run = RunFile::open(Path::new(&out)).expect("a run");
    let (id, _) = run.series().expect("series").remove(0);
    let spikes = run.spikes(id).expect("spikes");
    let by_us = spikes
        .iter()
        .filter_map(|spike| spike.explanation.as_ref())
        .filter(|why| {
            why.cause == Cause::Thread && why.occupants.iter().any(|part| part.what.contains("planted-stall"))
        });
    let found = by_us.count();
    // Six seconds have thirty stalls; if the machine stands still, events are overwritten before they are requested.
    assert!(found >= 15, "{found} of {}", spikes.len());
    // Its own number is known here, so it is not reported as another thread.
    let own = spikes.iter().filter_map(|spike| spike.explanation.as_ref());
    let wrong = own.filter(|why| why.cause == Cause::Thread && why.text.starts_with("thread wakeup/"));
    assert_eq!(wrong.map(|why| why.text.as_str()).next(), None);
}

/// `qualify` of these steps in a guest, or in a container in it, during stalls of 40 ms on this machine; returns its run, which exists as long as the
/// folder. `None` if the test was skipped.
fn stalled_guest(test: &str, place: &str, steps: &str) -> Option<(RunFile, TempDir)> {
    if !root_or_skip(test) {
        return None;
    }
    let kernel = match support::guest::guest("6.12-rt") {
        Ok(folder) => folder,
        Err(why) => {
            testing::skip(test, &why);
            return None;
        }
    };
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let before = Before::look();
    let out = directory.path().join("run.triptime").display().to_string();
    let path = |name: &str| kernel.join(name).display().to_string();
    let (plan, vmlinux, modules) = (plan(directory.path(), steps), path("vmlinux"), path(""));
    let words = [
        "qualify",
        &plan,
        "--place",
        place,
        "--accel",
        "tcg",
        "--kernel",
        &vmlinux,
        "--modules",
        &modules,
    ];
    let more = ["--out", &out, "--quiet", "--disturb"];
    let output = beside_stalls(40_000_000, || run(&[&words[..], &more].concat()));
    // An emulated guest passes nothing and fails nothing.
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    before.nothing_is_left();
    Some((RunFile::open(Path::new(&out)).expect("a run"), directory))
}

#[test]
fn a_guests_spike_names_what_held_up_its_virtual_cpu_on_the_host() {
    let test = "a_guests_spike_names_what_held_up_its_virtual_cpu_on_the_host";
    let Some((run, _folder)) = stalled_guest(test, "vm", &[STALLED, BESIDE_IT].concat()) else {
        return;
    };
    let mut all = run.series().expect("series");
    all.sort_by(|(_, one), (_, other)| other.name.cmp(&one.name));
    let names: Vec<&str> = all.iter().map(|(_, spec)| spec.name.as_str()).collect();
    assert_eq!(names, ["wakeup/cpu1", "wakeup/beside/cpu0"]);
    let (id, second) = (all[0].0, run.windows(all[1].0).expect("windows"));
    let first = run.windows(id).expect("windows");
    let at_once = |start_ns: u64, end_ns: u64| {
        second
            .iter()
            .any(|other| other.start_ns < end_ns && start_ns < other.end_ns)
    };
    let together = first
        .iter()
        .filter(|window| at_once(window.start_ns, window.end_ns))
        .count();
    assert!(together * 2 > first.len(), "{together} of {} windows", first.len());
    let found = told_by_the_host(&run, id);
    assert!(found >= 5, "{found} spikes name the stall");
}

/// Asserts that a guest's kernel answered over a second card, whose interrupts went to its housekeeping CPU.
fn a_second_card_answered(run: &RunFile) {
    let events = run.events().expect("events").into_iter().map(|event| event.text);
    let (answers, sent) = beside::answered(&events.collect::<Vec<_>>());
    assert!(
        answers * 2 > sent && sent > 0,
        "{answers} of {sent} over the second card"
    );
    let facts = run.facts().expect("facts");
    let card = facts
        .iter()
        .find(|fact| fact.group == "guest" && fact.name == "management card");
    let card = card.and_then(|fact| fact.value.clone().ok()).expect("a second card");
    assert!(
        card.contains("198.18.0.2/24, interrupts ") && card.ends_with(" on cpu 0"),
        "{card}"
    );
}

/// The container asks the guest, and the guest the host. During this time the guest's kernel answers over its second card.
#[test]
fn of_a_container_in_a_guest_all_three_tell_why_it_was_late() {
    let test = "of_a_container_in_a_guest_all_three_tell_why_it_was_late";
    let Some((run, _folder)) = stalled_guest(
        test,
        "container-in-vm",
        &[&MANAGEMENT.replace("200", "20"), STALLED, ROUND_TRIP].concat(),
    ) else {
        return;
    };
    a_second_card_answered(&run);
    let all = run.series().expect("series");
    let of = |name: &str| all.iter().find(|(_, spec)| spec.name == name).expect("a series");
    let (id, spec) = of("wakeup/cpu1");
    let place = spec.settings.iter().find(|(name, _)| name == "place").expect("a place");
    assert!(
        place.1.starts_with("vm: QEMU") && place.1.contains("; in it, container: "),
        "{}",
        place.1
    );
    let found = told_by_the_host(&run, *id);
    assert!(found >= 5, "{found} spikes name the stall");
    let counted = |name: &str| {
        let windows = run.windows(of(name).0).expect("windows");
        let counters = windows.iter().map(|window| window.counters);
        counters.fold((0, 0), |(received, lost), one| {
            (received + one.received, lost + one.lost)
        })
    };
    let ((back, lost), (answered, _)) = (counted("rtt/reflect"), counted("turnaround/reflect"));
    // A stall may delay an answer beyond the waiting time; then it is counted as lost.
    assert!(
        back >= 50 && back <= answered + 2 && answered <= back + lost + 2,
        "{back} came back of {answered} answered, {lost} did not"
    );
    let facts = run.facts().expect("facts");
    let where_it_is = |group: &str| {
        let found = facts
            .iter()
            .find(|fact| fact.group == group && fact.name == "container");
        found.and_then(|fact| fact.value.clone().ok()).expect("a fact")
    };
    assert!(
        where_it_is("vm: virtualisation").starts_with("none"),
        "the guest is in no container"
    );
    let inside = where_it_is("vm: container: virtualisation");
    assert!(!inside.starts_with("none"), "{inside}");
}

#[test]
fn a_container_ends_with_the_run_that_was_killed() {
    let Some(_alone) = can("a_container_ends_with_the_run_that_was_killed") else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let before = Before::look();
    let out = directory.path().join("run.triptime").display().to_string();
    let plan = plan(directory.path(), &STALLED.replace("6s", "60s"));
    let arguments = ["qualify", &plan, "--place", "container", "--out", &out, "--disturb"];
    let mut child = start(&arguments);
    let began = Instant::now();
    while groups() == 0 {
        assert!(began.elapsed() < Duration::from_secs(30), "no container came up");
        std::thread::sleep(Duration::from_millis(20));
    }
    signal(&child, rustix::process::Signal::KILL);
    child.wait().expect("its end");
    while groups() > 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "the container goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
    // The next run removes the files of the killed one.
    let next = tempfile::tempdir().expect("a directory");
    let (output, _) = in_container(next.path(), &STALLED.replace("6s", "1s"), &[]);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr(&output));
    before.nothing_is_left();
}

/// Control groups of our containers.
fn groups() -> usize {
    ["/sys/fs/cgroup/cpuset", "/sys/fs/cgroup"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        // Groups of beds that other tests make have names that begin so.
        .filter(|name| name.starts_with("triptime-") && !name.starts_with("triptime-test-"))
        .count()
}
