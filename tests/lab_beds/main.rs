//! Steps of a plan in the containers of each runtime, and beds that stay up: they are made, found, listed and taken down, and leave nothing behind.

mod both_ends;
mod forwarders;
mod named;
mod parts;
mod ports;

use named::{Named, at, directed, out, received, until};
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use store::RunFile;
use support::left::Before;
use support::places::{Alone, alone, in_container};
use support::{json, root_or_skip, run, series, signal, start, stderr};

const STEPS: &str = r#"
[[step]]
probe = "wakeup"
duration = "1s"
interval = "1ms"
policy = "fifo:80"

[[step]]
probe = "sampled-values"
duration = "2s"
streams = 2
rate = 4000
asdus = 1
policy = "fifo:60"
"#;

pub(crate) fn can(test: &str, program: &str) -> Option<Alone> {
    if !root_or_skip(test) {
        return None;
    }
    if Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_err()
    {
        testing::skip(test, &format!("{program} is not installed"));
        return None;
    }
    Some(alone())
}

/// Checks the version of a runtime, and the names of its settings in the run.
fn a_step_runs_by(runtime: &str, says: &str, settings: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    let before = Before::look();
    // The CPU is named, because a plan judges no CPU that a thread of another test owns.
    let cpu = sys::thread::allowed_cpus().iter().last().expect("a CPU").to_string();
    let words = ["--runtime", runtime, "--window", "200ms", "--cpus", &cpu];
    let (output, out) = in_container(directory.path(), STEPS, &words);
    // A stall of this machine can fail a limit.
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{}", stderr(&output));
    before.nothing_is_left();
    let document = json(&output);
    for name in [&format!("wakeup/cpu{cpu}"), "age/MU01"] {
        let series = series(&document, name);
        let place = series["settings"]["place"].as_str().unwrap_or_default();
        assert!(place.starts_with(&format!("container: {says}")), "{name}: {series}");
        assert!(
            series["received"].as_u64().is_some_and(|samples| samples > 400),
            "{series}"
        );
    }
    let run = RunFile::open(Path::new(&out)).expect("a run");
    // Windows have the requested length in every place, because longer windows have larger maxima.
    for (id, spec) in run.series().expect("series") {
        let windows = run.windows(id).expect("windows");
        let longest = windows.iter().map(|window| window.end_ns - window.start_ns).max();
        assert!(longest.is_none_or(|ns| ns < 220_000_000), "{}: {longest:?}", spec.name);
    }
    let facts = run.facts().expect("facts");
    let fact = |group: &str, name: &str| {
        let found = facts.iter().find(|fact| fact.group == group && fact.name == name);
        found.unwrap_or_else(|| panic!("no {group}: {name}")).value.clone()
    };
    // Inside a container exactly these capabilities are visible.
    let held = fact("container: limits", "capabilities");
    assert_eq!(held, Ok("NET_RAW IPC_LOCK SYS_NICE".to_owned()));
    let text = fact("place", settings).expect("settings").to_lowercase();
    assert!(text.contains("net_raw") && text.contains("ipc_lock"), "{text}");
}

#[test]
fn steps_run_in_a_system_container_of_lxc() {
    if let Some(_alone) = can("steps_run_in_a_system_container_of_lxc", "lxc-execute") {
        a_step_runs_by("lxc", "LXC 5", "lxc.conf");
    }
}

#[test]
fn steps_run_in_a_container_of_crun() {
    if let Some(_alone) = can("steps_run_in_a_container_of_crun", "crun") {
        a_step_runs_by("crun", "crun", "config.json");
    }
}

#[test]
fn what_a_runtime_cannot_do_is_said() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(_alone) = can("what_a_runtime_cannot_do_is_said", "runc") else {
        return;
    };
    for (words, status, part) in [
        (&["--runtime", "docker"][..], 3, "use runc"),
        (&["--runtime", "other"], 2, "runc, crun, podman, lxc, docker"),
        (&["--runtime", "runc", "--place", "native"], 2, "--place container"),
    ] {
        let plan = support::places::plan(directory.path(), STEPS);
        let out = directory.path().join("run.triptime").display().to_string();
        let place: &[&str] = if words.len() == 2 {
            &["--place", "container"]
        } else {
            &[]
        };
        let output = run(&[&["qualify", &plan, "--disturb", "--quiet", "--out", &out], place, words].concat());
        assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
        let _ = std::fs::remove_file(&out);
        let dry = run(&[&["qualify", &plan, "--disturb", "--dry-run"], place, words].concat());
        assert_eq!(dry.status.code(), Some(status), "{}", stderr(&dry));
    }
}

