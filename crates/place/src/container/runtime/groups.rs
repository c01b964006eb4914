//! Control groups of containers.

use super::super::KIND;
use super::super::folder;
use rustix::process::{Pid, Signal, kill_process};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Mount point of the controllers of control groups version 1, and of version 2 itself.
const GROUPS: &str = "/sys/fs/cgroup";

/// Number of attempts to remove a control group, and the time between them: a killed process leaves its group a moment later.
const TRIES: u32 = 100;
const LOOK: Duration = Duration::from_millis(20);

/// Name of a container's control groups, from its process and its number.
pub(in crate::container) fn name(process: u32, number: u32) -> String {
    format!("{PREFIX}{process}-{number}")
}

const PREFIX: &str = "triptime-";

/// Kills the processes in the control groups of this name, and removes the groups.
pub(in crate::container) fn end(name: &str) {
    for group in called(name) {
        for _ in 0..TRIES {
            let inside = std::fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
            let numbers = inside.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?));
            for process in numbers {
                // An error means that the process has ended or is about to.
                let _ = kill_process(process, Signal::KILL);
            }
            if std::fs::remove_dir(&group).is_ok() {
                break;
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// Removes the empty control groups of processes that are gone, because nothing else would release their real-time budget. A process of another PID
/// namespace is recognized by the folder of its containers.
pub(in crate::container) fn sweep() {
    sweep_below(Path::new(GROUPS), |process| {
        Path::new(&format!("/proc/{process}")).exists() || folder::is_held_by(KIND, process)
    });
}

fn sweep_below(root: &Path, runs: impl Fn(u32) -> bool) {
    for folder in controllers(root) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let owner = name.to_str().and_then(owner);
            if owner.is_some_and(|process| !runs(process)) {
                // An error means that a process still runs in it.
                let _ = std::fs::remove_dir(entry.path());
            }
        }
    }
}

fn owner(name: &str) -> Option<u32> {
    let (process, number) = name.strip_prefix(PREFIX)?.split_once('-')?;
    number.parse::<u32>().ok()?;
    process.parse().ok()
}

/// The folders of the control groups with this name, one per controller.
pub(super) fn called(name: &str) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = controllers(Path::new(GROUPS)).map(|folder| folder.join(name)).collect();
    folders.retain(|folder| folder.is_dir());
    folders
}

/// The mount points: of each controller (version 1), and their parent (version 2).
fn controllers(root: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let below = std::fs::read_dir(root).into_iter().flatten().flatten();
    below.map(|entry| entry.path()).chain([root.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::{name, owner, sweep_below};

    #[test]
    fn only_empty_groups_of_processes_that_are_gone_are_swept() {
        let root = tempfile::tempdir().expect("a directory");
        let made = |path: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(&path).expect("made");
            path
        };
        let gone = [made("cpu/triptime-7-0"), made("triptime-7-1")];
        let busy = made("cpu/triptime-7-2/inside");
        let kept = [
            made("cpu/triptime-8-0"),
            made("cpu/triptime-lab"),
            made("cpu/triptime-7-lab"),
            made("cpu/other-7-0"),
        ];
        sweep_below(root.path(), |process| process == 8);
        assert!(gone.iter().all(|path| !path.exists()));
        assert!(kept.iter().chain([&busy]).all(|path| path.exists()));
        assert_eq!(owner(&name(12, 3)), Some(12));
    }
}
