//! CPU sets of control groups version 1: a group gets the other CPUs, and load balancing is limited to that group.

use super::{Change, OTHERS, Sets};
use std::fs;
use std::path::Path;
use tune::Operation;
use units::{CpuList, Refusal, refusal};

const ROOT: &str = "/sys/fs/cgroup/cpuset";

/// The hierarchy of the controller `cpuset`.
#[derive(Debug)]
pub(super) struct Version1;

impl Sets for Version1 {
    fn root(&self) -> &Path {
        Path::new(ROOT)
    }

    fn members(&self) -> &'static str {
        "tasks"
    }

    fn balancing(&self) -> &'static str {
        "done in the control group of the other threads"
    }

    fn is_here(&self) -> bool {
        Path::new(ROOT).join("cpuset.sched_load_balance").exists()
    }

    fn possible(&self) -> Result<(), Refusal> {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let own = own
            .lines()
            .find_map(|line| line.split_once(":cpuset:").map(|(_, path)| path));
        match own {
            Some("/") => Ok(()),
            other => Err(refusal!(
                "this process is in the control group {}, and only the top group of CPU sets can be divided: start it there",
                other.unwrap_or("of no CPU set")
            )),
        }
    }

    fn change(&self, _cpus: &CpuList, others: &CpuList) -> Result<Change, Refusal> {
        let memory = fs::read_to_string(format!("{ROOT}/cpuset.mems")).map_err(|error| refusal!("{ROOT}: {error}"))?;
        let group = format!("{ROOT}/{OTHERS}");
        Ok(Change {
            operations: vec![
                Operation::folder(&group),
                Operation::write(format!("{group}/cpuset.mems"), memory.trim()),
                Operation::write(format!("{group}/cpuset.cpus"), others.to_string()),
                Operation::write(format!("{ROOT}/cpuset.sched_load_balance"), "0"),
            ],
            ..Change::default()
        })
    }
}
