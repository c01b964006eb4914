//! Runs that nobody waits for: started, looked at, stopped, killed, stuck, and ended before their disk is full.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use store::RunFile;
use support::{binary, json, root_or_skip, stderr};

/// Two steps; nothing in them needs an interface, a bed or a real-time policy.
const PLAN: &str = r#"
name = "two steps"
what = "Wake-ups twice, for tests"
limits = "substation"
window = "200ms"

[cpus]
housekeeping = "first"
measured = "first"

[[step]]
probe = "wakeup"
duration = "3s"
interval = "5ms"
policy = "other"

[[step]]
probe = "wakeup"
label = "again"
duration = "90s"
interval = "5ms"
policy = "other"
"#;

/// A folder with a plan, and one in which its runs are told of.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let desk = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        std::fs::write(desk.path("plan.toml"), PLAN).expect("writable");
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn told(&self) -> PathBuf {
        self.path("told")
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.folder.path());
        command.env("TRIPTIME_RUNTIME_DIR", self.told()).stdin(Stdio::null());
        command
    }

    fn triptime(&self, arguments: &[&str]) -> Output {
        self.command(&binary(), arguments).output().expect("it runs")
    }

    fn detach(&self, out: &str) -> Output {
        self.triptime(&["qualify", "plan.toml", "--detach", "--no-flight-recorder", "--out", out])
    }

    fn status(&self) -> Value {
        let output = self.triptime(&["status", "--json"]);
        assert!(output.status.success(), "{}", stderr(&output));
        json(&output)
    }

    /// The run of this name as the document has it.
    fn run(&self, name: &str) -> Value {
        let document = self.status();
        let runs = document["runs"].as_array().expect("runs");
        let found = runs.iter().find(|run| run["name"] == name);
        found.unwrap_or_else(|| panic!("no {name}: {document}")).clone()
    }

    /// The run, once something is so.
    fn until(&self, name: &str, so: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let run = self.run(name);
            if so(&run) {
                return run;
            }
            assert!(Instant::now() < until, "{run}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Desk {
    /// What a failed test left behind ends with it.
    fn drop(&mut self) {
        for file in std::fs::read_dir(self.told()).into_iter().flatten().flatten() {
            let text = std::fs::read_to_string(file.path()).unwrap_or_default();
            let entry: Value = serde_json::from_str(&text).unwrap_or_default();
            let is_ours = entry["file"]
                .as_str()
                .is_some_and(|out| Path::new(out).starts_with(self.folder.path()));
            if let Some(pid) = pid(&entry["process"]).filter(|pid| is_ours && is_triptime(*pid)) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

fn pid(process: &Value) -> Option<Pid> {
    Pid::from_raw(i32::try_from(process["pid"].as_i64()?).ok()?)
}

fn is_triptime(pid: Pid) -> bool {
    let program = std::fs::read_link(format!("/proc/{}/exe", pid.as_raw_nonzero()));
    program.is_ok_and(|program| Some(program) == std::fs::canonicalize(binary()).ok())
}

#[test]
fn a_detached_run_survives_its_session_and_is_shown_and_stopped() {
    let desk = Desk::new();
    // In a session of its own, which is told to hang up when it has started the run, as one is at logout.
    let program = binary();
    let script = "\"$0\" qualify plan.toml --detach --no-flight-recorder --out run.triptime; kill -HUP 0";
    let output = desk
        .command(Path::new("setsid"), &["--wait", "sh", "-c", script])
        .arg(&program)
        .output()
        .expect("setsid is installed");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        said.starts_with("two-steps: measuring, in a session of its own, process "),
        "{said}{}",
        stderr(&output)
    );
    assert!(
        said.contains("triptime status two-steps") && said.contains("triptime stop two-steps"),
        "{said}"
    );
    let first = desk.run("two-steps");
    assert_eq!(
        (&first["state"], &first["step"], &first["steps"]),
        (&"measuring".into(), &1.into(), &2.into())
    );
    let process = Pid::from_raw(i32::try_from(first["pid"].as_i64().expect("a number")).expect("small"));
    kill_process(process.expect("a process"), Signal::HUP).expect("it is there");
    let second = desk.until("two-steps", |run| run["step"] == 2);
    let left_s = second["left_s"].as_f64().expect("a time");
    assert!((20.0..=90.5).contains(&left_s), "{second}");
    assert_eq!(second["largest"].as_array().map(Vec::len), Some(2), "{second}");
    assert_eq!(second["disk"]["free_octets"].as_u64().map(|free| free > 0), Some(true));
    let shown = desk.triptime(&["status"]);
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(
        text.contains("two-steps: measuring, step 2 of 2, ") && text.contains("largest  wakeup/"),
        "{text}"
    );

    let stopped = desk.triptime(&["stop", "two-steps"]);
    let answer = String::from_utf8_lossy(&stopped.stdout).into_owned();
    assert_eq!(stopped.status.code(), Some(0), "{}", stderr(&stopped));
    assert!(
        answer.starts_with("two-steps: ended early, status ") && answer.contains("ended early;"),
        "{answer}"
    );
    let ended = desk.run("two-steps");
    assert_eq!(
        (&ended["state"], &ended["end"]["state"]),
        (&"ended".into(), &"interrupted".into()),
        "{ended}"
    );
    assert_eq!(ended["end"]["why"], "it was told to end");
    let file = RunFile::open(&desk.path("run.triptime")).expect("the run file");
    assert_eq!(file.state(), model::RunState::Interrupted);
    assert!(desk.path("run.html").exists() && desk.path("run.log").exists());
    let again = desk.triptime(&["stop", "two-steps"]);
    assert!(
        again.status.success() && stderr(&again).contains("it has ended before"),
        "{}",
        stderr(&again)
    );
}

#[test]
fn two_at_once_have_two_names_and_one_that_is_killed_says_nothing() {
    let desk = Desk::new();
    for (out, name) in [("a.triptime", "two-steps"), ("b.triptime", "two-steps-2")] {
        let started = desk.detach(out);
        assert!(started.status.success(), "{}", stderr(&started));
        assert_eq!(desk.run(name)["state"], "measuring");
    }
    let first = desk.run("two-steps");
    let pid = pid(&first).expect("a process");
    kill_process(pid, Signal::KILL).expect("it is there");
    let dead = desk.until("two-steps", |run| run["state"] != "measuring");
    assert_eq!(dead["state"], "ended-without-a-word", "{dead}");
    assert_eq!(desk.triptime(&["status", "two-steps"]).status.code(), Some(3));
    assert_eq!(desk.run("two-steps-2")["state"], "measuring");
    // Its name stays its own, and nothing of the dead is in the way of another.
    let third = desk.detach("c.triptime");
    assert!(
        third.status.success() && third.stdout.starts_with(b"two-steps-3: "),
        "{}",
        stderr(&third)
    );
    for name in ["two-steps-2", "two-steps-3"] {
        let stopped = desk.triptime(&["stop", name]);
        assert!(stopped.status.success(), "{}", stderr(&stopped));
    }
    let taken = desk.detach("a.triptime");
    assert_eq!(
        taken.status.code(),
        Some(2),
        "a run file is never written over: {}",
        stderr(&taken)
    );
}

#[test]
fn a_foreign_process_of_the_same_number_is_neither_shown_as_the_run_nor_stopped() {
    let desk = Desk::new();
    let mut other = Command::new("sleep").arg("60").spawn().expect("started");
    let started = desk.detach("a.triptime");
    assert!(started.status.success(), "{}", stderr(&started));
    let path = desk.told().join("two-steps.json");
    assert!(desk.triptime(&["stop", "two-steps"]).status.success());
    // As if the run were under way, under a number that another process has now.
    let mut entry: Value = serde_json::from_slice(&std::fs::read(&path).expect("its file")).expect("JSON");
    entry["end"] = Value::Null;
    entry["phase"] = "measuring".into();
    entry["process"]["pid"] = other.id().into();
    std::fs::write(&path, entry.to_string()).expect("writable");
    assert_eq!(desk.run("two-steps")["state"], "ended-without-a-word");
    let stopped = desk.triptime(&["stop", "two-steps"]);
    assert!(stopped.status.success(), "{}", stderr(&stopped));
    assert_eq!(other.try_wait().expect("our own child"), None, "it is not ours to end");
    let _ = other.kill();
    let _ = other.wait();
}

#[test]
fn a_run_that_is_waited_for_is_shown_and_leaves_nothing() {
    let desk = Desk::new();
    let arguments = [
        "wakeup",
        "--cpus",
        "0",
        "--policy",
        "other",
        "--interval",
        "5ms",
        "--duration",
        "60s",
        "--out",
        "w.triptime",
    ];
    let mut command = desk.command(&binary(), &arguments);
    let child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("started");
    support::until_file(&desk.told().join("wakeup.json"));
    let run = desk.until("wakeup", |run| run["state"] == "measuring");
    assert_eq!((&run["started_by"], &run["step"]), (&"foreground".into(), &Value::Null));
    assert!(
        run["left_s"].as_f64().is_some_and(|left| left > 1.0 && left <= 60.0),
        "{run}"
    );
    let mut child = Ended(child);
    support::signal(&child.0, Signal::INT);
    child.0.wait().expect("ended");
    assert_eq!(desk.status()["runs"], serde_json::json!([]));
    let shown = desk.triptime(&["status"]);
    assert!(String::from_utf8_lossy(&shown.stdout).starts_with("No run of triptime on this machine"));
    assert_eq!(desk.triptime(&["status", "wakeup"]).status.code(), Some(2));
}

/// A child that ends with its test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
    }
}

#[test]
fn a_run_that_is_stopped_by_the_kernel_is_stuck_and_no_watchdog_hears_of_it() {
    let desk = Desk::new();
    let socket = desk.path("notify");
    let heard = UnixDatagram::bind(&socket).expect("a socket");
    heard.set_read_timeout(Some(Duration::from_millis(100))).expect("set");
    let arguments = [
        "qualify",
        "plan.toml",
        "--no-flight-recorder",
        "--quiet",
        "--out",
        "run.triptime",
    ];
    let mut command = desk.command(&binary(), &arguments);
    // A third of it is how often it is told: at each look, which comes every two seconds.
    command.env("NOTIFY_SOCKET", &socket).env("WATCHDOG_USEC", "3000000");
    let child = Ended(
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("started"),
    );
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
    support::signal(&child.0, Signal::STOP);
    while next().is_some() {}
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(next(), None, "nothing goes on");
    // The file as it will be after a while: the clock cannot be moved.
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
            .is_some_and(|why| why.contains("said nothing for")),
        "{stuck}"
    );
    assert_eq!(desk.triptime(&["status", "two-steps"]).status.code(), Some(3));
    let waits = desk.triptime(&["stop", "two-steps", "--wait", "1s"]);
    assert_eq!(waits.status.code(), Some(3));
    assert!(stderr(&waits).contains("kill -9"), "{}", stderr(&waits));
    support::signal(&child.0, Signal::CONT);
    let until = Instant::now() + Duration::from_secs(60);
    let mut child = child;
    while child.0.try_wait().expect("our own child").is_none() {
        assert!(Instant::now() < until, "it was told to end");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_matrix_is_one_run_and_its_measurement_another() {
    let desk = Desk::new();
    let matrix = "limits = \"substation\"\n\n[matrix]\nrepetitions = 3\n\n[matrix.loads]\nnone = []\n";
    let plan = PLAN.replace("\nlimits = \"substation\"", "");
    let plan = plan.replace(
        "what = \"Wake-ups twice, for tests\"",
        &format!("what = \"A matrix, for tests\"\n{matrix}"),
    );
    // Keys of the plan itself come before its tables.
    let plan = plan.replace("[matrix]", "window = \"200ms\"\n\n[matrix]").replacen(
        "\nwindow = \"200ms\"\n\n[cpus]",
        "\n[cpus]",
        1,
    );
    std::fs::write(desk.path("plan.toml"), plan).expect("writable");
    let started = desk.detach("folder");
    assert!(started.status.success(), "{}", stderr(&started));
    let whole = desk.run("two-steps");
    assert_eq!(
        (&whole["state"], &whole["step"], &whole["started_by"]),
        (&"measuring".into(), &1.into(), &"session".into())
    );
    let until = Instant::now() + Duration::from_secs(60);
    while desk.status()["runs"].as_array().map(Vec::len) != Some(2) {
        assert!(Instant::now() < until, "{}", desk.status());
        std::thread::sleep(Duration::from_millis(200));
    }
    let stopped = desk.triptime(&["stop", "two-steps"]);
    assert!(stopped.status.success(), "{}", stderr(&stopped));
    let ended = desk.run("two-steps");
    assert_eq!(
        (&ended["state"], &ended["end"]["state"]),
        (&"ended".into(), &"interrupted".into()),
        "{ended}"
    );
    assert_eq!(
        desk.status()["runs"].as_array().map(Vec::len),
        Some(1),
        "its measurement ended with it"
    );
    assert!(desk.path("folder/matrix.toml").exists() && desk.path("folder.log").exists());
}

/// Holds one thread of a process still until its input is closed (ptrace(2): PTRACE_ATTACH stops this thread alone).
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
    let arguments = [
        "qualify",
        "plan.toml",
        "--no-flight-recorder",
        "--quiet",
        "--out",
        "run.triptime",
    ];
    let mut command = desk.command(&binary(), &arguments);
    let mut child = Ended(
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("started"),
    );
    support::until_file(&desk.told().join("two-steps.json"));
    desk.until("two-steps", |run| run["step"] == 2);
    let thread = support::until_thread(&mut child.0, "wakeup").to_string();
    let mut holder = Command::new("python3");
    holder
        .args(["-c", HOLD, &thread])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut holder = Ended(holder.spawn().expect("Python is installed"));
    let mut said = [0; 4];
    let mut out = holder.0.stdout.take().expect("piped");
    if std::io::Read::read_exact(&mut out, &mut said).is_err() {
        testing::skip(test, "a thread cannot be held still with ptrace(2)");
        return;
    }
    let stuck = desk.until("two-steps", |run| run["state"] == "stuck");
    let why = stuck["why"].as_str().expect("words");
    assert!(why.starts_with("no window was closed for "), "{stuck}");
    // As a watchdog does. The run cannot be closed; it can say why it would be.
    support::signal(&child.0, Signal::TERM);
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
        child.0.try_wait().expect("our own child"),
        None,
        "its thread is held still"
    );
    drop(holder.0.stdin.take());
    holder.0.wait().expect("ended");
    child.0.wait().expect("the run ends with its thread");
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

    // A reserve of a twentieth: 1.2 MiB. Somebody else fills the disk meanwhile.
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
        told.is_some_and(|event| event.text.contains("before the disk is full")),
        "{told:?}"
    );
}

