//! Each way in which a guest can end is reported, and leaves nothing behind.

use crate::{boots, with};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};
use support::{run, start, stderr, wait};

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
