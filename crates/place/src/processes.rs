//! Processes that outlive who started them: each is found by a word of its command line, which no other process has.

use rustix::process::{Pid, Signal, kill_process};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the kernel may take to end a process.
const END_PATIENCE: Duration = Duration::from_secs(10);

/// How often it is looked whether they have ended.
const LOOK: Duration = Duration::from_millis(10);

/// The processes of this machine with this word on their command line.
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

/// The processes of this machine with their folders, none where they cannot be read.
pub fn numbered(proc: &Path) -> impl Iterator<Item = (u32, PathBuf)> {
    let entries = std::fs::read_dir(proc).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
}

/// True where a process is held by a signal or a debugger, so that it does nothing while it is there.
pub fn is_stopped(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let state = status.lines().find_map(|line| line.strip_prefix("State:"));
    state.is_some_and(|state| state.trim_start().to_lowercase().starts_with('t'))
}

/// Ends those with this word by force, and waits until they are gone. None is no error.
pub fn end(word: &str) {
    for process in with_word(word) {
        let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
        // One that has ended meanwhile needs nothing more.
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