#[test]
fn what_cannot_measure_says_so_at_once_and_nothing_is_told_of_it() {
    let desk = Desk::new();
    std::fs::write(desk.path("plan.toml"), PLAN.replace("\"5ms\"", "\"5 parsecs\"")).expect("writable");
    let wrong = desk.detach("a.triptime");
    assert_eq!(wrong.status.code(), Some(2), "{}", stderr(&wrong));
    std::fs::write(desk.path("plan.toml"), PLAN).expect("writable");
    // It comes to light in the run itself only.
    let output = desk.triptime(&[
        "qualify",
        "plan.toml",
        "--detach",
        "--limits",
        "no-such-limits",
        "--out",
        "a.triptime",
    ]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("log: triptime: limit profile \"no-such-limits\""),
        "{}",
        stderr(&output)
    );
    assert_eq!(desk.status()["runs"], serde_json::json!([]));
    if Path::new("/run/systemd/system").exists() {
        testing::skip(
            "restart-after-reboot is refused without systemd",
            "systemd runs on this machine",
        );
        return;
    }
    let lasting = desk.triptime(&["qualify", "plan.toml", "--detach", "--restart-after-reboot"]);
    assert_eq!(lasting.status.code(), Some(3));
    let why = stderr(&lasting);
    assert!(
        why.contains("only root") || why.contains("systemd does not run on this machine"),
        "{why}"
    );
}

