//! What a run could leave behind on this machine: network interfaces and namespaces, mounts, control groups and folders.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// As long as others, which test beside this one, may keep what they have made.
const OTHERS: Duration = Duration::from_secs(60);

/// Where this program and runtimes of containers make folders, and how those begin.
const FOLDERS: [&str; 6] = [
    "/tmp",
    "/run",
    "/run/triptime/labs",
    "/sys/fs/cgroup",
    "/sys/fs/cgroup/cpu",
    "/sys/fs/cgroup/cpuset",
];
const BEGINS: [&str; 4] = ["triptime-", "lxc.", "libpod", "conmon"];

/// What there was before a run.
pub struct Before(BTreeSet<String>);

impl Before {
    /// What there is now.
    pub fn look() -> Self {
        Self(all())
    }

    /// Fails when there is something now that was not there before, and that stays: what others made in the meantime goes by itself.
    pub fn nothing_is_left(&self) {
        let until = Instant::now() + OTHERS;
        let mut new: BTreeSet<String> = all().difference(&self.0).cloned().collect();
        while !new.is_empty() {
            assert!(Instant::now() < until, "left behind: {new:#?}");
            std::thread::sleep(Duration::from_millis(100));
            new = new.intersection(&all()).cloned().collect();
        }
    }
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

fn ours(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(Path::new(folder)).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names
        .filter(|name| BEGINS.iter().any(|begin| name.starts_with(begin)))
        .map(|name| format!("{folder}/{name}"))
        .collect()
}
