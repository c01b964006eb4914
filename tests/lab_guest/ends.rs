//! Each way in which a guest can end is reported, and leaves nothing behind.

use crate::{boots, kernel, with};
use model::EventKind;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};
use store::RunFile;
use support::{json, root_or_skip, run, series, start, stderr, wait};

/// The process of QEMU that `parent` started; waits until it exists.
fn qemu_of(parent: u32) -> Pid {
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        let processes = std::fs::read_dir("/proc").expect("processes").flatten();
        let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        if let Some(found) = numbers.find(|number| is_qemu_of(*number, parent)) {
            return Pid::from_raw(found).expect("a process");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("no QEMU in 60 s");
}

fn is_qemu_of(process: i32, parent: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let has = |key: &str, value: &str| {
        let mut lines = status.lines().filter_map(|line| line.split_once(":\t"));
        lines.any(|(name, found)| name == key && found.starts_with(value))
    };
    has("Name", "qemu") && has("PPid", &parent.to_string())
}

fn until_gone(process: Pid) {
    let path = format!("/proc/{}", process.as_raw_nonzero());
    let end = Instant::now() + Duration::from_secs(20);
    while Path::new(&path).exists() {
        assert!(Instant::now() < end, "{path} is still there");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until it prints this text on standard error.
fn until_said(child: &mut Child, text: &str) {
    let said = BufReader::new(child.stderr.take().expect("piped"));
    let found = said.lines().map_while(Result::ok).any(|line| line.contains(text));
    assert!(found, "it ended before it said {text}");
}

#[test]
fn a_hypervisor_that_is_killed_is_told_and_so_is_a_guest_that_panics() {
    let test = "a_hypervisor_that_is_killed_is_told_and_so_is_a_guest_that_panics";
    let Some(words) = boots(test) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("guest.triptime");
    let out = file.to_str().expect("UTF-8");
    let arguments = with(&words, &["--out", out, "wakeup", "--duration", "100s"]);
    let child = start(&arguments);
    let qemu = qemu_of(child.id());
    // Long enough for the firmware to begin, so that the guest is killed during its boot.
    std::thread::sleep(Duration::from_millis(500));
    kill_process(qemu, Signal::KILL).expect("killed");
    let output = wait(child, &arguments);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("QEMU ended (signal: 9"), "{said}");
    assert!(!file.exists(), "nothing was measured");

    let output = run(&with(&words, &["--append", "rdinit=/nothing", "--out", out, "wakeup"]));
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.contains("did not come up") && said.contains("Kernel panic"),
        "{said}"
    );
}

#[test]
fn a_guest_dies_with_the_program_that_made_it_and_one_under_way_ends_the_command() {
    let test = "a_guest_dies_with_the_program_that_made_it_and_one_under_way_ends_the_command";
    let Some(words) = boots(test) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("guest.triptime");
    let out = file.to_str().expect("UTF-8");
    let arguments = with(&words, &["--out", out, "wakeup", "--duration", "100s"]);
    let mut child = start(&arguments);
    let qemu = qemu_of(child.id());
    child.kill().expect("killed");
    child.wait().expect("gone");
    until_gone(qemu);

    let mut child = start(&arguments);
    let qemu = qemu_of(child.id());
    until_said(&mut child, "up in ");
    kill_process(qemu, Signal::KILL).expect("killed");
    let output = wait(child, &arguments);
    assert_eq!(output.status.code(), Some(3));
    until_gone(qemu);
    assert!(!file.exists(), "the run was in the guest");
}

#[test]
fn what_is_no_kernel_is_told() {
    let test = "what_is_no_kernel_is_told";
    let Some(words) = boots(test) else { return };
    let modules = words.last().expect("the modules");
    let arguments = [
        "lab",
        "guest",
        "--accel",
        "tcg",
        "--kernel",
        "/etc/passwd",
        "--modules",
        modules,
        "wakeup",
    ];
    let output = run(&arguments);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("did not come up") && said.contains("it said"), "{said}");
}

/// Three steps in one guest.
const STEPS: &str = r#"
name = "three"
what = "Three steps in one guest"
limits = "substation"
window = "500ms"
place = "vm"

[cpus]
housekeeping = "first"
measured = "rest"
"#;

/// A step that measures wake-ups for this time.
fn step(label: &str, duration: &str) -> String {
    format!(
        "[[step]]\nprobe = \"wakeup\"\nlabel = \"{label}\"\nduration = \"{duration}\"\ninterval = \"10ms\"\npolicy = \"fifo:80\"\n"
    )
}

/// Waits until the run in this file has begun its second step.
fn until_second_step(file: &Path) {
    let end = Instant::now() + Duration::from_secs(300);
    let begun = || {
        let events = RunFile::open(file).and_then(|run| run.events()).unwrap_or_default();
        let steps = events.iter().filter(|event| event.kind == EventKind::StepStarted);
        steps.count()
    };
    while begun() < 2 {
        assert!(Instant::now() < end, "no second step in 300 s");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn what_was_measured_before_a_guest_is_lost_is_kept() {
    let test = "what_was_measured_before_a_guest_is_lost_is_kept";
    let Some(kernel) = kernel(test).filter(|_| root_or_skip(test)) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let steps = [step("before", "2s"), step("lost", "100s"), step("after", "1s")];
    std::fs::write(path("plan.toml"), STEPS.to_owned() + &steps.concat()).expect("written");
    let (plan, out, kernel) = (path("plan.toml"), path("run.triptime"), kernel.display().to_string());
    let arguments = [
        "qualify",
        &plan,
        "--accel",
        "tcg",
        "--kernel",
        &kernel,
        "--out",
        &out,
        "--json",
        "--quiet",
        "--disturb",
    ];
    let child = start(&arguments);
    let qemu = qemu_of(child.id());
    until_second_step(Path::new(&out));
    kill_process(qemu, Signal::KILL).expect("killed");
    let output = wait(child, &arguments);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("QEMU ended (signal: 9"), "{said}");
    let document = json(&output);
    let before = series(&document, "wakeup/before/cpu1");
    assert!(
        before["received"].as_u64().is_some_and(|samples| samples > 20),
        "{before}"
    );
    assert_eq!(document["run"]["state"], "interrupted", "{}", document["run"]);
    let events = document["events"].as_array().expect("events");
    let says = |text: &str| {
        events
            .iter()
            .any(|event| event["text"].as_str().is_some_and(|own| own.contains(text)))
    };
    assert!(says("not measured to the end"), "{events:?}");
    assert!(
        says("not measured, because the place of the device failed before"),
        "{events:?}"
    );
}
