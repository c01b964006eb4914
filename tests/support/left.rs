//! Things that a run could leave behind on this machine: network interfaces and namespaces, mounts, control groups and folders.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Longest time that the kernel may need to remove the resources of a process that has ended.
const GONE_WITHIN: Duration = Duration::from_secs(20);

/// Places at which this program and container runtimes make folders, and the first letters of their names.
const FOLDERS: [&str; 6] = [
    "/tmp",
    "/run",
    "/run/triptime/labs",
    "/sys/fs/cgroup",
    "/sys/fs/cgroup/cpu",
    "/sys/fs/cgroup/cpuset",
];
const BEGINS: [&str; 4] = ["triptime-", "lxc.", "libpod", "conmon"];

/// State of the machine before a run.
pub struct Before(BTreeSet<String>);

impl Before {
    /// Reads the present state.
    pub fn look() -> Self {
        Self(all())
    }

    /// Fails if there is something new. Things with the number of a running process belong to a parallel test, and are not remains.
    pub fn nothing_is_left(&self) {
        let until = Instant::now() + GONE_WITHIN;
        let runs = |process: u32| Path::new(&format!("/proc/{process}")).exists();
        let mut new = left(&self.0, &all(), runs);
        while !new.is_empty() {
            assert!(Instant::now() < until, "left behind: {new:#?}");
            std::thread::sleep(Duration::from_millis(100));
            new = new.intersection(&all()).cloned().collect();
        }
    }
}

/// New things that belong to no running process.
fn left(before: &BTreeSet<String>, now: &BTreeSet<String>, runs: impl Fn(u32) -> bool) -> BTreeSet<String> {
    let new = now.difference(before);
    new.filter(|line| !owner(line).is_some_and(&runs)).cloned().collect()
}

fn all() -> BTreeSet<String> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").expect("mounts");
    let network = text(&["netns", "list"]) + &text(&["-br", "link"]);
    let lines = mounts.lines().chain(network.lines()).map(str::to_owned);
    lines.chain(FOLDERS.iter().flat_map(|folder| ours(folder))).collect()
}

fn text(words: &[&str]) -> String {
    let output = Command::new("ip").args(words).output().expect("iproute2 is installed");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The process whose number is in the name of a folder or control group: the first of its numbers.
fn owner(path: &str) -> Option<u32> {
    let name = path.rsplit_once('/')?.1.strip_prefix("triptime-")?;
    name.split('-').find_map(|part| part.parse().ok())
}

fn ours(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(Path::new(folder)).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names
        .filter(|name| BEGINS.iter().any(|begin| name.starts_with(begin)))
        .map(|name| format!("{folder}/{name}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::left;
    use std::collections::BTreeSet;

    #[test]
    fn what_nobody_holds_any_more_is_left() {
        let set = |lines: &[&str]| -> BTreeSet<String> { lines.iter().map(|line| (*line).to_owned()).collect() };
        let (before, gone) = (
            set(&["lo UNKNOWN", "/tmp/triptime-guest-7-a"]),
            "/sys/fs/cgroup/cpu/triptime-8-7",
        );
        let now = set(&[
            "lo UNKNOWN",
            "v0 UP",
            "/run/triptime/labs/triptime-bed",
            "/tmp/triptime-ovs-7-1",
            gone,
        ]);
        let found = left(&before, &now, |process| process == 7);
        assert_eq!(found, set(&["v0 UP", "/run/triptime/labs/triptime-bed", gone]));
    }
}
