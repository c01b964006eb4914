//! A user's view of a judged run: one screen, a line for a log, progress without a terminal, the preview of a plan, and the threads that a spinning
//! thread must not disturb.

use std::path::Path;
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};
use support::{generous_limits, root_or_skip, run, stderr};
use sys::thread::{Policy, RtThread};

const PLAN: &str = r#"
name = "two-steps"
what = "Wake-ups twice, for tests"
limits = "LIMITS"
window = "500ms"

[cpus]
housekeeping = "first"
measured = "rest"

[[step]]
probe = "wakeup"
label = "one"
duration = "1s"
interval = "1ms"
policy = "fifo:80"

[[step]]
probe = "wakeup"
label = "two"
duration = "1s"
interval = "1ms"
policy = "fifo:80"
"#;

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

/// Asserts that this is the last screen: its size, its first words, and the contents of its last line.
fn assert_screen(text: &str, file: &str) {
    assert!(text.lines().count() <= 24, "{text}");
    for line in text.lines().filter(|line| !line.contains(file)) {
        assert!(line.chars().count() <= 100, "{line}");
    }
    let first = text.chars().next().expect("a sign");
    assert!("✗?✓–".contains(first), "{text}");
    assert_eq!(
        text.lines().last(),
        Some(format!("Full    triptime report --full {file}").as_str()),
        "{text}"
    );
}

fn plan(directory: &Path) -> String {
    let path = directory.join("plan.toml");
    std::fs::write(&path, PLAN.replace("LIMITS", &generous_limits(directory))).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn a_judged_run_ends_with_one_screen_and_its_steps_are_told_in_a_log() {
    if !root_or_skip("a_judged_run_ends_with_one_screen_and_its_steps_are_told_in_a_log") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let plan = plan(directory.path());
    let file = directory
        .path()
        .join("run.triptime")
        .to_str()
        .expect("UTF-8")
        .to_owned();
    let output = run(&["qualify", &plan, "--out", &file]);
    assert_screen(&stdout(&output), &file);
    let told = stderr(&output);
    assert!(told.contains("plan two-steps: 2 steps, 2.00 s of measuring"), "{told}");
    for step in ["step 1 of 2", "step 2 of 2"] {
        assert_eq!(told.matches(step).count(), 1, "{told}");
    }
    assert_screen(&stdout(&run(&["report", &file])), &file);
    let full = stdout(&run(&["report", "--full", &file]));
    assert!(full.contains("\nSeries\n") && full.lines().count() > 24, "{full}");
    let summary = stdout(&run(&["report", "--summary", &file]));
    assert!(
        summary.starts_with("triptime: ") && summary.lines().count() == 1,
        "{summary}"
    );
    let both = run(&["report", "--summary", "--json", &file]);
    assert_eq!(both.status.code(), Some(2), "{}", stderr(&both));
}

#[test]
fn what_a_plan_will_do_is_said_and_nothing_is_measured() {
    let directory = tempfile::tempdir().expect("a directory");
    let plan = plan(directory.path());
    let list = stdout(&run(&["qualify", "--list"]));
    for name in ["quick", "substation", "vpc"] {
        assert!(list.lines().any(|line| line.starts_with(name)), "{list}");
    }
    let file = directory
        .path()
        .join("none.triptime")
        .to_str()
        .expect("UTF-8")
        .to_owned();
    let shown = run(&["qualify", &plan, "--show", "--out", &file]);
    let text = stdout(&shown);
    assert_eq!(shown.status.code(), Some(0), "{}", stderr(&shown));
    for part in [
        "1. wake-up: 1.00 s on cpu",
        "2. wake-up",
        "Effects on this host",
        "judged: cpu",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(!Path::new(&file).exists());
}

/// The remedies stored in a run.
fn remedies(file: &str) -> Vec<String> {
    let document: serde_json::Value = serde_json::from_str(&stdout(&run(&["report", "--json", file]))).expect("JSON");
    let facts = document["inventory"].as_array().expect("an inventory");
    let kept = facts.iter().filter(|fact| fact["group"] == "remedies");
    kept.map(|fact| fact["value"].as_str().expect("a value").to_owned())
        .collect()
}

#[test]
fn what_is_to_be_done_next_is_the_command_that_ran_or_one_that_is_taken() {
    if !root_or_skip("what_is_to_be_done_next_is_the_command_that_ran_or_one_that_is_taken") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let (limits, file) = (generous_limits(directory.path()), directory.path().join("run.triptime"));
    let file = file.to_str().expect("UTF-8");
    let words = ["wakeup", "--cpus", "0", "-D", "1s", "--limits", &limits, "--out", file];
    let screen = stdout(&run(&words));
    // On a machine with stalls the run may be undecided, and then another next step is right.
    if screen.contains("PASS  ") {
        let again = format!("triptime wakeup --cpus 0 --limits {limits} --duration 24h");
        assert!(
            screen.contains(&again) || screen.contains("the same command with --duration 24h: "),
            "{screen}"
        );
    }
    let kept = remedies(file);
    let commands = kept
        .iter()
        .filter_map(|text| text.split(": ").next()?.strip_prefix("triptime "));
    let mut taken = 0;
    for command in commands {
        let words: Vec<&str> = command
            .split(' ')
            .map(|word| if word == "--apply" { "--plan" } else { word })
            .collect();
        assert!(words.contains(&"--cpus") && words[0] == "tune", "{command}");
        let output = run(&[&words[..], &["--observe", "0s"]].concat());
        assert_eq!(output.status.code(), Some(0), "{command}: {}", stderr(&output));
        assert!(
            !stdout(&output).contains("refused unless"),
            "{command}: {}",
            stdout(&output)
        );
        taken += 1;
    }
    assert!(taken > 0 || kept.is_empty(), "{kept:?}");
}

/// A real-time thread that sleeps on a CPU until it is stopped.
fn with_a_real_time_thread(cpu: u32, work: impl FnOnce()) {
    let ends = AtomicBool::new(false);
    let is_there = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let sleeper = RtThread {
                policy: Policy::Fifo(10),
                cpu: Some(cpu),
                stack_bytes: 0,
            };
            sleeper.enter().expect("a real-time thread");
            is_there.store(true, Ordering::Release);
            while !ends.load(Ordering::Acquire) {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        });
        while !is_there.load(Ordering::Acquire) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        work();
        ends.store(true, Ordering::Release);
    });
}

#[test]
fn a_cpu_with_another_real_time_thread_is_left_alone_unless_told_to_disturb() {
    if !root_or_skip("a_cpu_with_another_real_time_thread_is_left_alone_unless_told_to_disturb") {
        return;
    }
    let cpu = sys::thread::cpuset_cpus().iter().last().expect("a CPU");
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory
        .path()
        .join("noise.triptime")
        .to_str()
        .expect("UTF-8")
        .to_owned();
    let cpus = cpu.to_string();
    let words = ["noise", "--cpus", &cpus, "--duration", "1s", "--quiet", "--out", &file];
    with_a_real_time_thread(cpu, || {
        let refused = run(&words);
        let told = stderr(&refused);
        assert_eq!(refused.status.code(), Some(3), "{told}");
        assert!(
            told.contains(&format!("cpu{cpu}: real-time thread")) && told.contains("--disturb"),
            "{told}"
        );
        assert!(!Path::new(&file).exists());
        let disturbing = run(&[&words[..], &["--disturb"]].concat());
        assert_eq!(disturbing.status.code(), Some(0), "{}", stderr(&disturbing));
    });
}
