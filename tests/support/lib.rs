//! Helpers for the end-to-end tests: the binary, run under a time limit, and what it said.

pub mod bridge;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use sys::netns::NetNs;

/// The binary under test: `TRIPTIME_BIN`, else what `make build` made.
pub fn binary() -> PathBuf {
    let path = std::env::var_os("TRIPTIME_BIN").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/triptime"),
        PathBuf::from,
    );
    assert!(path.exists(), "{}: run `make build` first", path.display());
    path
}

/// A command that runs the binary.
pub fn triptime() -> Command {
    Command::new(binary())
}

/// Starts the binary with its output kept.
pub fn start(arguments: &[&str]) -> Child {
    let mut command = triptime();
    command.args(arguments).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the binary starts")
}

/// Runs the binary to its end.
///
/// # Panics
/// When it has not ended after two minutes; it is killed then.
pub fn run(arguments: &[&str]) -> Output {
    wait(start(arguments), arguments)
}

/// Waits for a started binary.
///
/// # Panics
/// When it has not ended after two minutes; it is killed then.
pub fn wait(child: Child, arguments: &[&str]) -> Output {
    let id = Pid::from_child(&child);
    let until = Instant::now() + Duration::from_secs(120);
    // A thread takes the output as it comes: a full pipe would hold the program up.
    let reader = std::thread::spawn(move || child.wait_with_output());
    let mut timed_out = false;
    while !reader.is_finished() {
        if !timed_out && Instant::now() > until {
            timed_out = true;
            let _ = kill_process(id, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = reader.join().expect("no panic").expect("its output");
    assert!(!timed_out, "{arguments:?} did not end: {}", stderr(&output));
    output
}

/// Standard error as text.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The one JSON document on standard output.
///
/// # Panics
/// When standard output is anything else.
pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("not one JSON document: {error}: {}", stderr(output)))
}

/// The series of a result document, by name.
///
/// # Panics
/// When it is not there.
pub fn series<'a>(document: &'a Value, name: &str) -> &'a Value {
    let all = document["series"].as_array().expect("series");
    let found = all.iter().find(|series| series["name"] == name);
    found.unwrap_or_else(|| {
        panic!(
            "no {name} in {:?}",
            all.iter().map(|s| s["name"].clone()).collect::<Vec<_>>()
        )
    })
}

/// Whether the test may go on: root, or named as skipped.
pub fn root_or_skip(test: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        testing::skip(test, "needs root");
    }
    root
}

/// What is there to be left behind: network interfaces and namespaces of this machine, and mounts.
pub fn traces() -> String {
    let text = |program: &str, arguments: &[&str]| {
        let output = Command::new(program)
            .args(arguments)
            .output()
            .expect("iproute2 is installed");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let mounts = std::fs::read_to_string("/proc/self/mounts").expect("mounts");
    text("ip", &["netns", "list"]) + &text("ip", &["-br", "link"]) + &mounts
}

/// A namespace with `v0` and `v1` joined to each other.
pub fn namespace() -> NetNs {
    let namespace = NetNs::create().expect("a namespace");
    let made = namespace.run(|| {
        sys::link::add_veth("v0", "v1", &namespace)?;
        sys::link::set_up("v0")?;
        sys::link::set_up("v1")
    });
    made.expect("a thread in it").expect("a veth pair");
    for _ in 0..1_000 {
        let carrier = namespace.run(|| sys::link::find("v1").map(|link| link.carrier));
        if matches!(carrier, Ok(Ok(true))) {
            return namespace;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("no carrier in 5 s");
}
