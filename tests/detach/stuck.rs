//! Runs that stand still, or whose disk becomes full.

use crate::Desk;
use rustix::process::Signal;
use serde_json::Value;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use store::RunFile;
use support::{binary, root_or_skip, stderr};
use testing::Running;

/// A run in the foreground.
const WAITED_FOR: [&str; 6] = [
    "qualify",
    "plan.toml",
    "--no-flight-recorder",
    "--quiet",
    "--out",
    "run.triptime",
];

#[test]
fn a_run_that_is_stopped_by_the_kernel_is_stuck_and_no_watchdog_hears_of_it() {
    let desk = Desk::new();
    let socket = desk.path("notify");
    let heard = UnixDatagram::bind(&socket).expect("a socket");
    heard.set_read_timeout(Some(Duration::from_millis(100))).expect("set");
    let mut command = desk.command(&binary(), &WAITED_FOR);
    // A sign of life is due after a third of this period, so one comes at each check, every two seconds.
    command.env("NOTIFY_SOCKET", &socket).env("WATCHDOG_USEC", "3000000");
    let child = Running::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
    let next = || {
        let mut said = [0; 500];
        let length = heard.recv(&mut said).ok()?;
        Some(String::from_utf8_lossy(&said[..length]).into_owned())
    };
    let mut said: Vec<String> = Vec::new();
    let until = Instant::now() + Duration::from_secs(60);
    while said.iter().filter(|text| *text == "WATCHDOG=1").count() < 3 {
        assert!(Instant::now() < until, "{said:?}");
        said.extend(next());
    }
    assert!(said.iter().any(|text| text.starts_with("READY=1\nSTATUS=")), "{said:?}");
    support::signal(&child, Signal::STOP);
    while next().is_some() {}
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(next(), None, "nothing goes on");
    // The file as it will be after a while, because the clock cannot be moved.
    let path = desk.told().join("two-steps.json");
    let mut entry: Value = serde_json::from_slice(&std::fs::read(&path).expect("its file")).expect("JSON");
    let seen_ns = entry["seen_ns"].as_i64().expect("an instant");
    entry["seen_ns"] = (seen_ns - 30_000_000_000).into();
    std::fs::write(&path, entry.to_string()).expect("writable");
    let stuck = desk.run("two-steps");
    assert_eq!(stuck["state"], "stuck", "{stuck}");
    assert!(
        stuck["why"]
            .as_str()
            .is_some_and(|why| why.contains("not reported for")),
        "{stuck}"
    );
    assert_eq!(desk.triptime(&["status", "two-steps"]).status.code(), Some(3));
    let waits = desk.triptime(&["stop", "two-steps", "--wait", "1s"]);
    assert_eq!(waits.status.code(), Some(3));
    assert!(stderr(&waits).contains("kill -9"), "{}", stderr(&waits));
    support::signal(&child, Signal::CONT);
    let until = Instant::now() + Duration::from_secs(60);
    let mut child = child;
    while child.try_wait().expect("our own child").is_none() {
        assert!(Instant::now() < until, "it was told to end");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Stops one thread of a process until its input is closed (ptrace(2): PTRACE_ATTACH stops only this thread).
const HOLD: &str = "import ctypes, os, sys\nlibc = ctypes.CDLL(None, use_errno=True)\nthread = int(sys.argv[1])\n\
    sys.exit(os.strerror(ctypes.get_errno())) if libc.ptrace(16, thread, 0, 0) else None\nos.waitpid(thread, 0x40000000)\n\
    print('held', flush=True)\nsys.stdin.read()\nlibc.ptrace(17, thread, 0, 0)\n";

#[test]
fn a_measuring_thread_that_hangs_is_stuck_and_the_run_says_why_it_was_ended() {
    let test = "a_measuring_thread_that_hangs_is_stuck_and_the_run_says_why_it_was_ended";
    if !root_or_skip(test) {
        return;
    }
    let desk = Desk::new();
    let mut command = desk.command(&binary(), &WAITED_FOR);
    let mut child = Running::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
    support::until_file(&desk.told().join("two-steps.json"));
    desk.until("two-steps", |run| run["step"] == 2);
    let thread = support::until_thread(&mut child, "wakeup").to_string();
    let mut holder = Command::new("python3");
    holder
        .args(["-c", HOLD, &thread])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut holder = Running::start(&mut holder);
    let mut said = [0; 4];
    let mut out = holder.stdout.take().expect("piped");
    if std::io::Read::read_exact(&mut out, &mut said).is_err() {
        testing::skip(test, "a thread cannot be held still with ptrace(2)");
        return;
    }
    let stuck = desk.until("two-steps", |run| run["state"] == "stuck");
    let why = stuck["why"].as_str().expect("words");
    assert!(why.starts_with("no window was closed for "), "{stuck}");
    // As a watchdog does. The run cannot be closed, but it can write the reason.
    support::signal(&child, Signal::TERM);
    let until = Instant::now() + Duration::from_secs(20);
    let told = || {
        let events = RunFile::open(&desk.path("run.triptime"))
            .and_then(|run| run.events())
            .expect("events");
        let mut told = events
            .into_iter()
            .filter(|event| event.kind == model::EventKind::Interrupted);
        told.next().map(|event| event.text)
    };
    while told().is_none() {
        assert!(Instant::now() < until, "the run file does not say why");
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(
        told().is_some_and(|text| text.starts_with("no window was closed for ")),
        "{:?}",
        told()
    );
    assert_eq!(
        child.try_wait().expect("our own child"),
        None,
        "its thread is held still"
    );
    drop(holder.stdin.take());
    holder.wait().expect("ended");
    child.wait().expect("the run ends with its thread");
}

#[test]
fn what_surely_does_not_fit_is_refused_and_a_disk_that_gets_full_ends_the_run_before() {
    let test = "what_surely_does_not_fit_is_refused_and_a_disk_that_gets_full_ends_the_run_before";
    if !root_or_skip(test) {
        return;
    }
    let desk = Desk::new();
    let program = binary();
    let on_a_small_disk = |script: &str| {
        let script = format!("mount -t tmpfs -o size=24m small disk || exit 99; {script}");
        desk.command(Path::new("unshare"), &["--mount", "sh", "-c", &script])
            .arg(&program)
            .output()
            .expect("unshare is installed")
    };
    std::fs::create_dir(desk.path("disk")).expect("a folder");
    let refused = on_a_small_disk("\"$0\" qualify plan.toml --duration 20d --detach --out disk/run.triptime");
    assert_eq!(refused.status.code(), Some(3), "{}", stderr(&refused));
    let why = stderr(&refused);
    assert!(
        why.contains("24.0 MiB are free, and the run needs at least") && why.contains("--force"),
        "{why}"
    );
    assert!(
        !desk.told().exists() || desk.status()["runs"] == serde_json::json!([]),
        "{}",
        desk.status()
    );

    // A reserve of a twentieth: 1.2 MiB. Another process fills the disk during the run.
    let fill = "(sleep 4; dd if=/dev/zero of=disk/other bs=1M count=23 2>/dev/null) & \"$0\" qualify plan.toml --no-flight-recorder \
                --quiet --out disk/run.triptime >/dev/null; status=$?; cp disk/run.triptime* .; exit $status";
    let begin = Instant::now();
    let ended = on_a_small_disk(fill);
    let why = stderr(&ended);
    assert!(
        begin.elapsed() < Duration::from_secs(60),
        "it must not go on to its planned end"
    );
    assert!(matches!(ended.status.code(), Some(1 | 3)), "{why}");
    assert!(why.contains("less than the reserve of 1.2 MiB"), "{why}");
    let file = RunFile::open(&desk.path("run.triptime")).expect("the run file");
    assert_eq!(file.state(), model::RunState::Interrupted);
    let events = file.events().expect("events");
    let told = events.iter().find(|event| event.kind == model::EventKind::Interrupted);
    assert!(
        told.is_some_and(|event| event.text.contains("before the disk was full")),
        "{told:?}"
    );
}
