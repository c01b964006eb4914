//! Real-time budgets that are about to come back.

use std::path::Path;
use std::time::{Duration, Instant};

/// Where the controller of budgets is mounted, with control groups version 1.
const GROUPS: &str = "/sys/fs/cgroup/cpu";

/// How long they may take; it takes milliseconds, on a busy machine tenths of a second.
const PATIENCE: Duration = Duration::from_secs(3);

const LOOK: Duration = Duration::from_millis(10);

/// Waits until the kernel has taken back the budgets of control groups that are gone: until then, a new group is refused one with EINVAL.
/// Groups that others make and take away meanwhile may hold it up, but no longer than seconds.
pub(super) fn wait_for_freed() {
    let begun = Instant::now();
    while has_groups_that_go() && begun.elapsed() < PATIENCE {
        std::thread::sleep(LOOK);
    }
}

/// True if the kernel still counts groups that have no folder any more. Without such a controller there are none.
fn has_groups_that_go() -> bool {
    let text = std::fs::read_to_string("/proc/cgroups").unwrap_or_default();
    let folders = folders(Path::new(GROUPS));
    counted(&text).is_some_and(|counted| folders > 0 && counted > folders)
}

/// How many groups the kernel has of the controller of budgets, the highest among them (cgroups(7): /proc/cgroups).
fn counted(text: &str) -> Option<usize> {
    let mut words = text
        .lines()
        .map(str::split_whitespace)
        .find_map(|mut words| (words.next()? == "cpu").then_some(words))?;
    let hierarchy: u32 = words.next()?.parse().ok()?;
    // 0: it is of version 2, which has no budgets.
    words.next()?.parse().ok().filter(|_| hierarchy != 0)
}

/// How many folders there are, this among them; 0 if it is not there.
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
