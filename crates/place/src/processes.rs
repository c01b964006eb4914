//! Processes that outlive their parent: each is found by a unique word of its command line.

use rustix::process::{Pid, Signal, kill_process};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time that the kernel may take to end a process.
const END_PATIENCE: Duration = Duration::from_secs(10);

/// Interval between checks for their end.
const LOOK: Duration = Duration::from_millis(10);

/// The processes of this machine with this word on their command lines.
pub fn with_word(word: &str) -> Vec<u32> {
    with_word_in(Path::new("/proc"), word)
}

fn with_word_in(proc: &Path, word: &str) -> Vec<u32> {
    let ours = numbered(proc).filter(|(_, path)| {
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        line.split(|octet| *octet == 0).any(|other| other == word.as_bytes())
    });
    ours.map(|(number, _)| number).collect()
}

/// The processes of this machine with their folders; empty if they cannot be read.
pub fn numbered(proc: &Path) -> impl Iterator<Item = (u32, PathBuf)> {
    let entries = std::fs::read_dir(proc).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
}

/// True if a signal or a debugger has stopped a process, so that it exists but does not run.
pub fn is_stopped(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let state = status.lines().find_map(|line| line.strip_prefix("State:"));
    state.is_some_and(|state| state.trim_start().to_lowercase().starts_with('t'))
}

/// Kills the processes with this word, and waits until they are gone. Succeeds if there are none.
pub fn end(word: &str) {
    for process in with_word(word) {
        let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
        // A process that has ended in the meantime needs no signal.
        let _ = pid.map(|pid| kill_process(pid, Signal::KILL));
    }
    let begun = Instant::now();
    while !with_word(word).is_empty() && begun.elapsed() < END_PATIENCE {
        std::thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::{is_stopped, with_word_in};
    use rustix::process::{Pid, Signal, kill_process};
    use std::process::Command;
    use std::time::{Duration, Instant};
    use testing::Running;

    #[test]
    fn a_process_that_is_stopped_is_told_from_one_that_waits() {
        let sleeper = Running::start(Command::new("sleep").arg("100"));
        assert!(!is_stopped(sleeper.id()));
        kill_process(Pid::from_child(&sleeper), Signal::STOP).expect("stopped");
        let begun = Instant::now();
        while !is_stopped(sleeper.id()) {
            assert!(begun.elapsed() < Duration::from_secs(60), "in time");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_process_is_known_by_a_whole_word() {
        let proc = tempfile::tempdir().expect("a folder");
        for (process, line) in [
            ("10", "qemu\0-name\0guest=triptime-bay-dut,debug-threads=on\0-smp\0"),
            ("11", "qemu\0-name\0guest=triptime-bay-dut1,debug-threads=on\0"),
            ("12", "grep\0guest=triptime-bay-dut\0"),
            ("self", "qemu\0-name\0guest=triptime-bay-dut,debug-threads=on\0"),
        ] {
            std::fs::create_dir(proc.path().join(process)).expect("made");
            std::fs::write(proc.path().join(process).join("cmdline"), line).expect("written");
        }
        assert_eq!(
            with_word_in(proc.path(), "guest=triptime-bay-dut,debug-threads=on"),
            [10]
        );
        assert_eq!(with_word_in(proc.path(), "guest=triptime-bay"), [0_u32; 0]);
    }
}