#[test]
fn a_bed_stays_up_until_it_is_taken_down() {
    let Some(_alone) = can("a_bed_stays_up_until_it_is_taken_down", "nsenter") else {
        return;
    };
    let before = Before::look();
    for network in ["veth", "bridge", "macvlan"] {
        let bed = Named::new(network);
        let made = bed.up(&["--network", network]);
        assert!(made.status.success(), "{}", stderr(&made));
        assert!(out(&made).contains("; made"), "{}", out(&made));
        let again = bed.up(&["--network", network]);
        assert!(
            again.status.success() && out(&again).contains("; is up"),
            "{}",
            out(&again)
        );
        let other = bed.up(&["--network", network, "--devices", "2"]);
        assert_eq!(other.status.code(), Some(2));
        assert!(stderr(&other).contains("lab down"), "{}", stderr(&other));
        let frames = directed(&bed, &out(&made));
        // Four thousand frames are sent.
        assert!(frames > 3_000, "{network}: {frames}");
        let listed = bed.listed().expect("listed");
        assert!(listed.contains(network) && !listed.contains("STALE"), "{listed}");
        let down = bed.down();
        assert!(down.status.success(), "{}", stderr(&down));
        assert_eq!(bed.listed(), None);
        assert_eq!(bed.down().status.code(), Some(2), "there is none");
    }
    before.nothing_is_left();
}

#[test]
fn containers_stand_in_a_bed_and_what_is_stale_is_told() {
    let Some(_alone) = can("containers_stand_in_a_bed_and_what_is_stale_is_told", "runc") else {
        return;
    };
    let before = Before::look();
    let bed = Named::new("held");
    let cpu = sys::thread::allowed_cpus().iter().last().expect("a CPU").to_string();
    let words = [
        "--place",
        "container",
        "--devices",
        "2",
        "--cpus",
        &cpu,
        "--runtime",
        "runc",
    ];
    let made = bed.up(&words);
    assert!(made.status.success(), "{}", stderr(&made));
    let first = bed.way(&out(&made), "device 0");
    let probe = [
        "wakeup",
        "--cpus",
        &cpu,
        "--policy",
        "fifo:80",
        "--duration",
        "1s",
        "--json",
        "--out",
        "/tmp/run.triptime",
    ];
    let measured = at(&first, &probe);
    assert!(matches!(measured.status.code(), Some(0 | 3)), "{}", stderr(&measured));
    let samples = series(&json(&measured), &format!("wakeup/cpu{cpu}"))["received"].as_u64();
    assert!(samples.is_some_and(|samples| samples > 400), "{samples:?}");

    let process = holder(&bed);
    kill_process(process, Signal::KILL).expect("killed");
    std::thread::sleep(Duration::from_millis(500));
    let listed = bed.listed().expect("listed");
    assert!(listed.contains("STALE") && listed.contains("does not run"), "{listed}");
    let again = bed.up(&words);
    assert!(
        again.status.success() && out(&again).contains("; made"),
        "{}",
        stderr(&again)
    );

    let record = format!("/run/triptime/labs/{}/lab.json", bed.0);
    let text = std::fs::read_to_string(&record).expect("a record");
    let boot = text
        .lines()
        .find(|line| line.contains("\"boot\""))
        .expect("a boot")
        .to_owned();
    std::fs::write(&record, text.replace(&boot, "  \"boot\": \"another\"")).expect("written");
    let listed = bed.listed().expect("listed");
    assert!(listed.contains("started again"), "{listed}");
    assert!(bed.down().status.success());
    before.nothing_is_left();

    // A container is found even without its record.
    let made = bed.up(&words);
    assert!(made.status.success(), "{}", stderr(&made));
    std::fs::write(&record, "{").expect("written");
    assert!(bed.listed().is_some_and(|listed| listed.contains("STALE")));
    assert!(bed.down().status.success());
    before.nothing_is_left();
}

