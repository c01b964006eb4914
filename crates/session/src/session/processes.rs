//! The processes of the machine, as far as they can be seen: their names and their parents.

use host::console::shell_on_console;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Flag of a kernel thread in `/proc/PID/stat` (`PF_KTHREAD`, linux/sched.h).
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Refreshes in which a process is read again: soon after its start, it runs another program and gets another name and parent.
const READ_AGAIN: u8 = 3;

/// Properties of a process that do not change once it runs its program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) name: String,
    pub(super) parent: u32,
    pub(super) is_kernel: bool,
    /// True for a shell that has a console as its terminal.
    pub(super) is_on_console: bool,
    /// Number of refreshes that read it.
    read: u8,
}

/// All processes as they were last seen.
#[derive(Default)]
pub(super) struct Processes {
    known: BTreeMap<u32, Process>,
}

impl Processes {
    /// Removes processes that have ended and adds new ones.
    pub(super) fn refresh(&mut self) {
        let now = numbers("/proc");
        self.known.retain(|pid, _| now.binary_search(pid).is_ok());
        for pid in now {
            let read = self.known.get(&pid).map_or(0, |process| process.read);
            if read < READ_AGAIN
                && let Some(process) = process(pid)
            {
                let read = read + 1;
                self.known.insert(pid, Process { read, ..process });
            }
        }
    }

    /// All of them, by number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Process)> {
        self.known.iter().map(|(pid, process)| (*pid, process))
    }

    /// The process with this number.
    pub(super) fn get(&self, pid: u32) -> Option<&Process> {
        self.known.get(&pid)
    }

    pub(super) fn descends_from(&self, pid: u32, ancestor: u32) -> bool {
        let mut at = pid;
        // No chain is longer. A chain that forms a circle, because numbers were reused, must end too.
        for _ in 0..64 {
            match self.known.get(&at).map(|process| process.parent) {
                Some(parent) if parent == ancestor => return true,
                Some(parent) if parent > 1 => at = parent,
                _ => return false,
            }
        }
        false
    }
}

pub(super) fn process(pid: u32) -> Option<Process> {
    let octets = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&octets);
    let (before, behind) = stat.rsplit_once(") ")?;
    let mut fields = behind.split_ascii_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    let flags: u64 = fields.nth(4)?.parse().ok()?;
    Some(Process {
        name: printable(before.split_once('(')?.1),
        parent,
        is_kernel: flags & KERNEL_THREAD != 0,
        is_on_console: shell_on_console(&stat).is_some(),
        read: 0,
    })
}

/// Name of the thread with this folder.
pub(super) fn comm(thread: &str) -> String {
    let octets = fs::read(Path::new(thread).join("comm")).unwrap_or_default();
    let name = String::from_utf8_lossy(&octets);
    printable(name.trim_end())
}

/// Makes a thread's name printable: a thread may call itself anything.
pub(super) fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Entries of a directory that are numbers, in order.
pub(super) fn numbers(directory: &str) -> Vec<u32> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut numbers: Vec<u32> = entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    numbers.sort_unstable();
    numbers
}
