//! runc and crun: a folder with `config.json`.

use super::{GROUPS, RuntimeName};
use std::path::Path;
use std::process::Command;

/// Runs crun where it does not see version 2 of control groups: it refuses version 1 as long as version 2 has a controller beside it.
/// The container stays in the own group of version 2 then, whose controllers (`hugetlb`) do not limit it. The mounts of this machine are
/// left alone: the shell has mounts of its own.
const WITHOUT_VERSION_2: &str = "umount /sys/fs/cgroup/unified && exec crun \"$@\"";

/// Where this process sees what is mounted.
const MOUNTS: &str = "/proc/self/mountinfo";

/// A command of the runtime that keeps what it knows of containers in `state`.
pub(super) fn command(name: RuntimeName, state: &Path) -> Command {
    let mut command = if name == RuntimeName::Crun && is_hybrid() {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", WITHOUT_VERSION_2, "crun"]);
        command
    } else {
        Command::new(name.program())
    };
    command.arg("--root").arg(state);
    command
}

/// Runs the command of the container in the folder `bundle`, in the foreground.
pub(super) fn run(name: RuntimeName, state: &Path, bundle: &Path) -> Command {
    let mut command = command(name, state);
    command.arg("run");
    if std::fs::read_to_string(MOUNTS).is_ok_and(|mounts| root_is_the_kernels(&mounts)) {
        command.arg("--no-pivot");
    }
    command.arg("--bundle").arg(bundle);
    command
}

/// True if the root file system is the kernel's first one, in memory, as in our guests: no other can take its place (pivot_root(2)).
fn root_is_the_kernels(mounts: &str) -> bool {
    let is_root = |line: &&str| line.split(' ').nth(4) == Some("/");
    let root = mounts.lines().rfind(is_root);
    let kind = root.and_then(|line| line.split_once(" - ")?.1.split(' ').next());
    kind == Some("rootfs")
}

pub(super) fn end(name: RuntimeName, state: &Path, id: &str) -> Command {
    let mut command = command(name, state);
    command.args(["delete", "--force", id]);
    command
}

pub(super) fn first_process(name: RuntimeName, state: &Path, id: &str) -> Option<i32> {
    let output = command(name, state).args(["state", id]).output().ok()?;
    let state: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    // One that is paused has a process, which does nothing.
    if state.get("status")? == "paused" {
        return None;
    }
    i32::try_from(state.get("pid")?.as_i64()?).ok()
}

/// True if version 2 of control groups is mounted beside version 1, with controllers of its own.
fn is_hybrid() -> bool {
    let controllers = std::fs::read_to_string(format!("{GROUPS}/unified/cgroup.controllers"));
    controllers.is_ok_and(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::root_is_the_kernels;

    #[test]
    fn the_first_root_is_told_from_others() {
        let first = "1 1 0:2 / / rw - rootfs rootfs rw,size=1k\n20 1 0:20 / /proc rw - proc proc rw\n";
        assert!(root_is_the_kernels(first));
        let disk = "1 1 0:2 / / rw - rootfs rootfs rw\n25 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n";
        assert!(!root_is_the_kernels(disk), "what is mounted over it counts");
        assert!(!root_is_the_kernels(""));
    }
}