/// The first process of the container at the bed's first device.
fn holder(bed: &Named) -> Pid {
    let folder = format!("/run/triptime/labs/{}/dut/state", bed.0);
    let id = format!("triptime-{}-dut", bed.0);
    let state = Command::new("runc")
        .args(["--root", &folder, "state", &id])
        .output()
        .expect("runc");
    let state: serde_json::Value = serde_json::from_slice(&state.stdout).expect("JSON");
    let number = state["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
    number.and_then(Pid::from_raw).expect("a process")
}

/// One boot is used to test the macvtap, commands in a guest that stays up, a second caller, and the end of the guest.
#[test]
fn a_guest_stays_up_and_takes_one_command_after_another() {
    let test = "a_guest_stays_up_and_takes_one_command_after_another";
    let Some(_alone) = can(test, "nsenter") else {
        return;
    };
    let kernel = match support::guest::guest("6.12-rt") {
        Ok(folder) => folder,
        Err(why) => return testing::skip(test, &why),
    };
    let before = Before::look();
    let bed = Named::new("vm");
    let path = |name: &str| kernel.join(name).display().to_string();
    let (vmlinux, modules) = (path("vmlinux"), path(""));
    let words = [
        "--place",
        "vm",
        "--network",
        "macvlan",
        "--accel",
        "tcg",
        "--kernel",
        &vmlinux,
        "--modules",
        &modules,
    ];
    // After a kill halfway, QEMU runs without a record.
    let mut child = start(&[&["lab", "up", &bed.0], &words[..]].concat());
    until(|| guests(&bed) == 1);
    signal(&child, Signal::KILL);
    child.wait().expect("its end");
    assert!(bed.listed().expect("listed").contains("STALE"));
    let made = bed.up(&words);
    assert!(made.status.success(), "{}", stderr(&made));
    assert!(
        out(&made).contains("; made") && out(&made).contains("emulated"),
        "{}",
        out(&made)
    );
    assert_eq!(guests(&bed), 1, "the one of the killed start is gone");
    assert!(out(&bed.up(&words)).contains("; is up"));

    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str| directory.path().join(name).display().to_string();
    let lost = file("lost.triptime");
    let mut killed = start(&["lab", "run", &bed.0, "--out", &lost, "wakeup", "--duration", "100s"]);
    std::thread::sleep(Duration::from_secs(2));
    signal(&killed, Signal::KILL);
    killed.wait().expect("its end");
    // Samples that the guest publishes, from a file of this machine, reach the test set.
    let kept = file("kept.triptime");
    let set = file("bays.toml");
    std::fs::write(&set, "[[stream]]\nsvID = \"BAY\"\nprofile = \"F4800S2I4U4\"\n").expect("written");
    let publish = [
        "publish",
        "eth0",
        "--set",
        &set,
        "--duration",
        "1s",
        "--out",
        &kept,
        "--json",
    ];
    let measured = run(&[&["lab", "run", &bed.0], &publish[..]].concat());
    assert!(matches!(measured.status.code(), Some(0 | 3)), "{}", stderr(&measured));
    assert!(Path::new(&kept).exists(), "{}{}", out(&measured), stderr(&measured));
    assert!(!Path::new(&lost).exists(), "the run that was killed has none");
    let frames = received(&bed.way(&out(&made), "test set"), "ts0");
    assert!(frames > 100, "{frames} of 2400");

    assert!(bed.down().status.success());
    assert_eq!((guests(&bed), bed.listed()), (0, None));
    before.nothing_is_left();
}

/// Processes of QEMU that have this bed's first guest.
fn guests(bed: &Named) -> usize {
    let named = format!("guest=triptime-{}-dut,", bed.0);
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines
        .filter(|line| String::from_utf8_lossy(line).contains(&named))
        .count()
}

#[test]
fn a_bed_that_was_killed_while_it_was_made_is_taken_down() {
    let Some(_alone) = can("a_bed_that_was_killed_while_it_was_made_is_taken_down", "runc") else {
        return;
    };
    let before = Before::look();
    for wait_ms in [5, 20, 60, 150, 400] {
        let bed = Named::new("killed");
        let mut child = start(&["lab", "up", &bed.0, "--place", "container", "--runtime", "runc"]);
        std::thread::sleep(Duration::from_millis(wait_ms));
        signal(&child, Signal::KILL);
        child.wait().expect("its end");
        // If it was killed before it began, there is none.
        let down = bed.down();
        assert!(matches!(down.status.code(), Some(0 | 2)), "{}", stderr(&down));
        assert_eq!(bed.listed(), None);
        before.nothing_is_left();
    }
    let lost = Named::new("lost");
    assert!(lost.up(&[]).status.success());
    std::fs::remove_dir_all(format!("/run/triptime/labs/{}", lost.0)).expect("removed");
    let listed = lost.listed().expect("listed by its namespaces");
    assert!(listed.contains("STALE"), "{listed}");
    assert!(lost.down().status.success());
    before.nothing_is_left();
}

#[test]
fn what_cannot_stay_up_is_refused_with_what_to_use() {
    let Some(_alone) = can("what_cannot_stay_up_is_refused_with_what_to_use", "nsenter") else {
        return;
    };
    let bed = Named::new("refused");
    for (words, part) in [
        (
            &["--network", "tap", "--devices", "2"][..],
            "use a bridge, a macvlan or Open vSwitch",
        ),
        (&["--nic", "a,b,c"], "two ports"),
        (&["--nic", "nowhere"], "no such interface"),
        (
            &["--place", "vm", "--kernel", "/nowhere", "--modules", "/nowhere"],
            "/nowhere",
        ),
        (&["--kernel", "/proc/version", "--modules", "/proc"], "--place vm"),
        (&["--cpus", "0"], "--place container"),
        (
            &["--network", "veth", "--devices", "2"],
            "use a bridge, a macvlan or Open vSwitch",
        ),
        (&["--place", "container", "--runtime", "docker"], "runc or crun"),
    ] {
        let output = bed.up(words);
        assert!(matches!(output.status.code(), Some(2 | 3)), "{words:?}");
        assert!(stderr(&output).contains(part), "{words:?}: {}", stderr(&output));
        assert_eq!(bed.listed(), None, "{words:?}");
    }
    assert_eq!(run(&["lab", "up", "a/b"]).status.code(), Some(2));
}
