//! runc and crun: a folder with `config.json`.

use super::{GROUPS, RuntimeName};
use std::path::Path;
use std::process::Command;

/// Runs crun with version 2 of control groups hidden: crun refuses version 1 if version 2 is mounted with a controller. The container then stays in
/// our own group of version 2, whose controllers (`hugetlb`) do not limit it. The machine's mounts stay unchanged, because the shell has its own
/// mount namespace.
const WITHOUT_VERSION_2: &str = "umount /sys/fs/cgroup/unified && exec crun \"$@\"";

/// This process's list of mounts.
const MOUNTS: &str = "/proc/self/mountinfo";

/// A command of the runtime, which keeps its container state in `state`.
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

/// True if the root file system is the kernel's initial one in memory, as in our guests: pivot_root(2) cannot replace it.
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
    // A paused container has a process, but does not run.
    if state.get("status")? == "paused" {
        return None;
    }
    i32::try_from(state.get("pid")?.as_i64()?).ok()
}

/// True if version 2 of control groups is mounted in addition to version 1, with its own controllers.
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
