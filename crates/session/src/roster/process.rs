//! Identity of a process, so that it is not confused with a later one of the same number.

use serde::{Deserialize, Serialize};
use std::fs;

/// A process, distinguished from all others that had or will have its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Process number.
    pub pid: u32,
    /// When it started, in ticks after the boot (`starttime` of proc_pid_stat(5)).
    pub start_ticks: u64,
    /// Identifier of the boot (`/proc/sys/kernel/random/boot_id`).
    pub boot: String,
    /// PID namespace in which the number is valid: `/proc/self/ns/pid`.
    pub pid_namespace: String,
}

/// State of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// The process exists.
    Alive,
    /// The process is gone.
    Gone,
    /// The machine was rebooted since.
    BeforeBoot,
    /// Its number is valid in another PID namespace: its state is not visible from here.
    Elsewhere,
}

impl Process {
    /// Identifies this process.
    pub fn own() -> Self {
        Self::of(std::process::id()).unwrap_or_else(|| Self {
            pid: std::process::id(),
            start_ticks: 0,
            boot: boot(),
            pid_namespace: pid_namespace(),
        })
    }

    /// Identifies the process of this number; `None`: there is none.
    pub fn of(pid: u32) -> Option<Self> {
        Some(Self {
            pid,
            start_ticks: started(pid)?,
            boot: boot(),
            pid_namespace: pid_namespace(),
        })
    }

    /// True if the process is known to be gone; false where that cannot be seen from here.
    pub fn is_gone(&self) -> bool {
        let user = rustix::process::geteuid().as_raw();
        matches!(self.life(user), Life::Gone | Life::BeforeBoot)
    }

    /// Checks if the process exists and belongs to `user`.
    pub(super) fn life(&self, user: u32) -> Life {
        if self.boot != boot() {
            return Life::BeforeBoot;
        }
        if self.pid_namespace != pid_namespace() {
            return Life::Elsewhere;
        }
        // Any number can be written into a file, so it counts only for the user's own processes.
        let is_it = started(self.pid) == Some(self.start_ticks) && owner(self.pid) == Some(user);
        if is_it { Life::Alive } else { Life::Gone }
    }
}

fn boot() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    boot.trim().to_owned()
}

fn pid_namespace() -> String {
    let link = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    link.to_string_lossy().into_owned()
}

/// Start time of the process in ticks; `None` if it has ended and only waits for its parent to collect it.
fn started(pid: u32) -> Option<u64> {
    let octets = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&octets);
    let mut fields = stat.rsplit_once(") ")?.1.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    // Field 22; the state was field 3.
    fields.nth(18)?.parse().ok()
}

/// The real user. The owner of /proc/PID does not show it: that is root if the program has file capabilities.
fn owner(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Life, Process};

    #[test]
    fn a_number_that_was_given_again_is_not_the_process() {
        let own = Process::own();
        let user = rustix::process::getuid().as_raw();
        assert_eq!(own.life(user), Life::Alive);
        let earlier = Process {
            start_ticks: own.start_ticks - 1,
            ..own.clone()
        };
        assert_eq!(earlier.life(user), Life::Gone);
        assert_eq!(own.life(user + 1), Life::Gone, "another user's file");
        let boot = Process {
            boot: "another".into(),
            ..own.clone()
        };
        assert_eq!(boot.life(user), Life::BeforeBoot);
        let container = Process {
            pid_namespace: "pid:[1]".into(),
            ..own
        };
        assert_eq!(container.life(user), Life::Elsewhere);
    }

    #[test]
    fn a_process_that_has_ended_is_gone_before_its_parent_has_seen_it() {
        let mut child = std::process::Command::new("true").spawn().expect("started");
        let begin = std::time::Instant::now();
        while Process::of(child.id()).is_some() {
            assert!(begin.elapsed().as_secs() < 20, "still there");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        child.wait().expect("ended");
    }
}
