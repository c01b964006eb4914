//! A partition of control groups, and its remains.

use crate::{CPUS, path, plan};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::PoisonError;
use std::time::{Duration, Instant};
use support::{root_or_skip, start, stderr, wait};
use testing::Running;

/// A cell in a partition of control groups.
const PARTED: &str = r#"
name = "parted"
what = "Wake-ups on CPUs that nothing else has"
limits = "substation"
window = "100ms"

[cpus]
housekeeping = "first"
measured = "rest"

[cell]
place = "native"
load = "none"
isolation = "cpuset"

[[step]]
probe = "wakeup"
duration = "60s"
interval = "1ms"
"#;

/// A group with its own process below another one; removed with this value.
struct Below {
    group: PathBuf,
    process: Running,
}

impl Below {
    fn of(above: &Path) -> Self {
        let group = above.join("below");
        std::fs::create_dir(&group).expect("a group");
        for name in ["cpuset.mems", "cpuset.cpus"] {
            if let Ok(value) = std::fs::read_to_string(above.join(name)) {
                // Version 2 without the controller here: nothing to check.
                let _ = std::fs::write(group.join(name), value);
            }
        }
        let process = Running::start(Command::new("sleep").arg("120"));
        std::fs::write(group.join("cgroup.procs"), process.id().to_string()).expect("a member");
        Self { group, process }
    }
}

impl Drop for Below {
    fn drop(&mut self) {
        self.process.kill().expect("ours");
        self.process.wait().expect("ended");
        // It stays until the kernel has noticed the end of its process; the next run removes it.
        let _ = std::fs::remove_dir(&self.group);
    }
}

/// A group that a process can join: in version 1 only once it has CPUs and memory.
fn is_made(group: &Path) -> bool {
    let is_filled = |name: &str| std::fs::read_to_string(group.join(name)).is_ok_and(|value| !value.trim().is_empty());
    let is_version_1 = group.starts_with("/sys/fs/cgroup/cpuset");
    group.exists() && (!is_version_1 || ["cpuset.cpus", "cpuset.mems"].into_iter().all(is_filled))
}

#[test]
fn a_partition_of_a_killed_measurement_is_taken_back_by_the_next_one() {
    let test = "a_partition_of_a_killed_measurement_is_taken_back_by_the_next_one";
    if !root_or_skip(test) {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let (plan, first, second) = (
        plan(directory.path(), PARTED),
        path(directory.path(), "first"),
        path(directory.path(), "second"),
    );
    let _alone = CPUS.write().unwrap_or_else(PoisonError::into_inner);
    let root = ["/sys/fs/cgroup/cpuset", "/sys/fs/cgroup"].map(Path::new);
    let root = root.into_iter().find(|root| {
        let has = |name: &str| root.join(name).exists();
        has("cpuset.sched_load_balance") || has("cgroup.controllers")
    });
    let Some(root) = root else {
        return testing::skip(test, "no control groups have CPU sets here");
    };
    let others = root.join("triptime-others");
    let switches = || {
        ["cpuset.sched_load_balance", "cgroup.subtree_control"]
            .map(|name| std::fs::read_to_string(root.join(name)).ok())
    };
    let before = (switches(), others.exists());
    let mut child = start(&["qualify", &plan, "--out", &first, "--quiet"]);
    let until = Instant::now() + Duration::from_secs(30);
    while !is_made(&others) && child.try_wait().expect("its state").is_none() {
        assert!(Instant::now() < until, "neither a partition nor a refusal");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("SIGKILL");
    child.wait().expect("ended");
    // The process that was moved into the group has made a subgroup there, as a container runtime does.
    let below = Below::of(&others);
    let third = path(directory.path(), "third");
    let words = ["qualify", &plan, "--out", &third, "--duration", "200ms", "--quiet"];
    let output = wait(start(&words), &words);
    assert!(Path::new(&third).exists(), "{}", stderr(&output));
    assert!(others.exists(), "a group with a process was removed");
    let cpus = |group: &Path| std::fs::read_to_string(group.join("cpuset.cpus")).unwrap_or_default();
    let left = cpus(&others);
    assert!(
        left.trim().is_empty() || left == cpus(root),
        "only CPUs {left} are left to what is in it"
    );
    drop(below);
    // The state that a container runtime leaves: refused if the partition was not made.
    let _ = std::fs::create_dir(others.join("runtime.pivot"));
    let words = ["qualify", &plan, "--out", &second, "--duration", "1s", "--quiet"];
    let output = wait(start(&words), &words);
    assert_eq!(
        (switches(), others.exists()),
        before,
        "left behind: {}",
        stderr(&output)
    );
    let run = store::RunFile::open(Path::new(&second)).expect("a run");
    let facts = run.facts().expect("facts");
    let value = |group: &str, name: &str| {
        let found = facts
            .iter()
            .find(|fact| (fact.group.as_str(), fact.name.as_str()) == (group, name));
        found.and_then(|fact| fact.value.clone().ok()).unwrap_or_default()
    };
    let cpu = value("partition of control groups", "kept apart");
    assert_ne!(value("partition of control groups", "threads moved"), "0");
    assert_ne!(value("kernel threads", &format!("bound to {cpu}")), "");
    assert_ne!(value("kernel threads", &format!("not bound, last on {cpu}")), "");
}
