//! CPU sets of control groups version 2: each group below the top one gets only the other CPUs, as with `AllowedCPUs=` of systemd.
//!
//! An isolated partition (`cpuset.cpus.partition`) would limit load balancing, too. But only its members run on its CPUs, and they run on no others.
//! So neither a process whose recorder runs outside the measured CPUs nor a container could be a member.

use super::{Change, OTHERS, Sets, allowed, is_free, name};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tune::Operation;
use units::{CpuList, Refusal, refusal};

/// Mount point of version 2.
const ROOT: &str = "/sys/fs/cgroup";

/// Its hierarchy.
#[derive(Debug)]
pub(super) struct Version2 {
    root: PathBuf,
}

impl Default for Version2 {
    fn default() -> Self {
        Self {
            root: PathBuf::from(ROOT),
        }
    }
}

impl Sets for Version2 {
    fn root(&self) -> &Path {
        &self.root
    }

    fn members(&self) -> &'static str {
        "cgroup.procs"
    }

    fn balancing(&self) -> &'static str {
        "over all CPUs, as before: with version 2 only an isolated partition limits it, and its members are whole processes"
    }

    fn is_here(&self) -> bool {
        let controllers = fs::read_to_string(self.root.join("cgroup.controllers"));
        controllers.is_ok_and(|text| text.split_whitespace().any(|name| name == "cpuset"))
    }

    fn possible(&self) -> Result<(), Refusal> {
        // Only the top group has no such file.
        match self.root.join("cgroup.type").exists() {
            false => Ok(()),
            true => Err(refusal!(
                "{} is not the top control group of this machine but a container's: run on the host",
                self.root.display()
            )),
        }
    }

    fn enter(&self) -> Result<Option<PathBuf>, Refusal> {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let own = own.lines().find_map(|line| line.strip_prefix("0::/"));
        let Some(own) = own.filter(|path| !path.is_empty()) else {
            return Ok(None);
        };
        let top = self.root.join(self.members());
        fs::write(&top, std::process::id().to_string()).map_err(|error| {
            refusal!(
                "{}: this process, which is in {own}, cannot be moved there: {error}",
                top.display()
            )
        })?;
        Ok(Some(self.root.join(own).join(self.members())))
    }

    fn change(&self, cpus: &CpuList, others: &CpuList) -> Result<Change, Refusal> {
        let path = |folder: &Path, file: &str| folder.join(file).display().to_string();
        let group = self.root.join(OTHERS);
        let mut change = Change {
            operations: vec![
                Operation::write(path(&self.root, "cgroup.subtree_control"), "+cpuset"),
                Operation::folder(group.display().to_string()),
                Operation::write(path(&group, "cpuset.cpus"), others.to_string()),
            ],
            ..Change::default()
        };
        for folder in folders(&self.root) {
            match chosen(&folder, cpus) {
                None => change
                    .operations
                    .push(Operation::write(path(&folder, "cpuset.cpus"), others.to_string())),
                Some(who) => {
                    let name = folder.file_name().unwrap_or_default().to_string_lossy();
                    change.spared.insert(format!("{name} ({who})"));
                }
            }
        }
        Ok(change)
    }
}

/// Groups in a group.
fn folders(group: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(group).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut folders: Vec<PathBuf> = folders.map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

/// Finds an explicit choice of one of these CPUs: a group with such a CPU set, or a thread with such an affinity; `None` if all may run anywhere.
/// Before Linux 6.2 a thread moved by a CPU set does not regain its affinity.
fn chosen(group: &Path, cpus: &CpuList) -> Option<String> {
    let own = fs::read_to_string(group.join("cpuset.cpus")).unwrap_or_default();
    let own: CpuList = own.trim().parse().unwrap_or_default();
    if !is_free(&own) && own.iter().any(|cpu| cpus.contains(cpu)) {
        return Some(format!("its CPUs are {own}"));
    }
    let threads = fs::read_to_string(group.join("cgroup.threads")).unwrap_or_default();
    let threads = threads.lines().filter_map(|line| line.parse().ok());
    let keeps =
        |thread: &u32| allowed(*thread).is_some_and(|on| !is_free(&on) && on.iter().any(|cpu| cpus.contains(cpu)));
    let kept: BTreeSet<String> = threads.filter(keeps).filter_map(name).collect();
    match kept.into_iter().next() {
        Some(name) => Some(format!("{name} has chosen its CPUs")),
        None => folders(group).iter().find_map(|folder| chosen(folder, cpus)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Sets, Version2, chosen};
    use std::fs;
    use std::path::Path;
    use tune::{Journal, Operation, Outcome, Target, TunedMachine, apply, undo};
    use units::CpuList;

    fn list(text: &str) -> CpuList {
        text.parse().expect("a list")
    }

    fn group(at: &Path, cpus: &str) {
        fs::create_dir_all(at).expect("made");
        for (name, text) in [("cpuset.cpus", cpus), ("cgroup.procs", ""), ("cgroup.threads", "")] {
            fs::write(at.join(name), text).expect("written");
        }
    }

    #[test]
    fn a_group_that_has_chosen_its_cpus_keeps_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        group(root, "");
        fs::write(root.join("cgroup.subtree_control"), "cpu memory").expect("written");
        group(&root.join("system.slice"), "");
        group(&root.join("system.slice/ssh.service"), "");
        group(&root.join("machine.slice"), "");
        group(&root.join("machine.slice/relay"), "2-3");
        let sets = Version2 { root: root.to_owned() };
        let change = sets.change(&list("2-3"), &list("0-1")).expect("a change");
        let written: Vec<String> = change.operations.iter().map(ToString::to_string).collect();
        let end = |what: &str| written.iter().any(|line| line.ends_with(what));
        assert!(
            end("system.slice/cpuset.cpus = 0-1") && end("triptime-others/cpuset.cpus = 0-1"),
            "{written:?}"
        );
        assert!(
            !written.iter().any(|line| line.contains("machine.slice")),
            "{written:?}"
        );
        assert!(
            change.spared.contains("machine.slice (its CPUs are 2-3)"),
            "{:?}",
            change.spared
        );
        assert_eq!(chosen(&root.join("machine.slice"), &list("1")), None);
    }

    #[test]
    fn what_it_writes_is_taken_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("sys/fs/cgroup");
        group(&root, "");
        group(&root.join("user.slice"), "");
        let sets = Version2 { root: root.clone() };
        let change = sets.change(&list("1"), &list("0")).expect("a change");
        // A plain folder has neither the files of a control group nor a switch for controllers.
        let operations = change.operations.iter().filter_map(|one| match &one.target {
            Target::File(path) if path.contains("user.slice") => {
                let inside = path.strip_prefix(folder.path().to_str()?)?;
                Some(Operation::write(inside, one.value.clone()))
            }
            _ => None,
        });
        let operations: Vec<Operation> = operations.collect();
        let machine = TunedMachine::at(folder.path());
        let mut journal = Journal::open(&folder.path().join("journal")).expect("a journal");
        let applied = apply(&machine, &mut journal, "sets", &operations).expect("applied");
        assert!(
            applied.iter().all(|one| matches!(one.outcome, Outcome::Done)),
            "{applied:?}"
        );
        let read = || fs::read_to_string(root.join("user.slice/cpuset.cpus")).expect("read");
        assert_eq!(read().trim(), "0");
        undo(&machine, &mut journal).expect("undone");
        assert_eq!(read().trim(), "");
    }
}
