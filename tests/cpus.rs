//! Choice of the judged CPUs, and messages if somebody else measures on them or changes a measuring thread.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use support::{binary, end, generous_limits, json, namespace, root_or_skip, start, stderr, until_thread, wait};
use testing::Running;

const PLAN: &str = r#"
name = "short"
what = "Wake-ups beside a load, for tests"
limits = "substation"
window = "500ms"

[cpus]
housekeeping = "first"
measured = "rest"

[[load]]
kind = "hackbench"
groups = 1
fds = 1

[[step]]
probe = "wakeup"
duration = "1s"
interval = "1ms"
policy = "fifo:80"
"#;

fn last_cpu() -> u32 {
    sys::thread::cpuset_cpus().iter().last().expect("a CPU")
}

/// True if there are at least two CPUs.
fn two_cpus_or_skip(test: &str) -> bool {
    let two = sys::thread::cpuset_cpus().len() > 1;
    if !two {
        testing::skip(test, "needs two CPUs");
    }
    two
}

fn events(document: &Value, kind: &str) -> Vec<Value> {
    let all = document["events"].as_array().expect("events");
    all.iter().filter(|event| event["kind"] == kind).cloned().collect()
}

/// The verdict of the only judged limit.
fn verdict(document: &Value) -> &str {
    document["verdict"].as_str().expect("a verdict")
}

/// `words` of the command line with an output file of this name.
fn begin(directory: &Path, name: &str, words: &str) -> Running {
    let out = directory.join(name);
    let mut all: Vec<&str> = words.split_whitespace().collect();
    let out = out.to_str().expect("UTF-8");
    all.extend(["--json", "--quiet", "--no-flight-recorder", "--out", out]);
    start(&all)
}

/// Runs the plan through a program such as `taskset`.
fn qualify_by(directory: &Path, before: &[&str], options: &[&str]) -> std::process::Output {
    let plan = directory.join("short.toml");
    std::fs::write(&plan, PLAN).expect("writable");
    let mut command = Command::new(before[0]);
    command.args(&before[1..]).arg(binary()).arg("qualify").arg(&plan);
    command.args(["--json", "--no-flight-recorder", "--out"]);
    command.arg(directory.join("run.triptime")).args(options);
    let command = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    wait(Running::start(command), before)
}

#[test]
fn a_start_up_mask_does_not_choose_what_is_judged() {
    const NAME: &str = "a_start_up_mask_does_not_choose_what_is_judged";
    if !root_or_skip(NAME) || !two_cpus_or_skip(NAME) {
        return;
    }
    let (first, last) = (sys::thread::cpuset_cpus().first().expect("a CPU"), last_cpu());
    for (mask, named) in [(first, None), (last, None), (first, Some(last))] {
        let directory = tempfile::tempdir().expect("tempdir");
        let list = last.to_string();
        let options = named.map_or(Vec::new(), |_| vec!["--cpus", list.as_str()]);
        let output = qualify_by(directory.path(), &["taskset", "-c", &mask.to_string()], &options);
        let document = json(&output);
        let all = document["series"].as_array().expect("series");
        let judged = all
            .iter()
            .filter(|series| series["name"] == format!("wakeup/cpu{last}"));
        assert_eq!(judged.count(), 1, "{}", stderr(&output));
        assert!(all.iter().all(|series| series["name"] != format!("wakeup/cpu{first}")));
        let said = stderr(&output);
        let load = format!("triptime: loads, recorder, test set: cpu {first} (");
        assert!(
            said.contains("\ntriptime: judged: cpu ") && said.contains(&load),
            "{said}"
        );
        let facts = document["inventory"].as_array().expect("facts");
        let of_run: Vec<&Value> = facts
            .iter()
            .filter(|fact| fact["group"] == "CPUs of this run")
            .collect();
        assert!(of_run.iter().any(|fact| fact["name"] == "judged"), "{of_run:?}");
        if named.is_some() {
            assert!(
                said.contains(&format!("judged: cpu {last} (named by --cpus)")),
                "{said}"
            );
        }
    }
}

/// A cpuset of version 1 that is removed with this value; `None` if none can be made.
struct Cpuset(std::path::PathBuf);

impl Cpuset {
    fn of(cpu: u32) -> Option<Self> {
        let group = Path::new("/sys/fs/cgroup/cpuset").join(format!("triptime-test-{}", std::process::id()));
        std::fs::create_dir(&group).ok()?;
        let made = Self(group);
        std::fs::write(made.0.join("cpuset.cpus"), cpu.to_string()).ok()?;
        std::fs::write(made.0.join("cpuset.mems"), "0").ok()?;
        Some(made)
    }
}