/// A machine on which systemd seems to run, with programs of ours in the place of its own.
fn with_systemd(desk: &Desk, program: &str, text: &str, script: &str) -> Output {
    let bin = desk.path("bin");
    std::fs::create_dir_all(&bin).expect("a folder");
    let path = bin.join(program);
    std::fs::write(&path, text).expect("writable");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("set");
    let script = format!(
        "mount -t tmpfs run /run || exit 99; mkdir -p /run/systemd/system; PATH=\"$PWD/bin:$PATH\"; export PATH; {script}"
    );
    let binary = binary();
    desk.command(Path::new("unshare"), &["--mount", "sh", "-c", &script])
        .arg(&binary)
        .output()
        .expect("unshare is installed")
}

#[test]
fn where_systemd_runs_it_is_asked_for_a_unit_that_it_watches() {
    if !root_or_skip("where_systemd_runs_it_is_asked_for_a_unit_that_it_watches") {
        return;
    }
    let desk = Desk::new();
    // Starts the command as systemd-run would, and keeps what it was told.
    let text = "#!/bin/sh\nfor word; do echo \"$word\"; done > asked\nwhile [ \"$1\" != -- ]; do shift; done; shift\n\
                \"$@\" >/dev/null 2>&1 &\nwhile ! grep -q measuring told/two-steps.json; do sleep 0.1; done\n";
    let script = "\"$0\" qualify plan.toml --no-flight-recorder --detach --out run.triptime";
    let started = with_systemd(&desk, "systemd-run", text, script);
    assert!(started.status.success(), "{}", stderr(&started));
    let said = String::from_utf8_lossy(&started.stdout).into_owned();
    assert!(
        said.starts_with("two-steps: measuring, as the unit triptime-two-steps, process "),
        "{said}"
    );
    let asked = std::fs::read_to_string(desk.path("asked")).expect("what it was asked");
    for word in [
        "--unit=triptime-two-steps",
        "--service-type=notify",
        "--property=WatchdogSec=60",
        "--property=WatchdogSignal=SIGTERM",
        "--property=SuccessExitStatus=1 3",
        "--property=LimitMEMLOCK=infinity",
    ] {
        assert!(asked.lines().any(|line| line == word), "{word} is not in {asked}");
    }
    let run = desk.run("two-steps");
    assert_eq!(
        (&run["started_by"], &run["unit"]),
        (&"unit".into(), &"triptime-two-steps".into())
    );
    let stopped = desk.triptime(&["stop", "two-steps"]);
    assert!(stopped.status.success(), "{}", stderr(&stopped));

    let refused = with_systemd(
        &desk,
        "systemd-run",
        "#!/bin/sh\necho 'Access denied' >&2\nexit 1\n",
        &script.replace("run.t", "b.t"),
    );
    assert_eq!(refused.status.code(), Some(3));
    assert!(
        stderr(&refused).contains("systemd-run refused: Access denied"),
        "{}",
        stderr(&refused)
    );
    assert_eq!(
        desk.status()["runs"].as_array().map(Vec::len),
        Some(1),
        "only the one that ended"
    );
}

