//! A report does not blame the host when a process used up its CPU quota or was stopped.

use model::{Cause, Explanation};
use rustix::process::{Pid, Signal, kill_process};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use store::RunFile;
use support::{binary, root_or_skip, start, stderr, until_measuring, wait};
use testing::Running;

fn last_cpu() -> String {
    sys::thread::allowed_cpus().iter().last().expect("a CPU").to_string()
}

/// The explanations of the spikes of the only series that are at least this long.
fn explained(file: &Path, at_least_ns: i64) -> Vec<Explanation> {
    let run = RunFile::open(file).expect("a run");
    let (id, _) = run.series().expect("series").swap_remove(0);
    let spikes = run.spikes(id).expect("spikes").into_iter();
    let long = spikes.filter(|spike| spike.value_ns >= at_least_ns);
    long.map(|spike| spike.explanation.expect("every spike is explained"))
        .collect()
}

fn count(explained: &[Explanation], cause: Cause) -> usize {
    explained.iter().filter(|why| why.cause == cause).count()
}

/// A control group without a quota; removed when dropped.
struct Group {
    directory: PathBuf,
    quota_file: PathBuf,
    /// Contents of the quota file for a hundredth of a CPU, and for no quota.
    hundredth: &'static str,
    all: &'static str,
}

impl Group {
    /// Makes a group in the hierarchy with the `cpu` controller; `None` if no group can be made there.
    fn make() -> Option<Self> {
        let name = format!("triptime-test-{}", std::process::id());
        let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
        let mounts = mounts.lines().filter_map(|line| {
            let mut words = line.split(' ').skip(1);
            Some((words.next()?, words.next()?, words.next()?))
        });
        for (point, kind, options) in mounts {
            let (file, hundredth, all) = match kind {
                "cgroup" if options.split(',').any(|option| option == "cpu") => ("cpu.cfs_quota_us", "1000", "-1"),
                "cgroup2" => ("cpu.max", "1000 100000", "max"),
                _ => continue,
            };
            let directory = Path::new(point).join(&name);
            let group = Self {
                quota_file: directory.join(file),
                directory,
                hundredth,
                all,
            };
            if std::fs::create_dir(&group.directory).is_ok() && std::fs::write(&group.quota_file, all).is_ok() {
                return Some(group);
            }
        }
        None
    }

    fn limit(&self, quota: &str) {
        std::fs::write(&self.quota_file, quota).expect("a quota");
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.directory);
    }
}

#[test]
fn a_used_up_quota_is_throttling_and_not_the_host() {
    const NAME: &str = "a_used_up_quota_is_throttling_and_not_the_host";
    if !root_or_skip(NAME) {
        return;
    }
    let Some(group) = Group::make() else {
        return testing::skip(NAME, "no control groups with a CPU quota can be made");
    };
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("run.triptime");
    let cpu = last_cpu();
    let arguments = [
        "noise",
        "--policy",
        "other",
        "--cpus",
        &cpu,
        "--duration",
        "7s",
        "--quiet",
        "--out",
    ];
    let mut command = Command::new("sh");
    command
        .args(["-c", "echo $$ > \"$0\"/cgroup.procs && exec \"$@\""])
        .arg(&group.directory)
        .arg(binary())
        .args(arguments)
        .arg(&file)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = Running::start(&mut command);
    until_measuring(&mut child, "noise");
    for _ in 0..10 {
        group.limit(group.hundredth);
        std::thread::sleep(Duration::from_millis(200));
        // So that the recorder, which is throttled too, can read the events before they are overwritten.
        group.limit(group.all);
        std::thread::sleep(Duration::from_millis(200));
    }
    let output = wait(child, &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // The thread spins, so that it misses nearly all of each 100 ms.
    let long = explained(&file, 80_000_000);
    let throttled = count(&long, Cause::Throttled);
    let causes: Vec<&str> = long.iter().map(|why| why.text.as_str()).collect();
    assert!(throttled >= 5, "{throttled}: {causes:#?}");
    assert!(count(&long, Cause::Hypervisor) * 4 <= throttled, "{causes:#?}");
    let of_throttled = || long.iter().filter(|why| why.cause == Cause::Throttled);
    assert!(of_throttled().all(|why| why.text.contains("the CPU quota of its control group")));
    let counted = |why: &&Explanation| why.around.iter().any(|line| line.starts_with("the CPU quota"));
    assert!(of_throttled().filter(counted).count() * 2 >= throttled, "{causes:#?}");
}

#[test]
fn a_stopped_process_is_said_to_have_been_stopped() {
    if !root_or_skip("a_stopped_process_is_said_to_have_been_stopped") {
        return;
    }
    for probe in [
        &["noise", "--policy", "fifo:50"][..],
        &["wakeup", "--policy", "fifo:50", "--interval", "1ms"],
    ] {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("run.triptime");
        let (cpu, out) = (last_cpu(), file.to_str().expect("text"));
        let mut arguments = probe.to_vec();
        arguments.extend(["--cpus", &cpu, "--duration", "5s", "--quiet", "--out", out]);
        let mut child = start(&arguments);
        let id = Pid::from_child(&child);
        until_measuring(&mut child, probe[0]);
        for _ in 0..8 {
            kill_process(id, Signal::STOP).expect("it runs");
            std::thread::sleep(Duration::from_millis(120));
            kill_process(id, Signal::CONT).expect("it is stopped");
            // The period differs from that of the pauses of `noise`, so only some of the stops begin in a pause.
            std::thread::sleep(Duration::from_millis(210));
        }
        let output = wait(child, &arguments);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            stderr(&output)
        );
        let long = explained(&file, 100_000_000);
        let causes: Vec<&str> = long.iter().map(|why| why.text.as_str()).collect();
        let stopped = count(&long, Cause::Stopped);
        // While all of the process is stopped, nobody reads the kernel's events: if its ring was full, the cause is unknown.
        let unknown = count(&long, Cause::Unexplained);
        assert!(stopped >= 4, "{probe:?}: {causes:#?}");
        assert!(
            (long.len() - stopped - unknown) * 4 <= stopped,
            "{probe:?}: {causes:#?}"
        );
        assert!(
            causes.iter().any(|cause| cause.contains("stopped for 1")),
            "{causes:#?}"
        );
    }
}
