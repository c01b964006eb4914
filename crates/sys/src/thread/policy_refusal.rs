//! Finds out why the kernel refused a scheduling policy. The errno alone does not show the reason.

use super::Policy;
use crate::error::SysError;
use crate::privilege::{Capability, has_on_host};
use rustix::io::Errno;
use std::path::{Path, PathBuf};
use units::CpuList;

/// The error for `policy`, refused with `errno`.
pub(super) fn explain(policy: Policy, errno: Errno, affinity: impl FnOnce() -> CpuList) -> SysError {
    let what = format!("run with policy {policy}");
    match (policy, errno) {
        (_, Errno::PERM) if !has_on_host(Capability::SysNice) => SysError::MissingCapability {
            capability: Capability::SysNice,
            what,
        },
        // With the capability, kernel/sched/syscalls.c refuses a deadline thread with EPERM only because of its affinity.
        (Policy::Deadline { .. }, Errno::PERM) => SysError::DeadlinePinned {
            what,
            allowed: affinity(),
        },
        (Policy::Deadline { .. }, Errno::BUSY) => SysError::DeadlineOverbooked { what },
        (Policy::Fifo(_) | Policy::RoundRobin(_), Errno::PERM) => match real_time_budget(Path::new("/")) {
            Some(remedy) => SysError::NoRealTimeBudget { what, remedy },
            None => SysError::refused("run with policy", policy.to_string(), errno),
        },
        _ => SysError::refused("run with policy", policy.to_string(), errno),
    }
}

/// Advice if the cgroup of this process has no real-time budget; `None` if that is not the cause.
///
/// Kernels with `CONFIG_RT_GROUP_SCHED` give a new cpu cgroup no budget, and then refuse real-time policies even to root
/// (Documentation/scheduler/sched-rt-group.rst). /proc and the cgroup mounts are below `root`.
fn real_time_budget(root: &Path) -> Option<String> {
    let read = |path: &str| std::fs::read_to_string(root.join(path)).ok();
    let own = own_cpu_cgroup(&read("proc/thread-self/cgroup")?)?;
    let Some(mount) = cpu_cgroup_mount(&read("proc/self/mountinfo")?) else {
        return (own != "/").then(|| {
            format!("it is in {own}; start it in the root cpu cgroup, or in one whose cpu.rt_runtime_us is not 0")
        });
    };
    let inside = |path: &Path| root.join(path.strip_prefix("/").unwrap_or(path));
    // A container sees its own cgroup at the mount point, but gets a path that does not exist inside the container.
    let candidates = [PathBuf::from(format!("{}{own}", mount.display())), mount];
    let group = candidates
        .iter()
        .find(|path| inside(path).join("cpu.rt_runtime_us").exists())?;
    let budget = std::fs::read_to_string(inside(group).join("cpu.rt_runtime_us")).ok()?;
    (budget.trim() == "0").then(|| {
        let group = group.display();
        format!(
            "{group}/cpu.rt_runtime_us is 0: `echo 950000 > {group}/cpu.rt_runtime_us` (its parents need a budget first), \
             or start the tool in the root cpu cgroup"
        )
    })
}

/// The path for the `cpu` controller of cgroup v1 in /proc/thread-self/cgroup.
fn own_cpu_cgroup(cgroup: &str) -> Option<String> {
    cgroup.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        controllers
            .split(',')
            .any(|name| name == "cpu")
            .then(|| path.to_owned())
    })
}

/// Mount point of cgroup v1's `cpu` controller, from /proc/self/mountinfo (proc_pid_mountinfo(5)).
fn cpu_cgroup_mount(mountinfo: &str) -> Option<PathBuf> {
    mountinfo.lines().find_map(|line| {
        let (mount, filesystem) = line.split_once(" - ")?;
        let mut filesystem = filesystem.split(' ');
        let (kind, options) = (filesystem.next()?, filesystem.nth(1)?);
        let ours = kind == "cgroup" && options.split(',').any(|option| option == "cpu");
        ours.then(|| mount.split(' ').nth(4).map(PathBuf::from)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::{Policy, explain, real_time_budget};
    use crate::SysError;
    use rustix::io::Errno;
    use std::path::Path;
    use units::CpuList;

    const MOUNTS: &str = "25 20 0:22 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n\
                          30 20 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n";

    fn host(root: &Path, cgroup: &str, mounts: &str, groups: &[(&str, &str)]) {
        std::fs::create_dir_all(root.join("proc/self")).expect("proc");
        std::fs::create_dir_all(root.join("proc/thread-self")).expect("proc");
        std::fs::write(root.join("proc/thread-self/cgroup"), cgroup).expect("cgroup");
        std::fs::write(root.join("proc/self/mountinfo"), mounts).expect("mountinfo");
        for (group, budget) in groups {
            let group = root.join("sys/fs/cgroup/cpu,cpuacct").join(group);
            std::fs::create_dir_all(&group).expect("group");
            std::fs::write(group.join("cpu.rt_runtime_us"), budget).expect("budget");
        }
    }

    #[test]
    fn a_cgroup_without_budget_is_named_with_the_file_to_write() {
        let root = tempfile::tempdir().expect("scratch directory");
        let groups = [("", "950000\n"), ("docker/abc", "0\n")];
        host(
            root.path(),
            "4:memory:/m\n2:cpu,cpuacct:/docker/abc\n0::/\n",
            MOUNTS,
            &groups,
        );
        let remedy = real_time_budget(root.path()).expect("no budget");
        assert!(
            remedy.starts_with("/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.rt_runtime_us is 0: `echo 950000 > /sys/")
        );
    }

    #[test]
    fn a_container_finds_its_own_cgroup_at_the_mount_point() {
        let root = tempfile::tempdir().expect("scratch directory");
        host(root.path(), "2:cpu,cpuacct:/docker/abc\n", MOUNTS, &[("", "0\n")]);
        let remedy = real_time_budget(root.path()).expect("no budget");
        assert!(
            remedy.starts_with("/sys/fs/cgroup/cpu,cpuacct/cpu.rt_runtime_us is 0"),
            "{remedy}"
        );
    }

    #[test]
    fn a_cgroup_with_a_budget_and_a_kernel_without_groups_are_not_the_cause() {
        let root = tempfile::tempdir().expect("scratch directory");
        host(root.path(), "2:cpu,cpuacct:/relay\n", MOUNTS, &[("relay", "400000\n")]);
        assert_eq!(real_time_budget(root.path()), None);
        host(root.path(), "0::/relay\n", "", &[]);
        assert_eq!(real_time_budget(root.path()), None);
    }

    #[test]
    fn deadline_refusals_are_told_apart() {
        let deadline = Policy::Deadline {
            runtime_ns: 1_000_000,
            deadline_ns: 2_000_000,
            period_ns: 2_000_000,
        };
        let allowed = || "1".parse::<CpuList>().expect("a list");
        let overbooked = explain(deadline, Errno::BUSY, allowed);
        assert!(
            matches!(overbooked, SysError::DeadlineOverbooked { .. }),
            "{overbooked}"
        );
        assert!(
            overbooked
                .to_string()
                .starts_with("run with policy deadline:1ms/2ms/2ms: refused by admission control")
        );
        let other = explain(Policy::Fifo(80), Errno::INVAL, allowed);
        assert_eq!(
            other.to_string(),
            "run with policy fifo:80: Invalid argument (os error 22)"
        );
    }
}
