//! Helpers for the end-to-end tests: the binary, run under a time limit, and its output.

pub mod bridge;
pub mod browser;
pub mod feeder;
pub mod guest;
mod held;
pub mod left;
pub mod memory;
pub mod places;
pub mod stalls;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use sys::netns::NetNs;
use testing::Running;

/// The binary under test: `TRIPTIME_BIN`, or the result of `make build`.
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

/// Starts the binary with its output kept; it ends when it is dropped.
pub fn start(arguments: &[&str]) -> Running {
    spawn(triptime(), arguments)
}

fn spawn(mut command: Command, arguments: &[&str]) -> Running {
    command.args(arguments).stdin(Stdio::null());
    Running::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
}

/// Runs the binary to its end.
///
/// # Panics
/// When it has not ended after two minutes; it is killed then.
pub fn run(arguments: &[&str]) -> Output {
    wait(start(arguments), arguments)
}

/// The same in this directory, in which run files are written by default.
///
/// # Panics
/// As of [`run`].
pub fn run_in(directory: &Path, arguments: &[&str]) -> Output {
    // The path of the binary may be relative to where the test runs.
    let mut command = Command::new(binary().canonicalize().expect("the binary"));
    command.current_dir(directory);
    wait(spawn(command, arguments), arguments)
}

/// Waits for a started binary.
///
/// # Panics
/// When it has not ended after two minutes; it is killed then, and soon after it every process that keeps its output open.
pub fn wait(child: Running, arguments: &[&str]) -> Output {
    wait_up_to(Duration::from_secs(120), child, arguments)
}

/// The same for another time than two minutes.
///
/// # Panics
/// As of [`wait`].
pub fn wait_up_to(time: Duration, child: Running, arguments: &[&str]) -> Output {
    let (id, pipes) = (Pid::from_child(&child), held::pipes(&child));
    let until = Instant::now() + time;
    let mut holders = None;
    // A thread reads the output continuously: a full pipe would block the program.
    let reader = std::thread::spawn(move || child.output());
    let mut timed_out = false;
    while !reader.is_finished() {
        if !timed_out && Instant::now() > until {
            timed_out = true;
            let _ = kill_process(id, Signal::KILL);
        }
        if holders.is_none() && Instant::now() > until + Duration::from_secs(20) {
            holders = Some(held::end_holders(&pipes));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = reader.join().expect("no panic").expect("its output");
    assert_eq!(holders, None, "{arguments:?} left processes: {}", stderr(&output));
    assert!(!timed_out, "{arguments:?} did not end: {}", stderr(&output));
    output
}

/// Waits until a started binary has a thread whose name begins with this, because measuring threads have the name of their probe: from then on no
/// frame is missed, even if the start was slow. Returns the thread's number.
///
/// # Panics
/// When it ends before, or has none after a minute; it is killed then.
pub fn until_thread(child: &mut Child, name: &str) -> u32 {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(number) = thread(child.id(), name) {
            return number;
        }
        let ended = child.try_wait().expect("our own child");
        if ended.is_some() || Instant::now() > until {
            let _ = child.kill();
            let mut said = String::new();
            let read = child.stderr.as_mut().map(|stderr| stderr.read_to_string(&mut said));
            panic!("no thread {name}: ended {ended:?}, {read:?}: {said}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a probe measures: its flight recorder is loaded, and its cost measured, before its thread starts.
pub fn until_measuring(child: &mut Child, probe: &str) {
    until_thread(child, probe);
    std::thread::sleep(Duration::from_millis(300));
}

/// Waits until a started program has a packet socket in its network namespace, in which no other process may have one.
///
/// # Panics
/// When there is none after a minute.
pub fn until_packet_socket(child: &Child) {
    let until = Instant::now() + Duration::from_secs(60);
    let sockets = || std::fs::read_to_string(format!("/proc/{}/net/packet", child.id())).unwrap_or_default();
    // The first line is a heading.
    while sockets().lines().count() < 2 {
        assert!(Instant::now() < until, "no packet socket");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn thread(process: u32, name: &str) -> Option<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let named = |task: &std::fs::DirEntry| {
        std::fs::read_to_string(task.path().join("comm")).is_ok_and(|comm| comm.starts_with(name))
    };
    tasks.flatten().find(named)?.file_name().to_str()?.parse().ok()
}

/// Waits until this interface of a started program's network namespace has sent so many frames.
///
/// # Panics
/// When it has not after a minute.
pub fn until_sent(child: &Child, interface: &str, frames: u64) {
    let until = Instant::now() + Duration::from_secs(60);
    let sent = || {
        let text = std::fs::read_to_string(format!("/proc/{}/net/dev", child.id())).unwrap_or_default();
        let line = text
            .lines()
            .find_map(|line| line.trim().strip_prefix(interface)?.strip_prefix(':'));
        // Eight fields of received frames, then sent bytes and sent frames.
        line.and_then(|line| line.split_whitespace().nth(9)?.parse::<u64>().ok())
    };
    while sent() < Some(frames) {
        assert!(Instant::now() < until, "{interface} sent {:?} frames", sent());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a file exists: a run file is made only after the signal handlers are set.
///
/// # Panics
/// When it does not exist after a minute.
pub fn until_file(path: &Path) {
    let until = Instant::now() + Duration::from_secs(60);
    while !path.exists() {
        assert!(Instant::now() < until, "no {}", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal to a child.
pub fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("our own child");
}

/// Ends a started binary as Ctrl-C does, and waits for it.
///
/// # Panics
/// As [`wait`].
pub fn end(child: Running, arguments: &[&str]) -> Output {
    signal(&child, Signal::INT);
    wait(child, arguments)
}

/// A file in `directory` with the limits of the profile `substation`, with each duration set to a minute, which no stall of this machine can exceed,
/// so that only doubts decide.
pub fn generous_limits(directory: &Path) -> String {
    let duration = |line: &&str| line.starts_with("allowed = \"") && line.ends_with("s\"");
    let generous = |line| if duration(&line) { "allowed = \"60s\"" } else { line };
    let profile = include_str!("../../limits/substation.toml");
    let text: Vec<&str> = profile.lines().map(generous).collect();
    let path = directory.join("generous.toml");
    std::fs::write(&path, text.join("\n")).expect("a profile");
    path.display().to_string()
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
/// If it is missing.
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

/// True if the test runs as root; otherwise it is reported as skipped.
pub fn root_or_skip(test: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        testing::skip(test, "needs root");
    }
    root
}

/// A namespace with `v0` and `v1` connected to each other.
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
