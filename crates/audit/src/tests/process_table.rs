//! Threads of a machine made of a few files.

/// A thread of a made-up machine: process id, thread id, name, flags (`KERNEL`, `BOUND`), policy with priority, CPU, allowed CPUs.
pub(super) struct Thread {
    pub(super) pid: u32,
    pub(super) id: u32,
    pub(super) name: &'static str,
    pub(super) flags: u64,
    /// Number of the policy (1: fifo) and the priority.
    pub(super) policy: (u32, u32),
    pub(super) cpu: u32,
    pub(super) allowed: &'static str,
}

/// `PF_KTHREAD`.
pub(super) const KERNEL: u64 = 0x0020_0000;
/// `PF_NO_SETAFFINITY`.
pub(super) const BOUND: u64 = 0x0400_0000;

impl Thread {
    /// Files of the thread in `/proc`.
    fn files(&self) -> Vec<(String, String)> {
        let Self {
            pid,
            id,
            name,
            flags,
            policy: (policy, priority),
            cpu,
            allowed,
        } = self;
        let (zeros, more) = ("0 ".repeat(5), "0 ".repeat(29));
        let stat = format!("{id} ({name}) S {zeros}{flags} {more}{cpu} {priority} {policy} 0 0\n");
        let status = format!("Name:\t{name}\nCpus_allowed_list:\t{allowed}\n");
        let mut files = Vec::new();
        let of_task = format!("proc/{pid}/task/{id}");
        let of_process = format!("proc/{pid}");
        let folders = if pid == id {
            vec![of_process, of_task]
        } else {
            vec![of_task]
        };
        for folder in folders {
            files.push((format!("{folder}/stat"), stat.clone()));
            files.push((format!("{folder}/status"), status.clone()));
        }
        files
    }
}

/// A thread of one process.
pub(super) fn thread(
    pid: u32,
    name: &'static str,
    flags: u64,
    policy: (u32, u32),
    cpu: u32,
    allowed: &'static str,
) -> Thread {
    Thread {
        pid,
        id: pid,
        name,
        flags,
        policy,
        cpu,
        allowed,
    }
}

/// Files of process 1 and of a kernel thread, on CPU 0, and of `threads`.
pub(super) fn processes(threads: &[Thread]) -> Vec<(String, String)> {
    let first = thread(1, "systemd", 0, (0, 0), 0, "0-1");
    let kernel = thread(2, "kthreadd", KERNEL | BOUND, (0, 0), 0, "0-1");
    let all = [&first, &kernel].into_iter().chain(threads);
    all.flat_map(Thread::files).collect()
}

/// The files in the form that [`finding`] takes.
pub(super) fn borrowed(files: &[(String, String)]) -> Vec<(&str, &str)> {
    files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect()
}
