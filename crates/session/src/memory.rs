//! Memory for a run: all of it is locked, and a control group with too little has the kernel end the process in the middle.

use crate::room::shown;
use host::{GroupMemory, Host};

/// Octets that a run of one probe takes beyond what the process has mapped when it begins: heap that is kept, rings, stacks, the report.
/// Measured: `wakeup` in a group of 64 MiB has 42 MiB.
pub const OF_A_PROBE: u64 = 16 << 20;

/// The same of a plan with a test bed: traces, a relay, a hundred series. Measured: `qualify quick` is ended in a group of 104 MiB, and is not
/// in one of 116.
pub const OF_A_BED: u64 = 64 << 20;

/// Why a run that takes so many octets more cannot lock its memory here without being ended for it, if that is so.
pub(crate) fn lacking(more: u64) -> Option<String> {
    let group = Host::live().group_memory()?;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    lacking_in(&group, Own::of(&status)?, more)
}

/// Memory of the process, in octets.
#[derive(Debug, Clone, Copy)]
struct Own {
    /// Mapped: all of it is there when it is locked.
    mapped: u64,
    /// Of that, what is there already and is not of a file: the group's figure has it.
    held: u64,
}

impl Own {
    /// By the text of /proc/self/status (proc_pid_status(5)).
    fn of(status: &str) -> Option<Self> {
        let octets = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
            Some(kib << 10)
        };
        Some(Self {
            mapped: octets("VmSize:")?,
            held: octets("RssAnon:")?,
        })
    }
}

fn lacking_in(group: &GroupMemory, own: Own, more: u64) -> Option<String> {
    let (need, left) = (own.mapped.saturating_add(more), group.left() + own.held);
    (need > left).then(|| {
        format!(
            "{}: its limit is {}, of which this process can have {}, and a run locks {} at least: without that the kernel ends it in the \
             middle; give the group or container more memory (memory.max, MemoryMax=, --memory)",
            group.directory,
            shown(group.limit),
            shown(left),
            shown(need)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{OF_A_PROBE, Own, lacking_in};
    use host::GroupMemory;

    const STATUS: &str = "Name:\ttriptime\nVmSize:\t   61440 kB\nVmRSS:\t   20480 kB\nRssAnon:\t   10240 kB\n";

    #[test]
    fn a_group_that_is_too_small_is_named_with_the_figures() {
        let own = Own::of(STATUS).expect("figures");
        let group = |limit| GroupMemory {
            directory: "/sys/fs/cgroup/small".into(),
            limit,
            held: 12 << 20,
        };
        // Two MiB of the group are of others.
        let enough = (60 << 20) + OF_A_PROBE + (2 << 20);
        assert_eq!(lacking_in(&group(enough), own, OF_A_PROBE), None);
        let why = lacking_in(&group(enough - 1), own, OF_A_PROBE).expect("too little");
        assert!(why.starts_with("/sys/fs/cgroup/small: its limit is 78.0 MiB"), "{why}");
        assert!(
            why.contains("locks 76.0 MiB at least") && why.contains("MemoryMax="),
            "{why}"
        );
        assert!(Own::of("Name:\ttriptime\n").is_none());
    }
}