#[test]
fn after_a_reboot_the_rest_is_measured_into_a_file_of_its_own_and_the_unit_goes() {
    if !root_or_skip("after_a_reboot_the_rest_is_measured_into_a_file_of_its_own_and_the_unit_goes") {
        return;
    }
    let desk = Desk::new();
    let text = "#!/bin/sh\necho \"$@\" >> asked\n[ \"$1\" = start ] || exit 0\n\
                \"$BINARY\" qualify plan.toml --no-flight-recorder --out \"$PWD/run.triptime\" --detached lasting-unit:two-steps \
                >>run.log 2>&1 &\nwhile ! grep -q measuring told/two-steps.json; do sleep 0.1; done\n";
    // The unit's folder is of this mount namespace alone. The first boot ends in the second step, without a word.
    let script = "BINARY=\"$0\"; export BINARY; mount -t tmpfs units /etc/systemd/system || exit 98; \
        \"$0\" qualify plan.toml --no-flight-recorder --detach --restart-after-reboot --out run.triptime || exit 97; \
        cp /etc/systemd/system/triptime-two-steps.service unit; \
        while ! grep -q '\"number\": 2' told/two-steps.json; do sleep 0.2; done; sleep 2; \
        kill -9 $(sed -n 's/.*\"pid\": \\([0-9]*\\),.*/\\1/p' told/two-steps.json); rm -r told; \
        systemctl start again; \"$0\" status --json > second; \"$0\" stop two-steps || exit 96; \
        ls /etc/systemd/system > units";
    let output = with_systemd(&desk, "systemctl", text, script);
    let log = std::fs::read_to_string(desk.path("run.log")).unwrap_or_default();
    assert!(output.status.success(), "{:?} {}{log}", output.status, stderr(&output));
    let unit = std::fs::read_to_string(desk.path("unit")).expect("the unit");
    assert!(
        unit.contains("WantedBy=multi-user.target") && unit.contains("\"lasting-unit:two-steps\""),
        "{unit}"
    );
    let asked = std::fs::read_to_string(desk.path("asked")).expect("what it was asked");
    assert!(asked.contains("enable --quiet triptime-two-steps.service"), "{asked}");
    let second: Value = serde_json::from_slice(&std::fs::read(desk.path("second")).expect("a status")).expect("JSON");
    let run = &second["runs"][0];
    assert_eq!(
        (&run["step"], &run["steps"]),
        (&1.into(), &1.into()),
        "the second step alone: {run}"
    );
    assert!(
        run["left_s"].as_f64().is_some_and(|left| left < 88.5),
        "and not all of it: {run}"
    );
    let rest = RunFile::open(&desk.path("run.2.triptime")).expect("a file of its own");
    let names: Vec<String> = rest
        .series()
        .expect("series")
        .into_iter()
        .map(|(_, spec)| spec.name)
        .collect();
    assert!(
        !names.is_empty() && names.iter().all(|name| name.starts_with("wakeup/again/")),
        "{names:?}"
    );
    let events = rest.events().expect("events");
    assert!(events.iter().any(|event| {
        event
            .text
            .starts_with("the rest of the plan after a reboot: step 2 of 2 on")
    }));
    let units = std::fs::read_to_string(desk.path("units")).expect("a list");
    assert_eq!(units, "", "a run that was stopped does not start again");
}
