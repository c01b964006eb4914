//! Real-time budgets that the kernel has not released yet.

use std::path::Path;
use std::time::{Duration, Instant};

/// Mount point of the CPU controller, with control groups version 1.
const GROUPS: &str = "/sys/fs/cgroup/cpu";

/// Time limit for the release; it usually takes milliseconds, on a busy machine tenths of a second.
const PATIENCE: Duration = Duration::from_secs(3);

const LOOK: Duration = Duration::from_millis(10);

/// Waits until the kernel has released the budgets of removed control groups. Until then, it refuses a budget for a new group with EINVAL. Groups
/// that other processes make and remove in the meantime can prolong the wait, up to the time limit.
pub(super) fn wait_for_freed() {
    let begun = Instant::now();
    while has_groups_that_go() && begun.elapsed() < PATIENCE {
        std::thread::sleep(LOOK);
    }
}

/// True if the kernel still counts groups that have no folder any more. False without such a controller.
fn has_groups_that_go() -> bool {
    let text = std::fs::read_to_string("/proc/cgroups").unwrap_or_default();
    let folders = folders(Path::new(GROUPS));
    counted(&text).is_some_and(|counted| folders > 0 && counted > folders)
}

/// Number of groups of the CPU controller, including the root (cgroups(7): /proc/cgroups).
fn counted(text: &str) -> Option<usize> {
    let mut words = text
        .lines()
        .map(str::split_whitespace)
        .find_map(|mut words| (words.next()? == "cpu").then_some(words))?;
    let hierarchy: u32 = words.next()?.parse().ok()?;
    // Hierarchy 0 means version 2, which has no budgets.
    words.next()?.parse().ok().filter(|_| hierarchy != 0)
}

/// Number of folders including this one; 0 if it does not exist.
fn folders(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 0;
    };
    let inner = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    1 + inner.map(|entry| folders(&entry.path())).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::{counted, folders};

    #[test]
    fn groups_are_counted_where_they_have_budgets() {
        let text = "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpuset\t3\t9\t1\ncpu\t1\t4\t1\ncpuacct\t2\t2\t1\n";
        assert_eq!(counted(text), Some(4));
        assert_eq!(counted(&text.replace("cpu\t1", "cpu\t0")), None);
        let folder = tempfile::tempdir().expect("a directory");
        std::fs::create_dir_all(folder.path().join("a/b")).expect("made");
        std::fs::write(folder.path().join("a/tasks"), "").expect("written");
        assert_eq!(folders(folder.path()), 3);
        assert_eq!(folders(&folder.path().join("c")), 0);
    }
}
