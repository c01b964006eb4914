//! Line of a process or thread in `/proc/PID/stat` (proc(5)).

/// Flag of a kernel thread (`PF_KTHREAD`, linux/sched.h).
const KERNEL_THREAD: u64 = 0x0020_0000;
/// Flag of a thread whose CPUs cannot be changed (`PF_NO_SETAFFINITY`, linux/sched.h).
const BOUND: u64 = 0x0400_0000;

/// Field numbers, counted from the one after the name: flags, minor and major page faults, start, CPU, priority, policy.
const FLAGS: usize = 6;
const MINOR_FAULTS: usize = 7;
const MAJOR_FAULTS: usize = 9;
const STARTED: usize = 19;
const CPU: usize = 36;
const PRIORITY: usize = 37;
const POLICY: usize = 38;

/// Fields of a thread's line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadStat {
    /// Name, which may contain any character, including spaces and brackets.
    pub name: String,
    /// True for a kernel thread.
    pub is_kernel: bool,
    /// True if the kernel refuses to change its CPUs.
    pub is_bound: bool,
    /// Start time in clock ticks since boot.
    pub started_ticks: u64,
    /// True if its policy is `fifo`, `rr` or `deadline`.
    pub is_real_time: bool,
    /// Policy: `other`, `fifo:50`; `None` if unknown.
    pub policy: Option<String>,
    /// Real-time priority, 1 to 99; 0: none.
    pub priority: u32,
    /// CPU on which it last ran.
    pub cpu: Option<u32>,
    /// Page faults since its start, minor and major.
    pub faults: Option<u64>,
}

impl ThreadStat {
    /// Parses the line; `None` if it contains no name in brackets.
    pub fn parse(line: &str) -> Option<Self> {
        let (before, behind) = line.rsplit_once(") ")?;
        let fields: Vec<&str> = behind.split_ascii_whitespace().collect();
        let priority = fields.get(PRIORITY).copied().unwrap_or("?");
        let (is_real_time, policy) = match fields.get(POLICY).copied() {
            Some("0") => (false, Some("other".to_owned())),
            Some("1") => (true, Some(format!("fifo:{priority}"))),
            Some("2") => (true, Some(format!("rr:{priority}"))),
            Some("3") => (false, Some("batch".to_owned())),
            Some("5") => (false, Some("idle".to_owned())),
            Some("6") => (true, Some("deadline".to_owned())),
            _ => (false, None),
        };
        let number = |field: usize| fields.get(field).and_then(|text| text.parse::<u64>().ok());
        let flags = number(FLAGS).unwrap_or(0);
        let faults = number(MINOR_FAULTS).zip(number(MAJOR_FAULTS));
        Some(Self {
            name: before.split_once('(').map_or("", |(_, name)| name).to_owned(),
            is_kernel: flags & KERNEL_THREAD != 0,
            is_bound: flags & BOUND != 0,
            started_ticks: fields.get(STARTED).and_then(|ticks| ticks.parse().ok()).unwrap_or(0),
            is_real_time,
            policy,
            priority: priority.parse().unwrap_or(0),
            faults: faults.map(|(minor, major)| minor.saturating_add(major)),
            cpu: fields.get(CPU).and_then(|cpu| cpu.parse().ok()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::ThreadStat;

    #[test]
    fn policies_are_read_behind_any_name() {
        let stat = |priority: u32, policy: u32| {
            let zeros = "0 ".repeat(36);
            format!("7 (a ) b) S {zeros}{priority} {policy} 0 0")
        };
        let policy = |line: &str| ThreadStat::parse(line).and_then(|stat| stat.policy);
        assert_eq!(policy(&stat(50, 1)).as_deref(), Some("fifo:50"));
        assert_eq!(policy(&stat(0, 0)).as_deref(), Some("other"));
        assert_eq!(policy(""), None);
        assert_eq!(ThreadStat::parse(&stat(0, 0)).expect("a line").name, "a ) b");
    }
}
