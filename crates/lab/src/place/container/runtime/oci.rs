//! runc and crun: a folder with `config.json`.

use super::{GROUPS, RuntimeName};
use std::path::Path;
use std::process::Command;

/// Runs crun where it does not see version 2 of control groups: it refuses version 1 as long as version 2 has a controller beside it.
/// The container stays in the own group of version 2 then, whose controllers (`hugetlb`) do not limit it. The mounts of this machine are
/// left alone: the shell has mounts of its own.
const WITHOUT_VERSION_2: &str = "umount /sys/fs/cgroup/unified && exec crun \"$@\"";

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

pub(super) fn end(name: RuntimeName, state: &Path, id: &str) -> Command {
    let mut command = command(name, state);
    command.args(["delete", "--force", id]);
    command
}

pub(super) fn first_process(name: RuntimeName, state: &Path, id: &str) -> Option<i32> {
    let output = command(name, state).args(["state", id]).output().ok()?;
    let state: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    i32::try_from(state.get("pid")?.as_i64()?).ok()
}

/// Whether version 2 of control groups is mounted beside version 1, with controllers of its own.
fn is_hybrid() -> bool {
    let controllers = std::fs::read_to_string(format!("{GROUPS}/unified/cgroup.controllers"));
    controllers.is_ok_and(|text| !text.trim().is_empty())
}
