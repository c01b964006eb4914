//! Only detached runs that still exist are listed.

use crate::{Desk, PLAN, pid};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use store::RunFile;
use support::{binary, stderr};
use testing::Running;

#[test]
fn a_detached_run_survives_its_session_and_is_shown_and_stopped() {
    let desk = Desk::new();
    // In a separate session, which gets a hang-up signal when it has started the run, as at logout.
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
    // On a busy machine its first step may already be over.
    assert_eq!(
        (&first["state"], &first["steps"]),
        (&"measuring".into(), &2.into()),
        "{first}"
    );
    let process = Pid::from_raw(i32::try_from(first["pid"].as_i64().expect("a number")).expect("small"));
    kill_process(process.expect("a process"), Signal::HUP).expect("it is there");
    // Both series of the second step have a window.
    let second = desk.until("two-steps", |run| {
        run["step"] == 2 && run["largest"].as_array().map(Vec::len) == Some(2)
    });
    let left_s = second["left_s"].as_f64().expect("a time");
    assert!((20.0..=90.5).contains(&left_s), "{second}");
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
    assert_eq!(ended["end"]["why"], "it was interrupted");
    let file = RunFile::open(&desk.path("run.triptime")).expect("the run file");
    assert_eq!(file.state(), model::RunState::Interrupted);
    assert!(desk.path("run.html").exists() && desk.path("run.log").exists());
    let again = desk.triptime(&["stop", "two-steps"]);
    assert!(
        again.status.success() && stderr(&again).contains("it has already ended"),
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
    // It keeps its name, and the remains of dead runs do not disturb another one.
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
fn like_runs_of_one_second_have_a_file_or_folder_and_a_log_each() {
    let desk = Desk::new();
    let matrix = "[matrix]\nisolation = [\"none\"]\nrepetitions = 1\n\n[matrix.loads]\nnone = []\n\n[[step]]";
    std::fs::write(desk.path("matrix.toml"), PLAN.replacen("[[step]]", matrix, 1)).expect("writable");
    let words = |plan| ["qualify", plan, "--detach", "--no-flight-recorder"];
    let started: Vec<_> = ["plan.toml", "plan.toml", "plan.toml", "matrix.toml", "matrix.toml"]
        .map(|plan| {
            let mut command = desk.command(&binary(), &words(plan));
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().expect("it runs")
        })
        .into_iter()
        .map(|child| child.wait_with_output().expect("its end"))
        .collect();
    let mut named = Vec::new();
    for output in &started {
        assert!(output.status.success(), "{}", stderr(output));
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let after = |word: &str| {
            said.lines()
                .find_map(|line| Some(line.strip_prefix(word)?.trim().to_owned()))
        };
        named.extend([after("file").expect("a file"), after("log").expect("a log")]);
    }
    for name in &named {
        assert!(Path::new(name).exists(), "{name}");
    }
    named.sort();
    named.dedup();
    assert_eq!(named.len(), 2 * started.len(), "{named:?}");
}

#[test]
fn a_foreign_process_of_the_same_number_is_neither_shown_as_the_run_nor_stopped() {
    let desk = Desk::new();
    let mut other = Running::start(Command::new("sleep").arg("60"));
    let started = desk.detach("a.triptime");
    assert!(started.status.success(), "{}", stderr(&started));
    let path = desk.told().join("two-steps.json");
    assert!(desk.triptime(&["stop", "two-steps"]).status.success());
    // As if the run were still running, with a process number that another process now has.
    let mut entry: Value = serde_json::from_slice(&std::fs::read(&path).expect("its file")).expect("JSON");
    entry["end"] = Value::Null;
    entry["phase"] = "measuring".into();
    entry["process"]["pid"] = other.id().into();
    std::fs::write(&path, entry.to_string()).expect("writable");
    assert_eq!(desk.run("two-steps")["state"], "ended-without-a-word");
    let stopped = desk.triptime(&["stop", "two-steps"]);
    assert!(stopped.status.success(), "{}", stderr(&stopped));
    assert_eq!(other.try_wait().expect("our own child"), None, "it is not ours to end");
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
    let mut child = Running::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
    support::until_file(&desk.told().join("wakeup.json"));
    let run = desk.until("wakeup", |run| run["state"] == "measuring");
    assert_eq!((&run["started_by"], &run["step"]), (&"foreground".into(), &Value::Null));
    assert!(
        run["left_s"].as_f64().is_some_and(|left| left > 1.0 && left <= 60.0),
        "{run}"
    );
    support::signal(&child, Signal::INT);
    child.wait().expect("ended");
    assert_eq!(desk.status()["runs"], serde_json::json!([]));
    let shown = desk.triptime(&["status"]);
    assert!(String::from_utf8_lossy(&shown.stdout).starts_with("No run of triptime on this machine"));
    assert_eq!(desk.triptime(&["status", "wakeup"]).status.code(), Some(2));
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

#[test]
fn what_cannot_measure_says_so_at_once_and_nothing_is_told_of_it() {
    let desk = Desk::new();
    std::fs::write(desk.path("plan.toml"), PLAN.replace("\"5ms\"", "\"5 parsecs\"")).expect("writable");
    let wrong = desk.detach("a.triptime");
    assert_eq!(wrong.status.code(), Some(2), "{}", stderr(&wrong));
    std::fs::write(desk.path("plan.toml"), PLAN).expect("writable");
    // Before a run begins.
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
        stderr(&output).contains("triptime: limit profile \"no-such-limits\""),
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