impl Drop for Cpuset {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn a_cpu_outside_the_cpuset_is_refused_by_name() {
    const NAME: &str = "a_cpu_outside_the_cpuset_is_refused_by_name";
    if !root_or_skip(NAME) || !two_cpus_or_skip(NAME) {
        return;
    }
    let (first, last) = (sys::thread::cpuset_cpus().first().expect("a CPU"), last_cpu());
    let Some(cpuset) = Cpuset::of(first) else {
        testing::skip(NAME, "no cpuset of version 1 can be made");
        return;
    };
    let directory = tempfile::tempdir().expect("tempdir");
    let enter = format!("echo $$ >{}/tasks && exec \"$0\" \"$@\"", cpuset.0.display());
    let output = qualify_by(directory.path(), &["sh", "-c", &enter], &["--cpus", &last.to_string()]);
    let refused = format!("short: --cpus: cpu{last}: not in this process's cpuset (it allows {first})");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains(&refused), "{}", stderr(&output));
    let output = qualify_by(directory.path(), &["sh", "-c", &enter], &[]);
    let said = stderr(&output);
    assert!(
        said.contains(&format!("cpu {last}: not in this process's cpuset")),
        "{said}"
    );
    assert!(
        said.contains(&format!("cpu {first}: judged, and carries loads too")),
        "{said}"
    );
}

#[test]
fn two_measurements_on_one_cpu_doubt_each_other_and_on_two_they_do_not() {
    const NAME: &str = "two_measurements_on_one_cpu_doubt_each_other_and_on_two_they_do_not";
    if !root_or_skip(NAME) || !two_cpus_or_skip(NAME) {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let (first, last) = (sys::thread::cpuset_cpus().first().expect("a CPU"), last_cpu());
    let limits = generous_limits(directory.path());
    let both = |one: u32, other: u32| {
        let words =
            |cpu: u32, ns: &str| format!("wakeup --cpus {cpu} --duration {ns} --interval 1ms --limits {limits}");
        let mut a = begin(directory.path(), &format!("a{one}{other}"), &words(one, "4s"));
        until_thread(&mut a, "wakeup");
        let b = begin(directory.path(), &format!("b{one}{other}"), &words(other, "2s"));
        let pids = [a.id(), b.id()];
        (pids, [json(&wait(a, &["a"])), json(&wait(b, &["b"]))])
    };
    let (pids, documents) = both(last, last);
    for (document, other) in documents.iter().zip([pids[1], pids[0]]) {
        let told = events(document, "second-measurement");
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told[0]["series"], format!("wakeup/cpu{last}"));
        let text = told[0]["text"].as_str().expect("text");
        assert!(
            text.starts_with(&format!(
                "another triptime (pid {other}) shares cpu{last}: its thread wakeup/{last}"
            )),
            "{text}"
        );
        assert_eq!(verdict(document), "inconclusive");
    }
    let (_, documents) = both(first, last);
    for document in &documents {
        assert_eq!(events(document, "second-measurement"), Vec::<Value>::new());
    }
}

#[test]
fn two_measurements_on_one_interface_doubt_each_other_and_on_two_they_do_not() {
    const NAME: &str = "two_measurements_on_one_interface_doubt_each_other_and_on_two_they_do_not";
    if !root_or_skip(NAME) {
        return;
    }
    let namespace = namespace();
    let directory = tempfile::tempdir().expect("tempdir");
    let all = namespace.run(|| {
        let words = |interface: &str| {
            format!("subscribe {interface} --rate 4000 --policy other --duration 4s --limits substation")
        };
        let mut publisher = begin(directory.path(), "p", "publish v0 --rate 4000 --policy other");
        until_thread(&mut publisher, "publish");
        let first = begin(directory.path(), "s1", &words("v1"));
        let second = begin(directory.path(), "s2", &words("v1"));
        let [first, second] = [first, second].map(|child| json(&wait(child, &["subscribe"])));
        [json(&end(publisher, &["publish"])), first, second]
    });
    let [publisher, first, second] = all.expect("a thread in the namespace");
    assert_eq!(
        events(&publisher, "second-measurement"),
        Vec::<Value>::new(),
        "it has v0 to itself"
    );
    for document in [first, second] {
        let told = events(&document, "second-measurement");
        assert_eq!(told.len(), 1, "{told:?}");
        let text = told[0]["text"].as_str().expect("text");
        assert!(text.contains("measures on v1 at the same time"), "{text}");
        assert_ne!(verdict(&document), "pass");
        let checks = document["checks"].as_array().expect("checks");
        let decided = checks
            .iter()
            .filter(|check| check["verdict"] == "pass" || check["verdict"] == "fail");
        assert_eq!(decided.count(), 0, "{checks:?}");
    }
}

#[test]
fn a_policy_changed_midway_puts_the_series_in_doubt() {
    const NAME: &str = "a_policy_changed_midway_puts_the_series_in_doubt";
    if !root_or_skip(NAME) {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let cpu = last_cpu();
    let limits = generous_limits(directory.path());
    let words = format!("wakeup --cpus {cpu} --duration 3s --interval 1ms --limits {limits}");
    let mut child = begin(directory.path(), "c", &words);
    let name = format!("wakeup/{cpu}");
    let number = until_thread(&mut child, &name).to_string();
    std::thread::sleep(Duration::from_millis(500));
    let changed = Command::new("chrt").args(["--fifo", "--pid", "7"]).arg(number).status();
    assert!(changed.expect("chrt").success());
    let document = json(&wait(child, &["wakeup"]));
    let told = events(&document, "thread-changed");
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["series"], format!("wakeup/cpu{cpu}"));
    assert_eq!(verdict(&document), "inconclusive");
}
