//! Memory for a run: all of it is locked, so in a control group with too little, the kernel would kill the process during the run.

use crate::room::shown;
use host::{GroupMemory, Host};

/// Bytes that a run of one probe needs in addition to what the process has mapped when it begins: kept heap, rings, stacks, the
/// report. Measured: `wakeup` in a group of 64 MiB has 42 MiB.
pub const OF_A_PROBE: u64 = 16 << 20;

/// The same for a plan with a test bed: traces, a relay, a hundred series. Measured: `qualify quick` is killed in a group of 104
/// MiB, but not in one of 116.
pub const OF_A_BED: u64 = 64 << 20;

/// Why a run that needs `more` bytes cannot lock its memory here without being killed, if so.
pub(crate) fn lacking(more: u64) -> Option<String> {
    let group = Host::live().group_memory()?;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    lacking_in(&group, Own::of(&status)?, more)
}

/// Memory of the process, in bytes.
#[derive(Debug, Clone, Copy)]
struct Own {
    /// Mapped memory: all of it is present once it is locked.
    mapped: u64,
    /// The part of it that is present and belongs to no file: the group's figure includes it.
    held: u64,
}

impl Own {
    /// Parses the text of /proc/self/status (proc_pid_status(5)).
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
            "{}: its limit is {}, of which this process can have {}, but a run locks {} at least: the kernel would kill it during the \
             run; give the group or container more memory (memory.max, MemoryMax=, --memory)",
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
        // Two MiB of the group belong to others.
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
