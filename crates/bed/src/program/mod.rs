//! An external program: started without a shell in a process group of its own, watched, and ended.

mod output;

pub(crate) use output::LastLines;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io::{self, ErrorKind};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use sys::thread::kill_children_with_us;
use units::Monotonic;

/// Interval at which a program that is carried out is looked at.
const LOOK: Duration = Duration::from_millis(10);
/// Time that a program may take to end after SIGTERM.
const PATIENCE: Duration = Duration::from_secs(2);

/// Name of this program in a command line, and its path.
const OWN: &str = "triptime";
const OWN_PROGRAM: &str = "/proc/self/exe";

/// A command that starts a program in a process group of its own, without input.
pub(crate) fn command(words: &[String]) -> Command {
    // The program exists in every place, but its path may differ.
    let program = if words[0] == OWN { OWN_PROGRAM } else { &words[0] };
    let mut command = Command::new(program);
    command.args(&words[1..]).process_group(0).stdin(Stdio::null());
    command
}

/// Why a program could not be started, with a remedy where there is one.
pub(crate) fn not_started(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such program: install it, or give its full path".to_owned(),
        ErrorKind::PermissionDenied => "it is not executable: check its mode and its file system".to_owned(),
        _ => error.to_string(),
    }
}

/// Looks for a program as a start would: in the folders of `PATH`, unless its name has a slash.
///
/// # Errors
/// Why it could not be started.
pub fn find(program: &str) -> Result<(), String> {
    let is_executable = |path: &Path| rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok() && path.is_file();
    let candidates: Vec<PathBuf> = match program {
        OWN => return Ok(()),
        path if path.contains('/') => vec![path.into()],
        name => {
            let folders = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&folders)
                .map(|folder| folder.join(name))
                .collect()
        }
    };
    let kind = match candidates.iter().any(|path| path.exists()) {
        _ if candidates.iter().any(|path| is_executable(path)) => return Ok(()),
        true => ErrorKind::PermissionDenied,
        false => ErrorKind::NotFound,
    };
    Err(not_started(&kind.into()))
}

/// True if the program has ended. It is not reaped, so its number stays reserved.
pub(crate) fn has_ended(child: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(
        waitid(WaitId::Pid(child), options),
        Ok(None) | Err(rustix::io::Errno::INTR)
    )
}

/// Asks the program to end, waits, and kills the rest of its group.
pub(crate) fn end(child: &mut Child, group: Pid, output: &mut LastLines) {
    // ESRCH: it ended this moment.
    let _ = kill_process_group(group, Signal::TERM);
    let asked = Instant::now();
    while asked.elapsed() < PATIENCE && !has_ended(group) {
        output.read();
        std::thread::sleep(Duration::from_millis(5));
    }
    reap(child, group);
}

/// Kills the rest of the group, then takes the program's status.
pub(crate) fn reap(child: &mut Child, group: Pid) {
    let _ = kill_process_group(group, Signal::KILL);
    // The status is kept in `child`; an error means that it was already reaped elsewhere.
    let _ = child.wait();
}

/// How a program that was carried out ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramEnd {
    /// With this exit status.
    Exited(i32),
    /// By a signal of this number.
    Signalled(i32),
    /// It took longer than its limit, and was ended with its group.
    Limit,
    /// Its end was requested, and it was ended with its group.
    Cut,
}

/// A program that was carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// Instant before its start.
    pub began: Monotonic,
    /// Instant after its end.
    pub ended: Monotonic,
    /// How it ended.
    pub end: ProgramEnd,
    /// The last line that it wrote to its standard output or error; at most 200 characters.
    pub said: String,
}

/// The fate of a program when the process that started it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outlives {
    /// It is killed with the thread that started it.
    No,
    /// It goes on to its own end.
    Yes,
}

/// Runs a program to its end, at most for `limit`, or until `cut` is set. Processes that it leaves in the background after its own end go on.
///
/// # Errors
/// Why it could not be started.
pub fn carry_out(words: &[String], outlives: Outlives, limit: Duration, cut: &AtomicBool) -> Result<Carried, String> {
    let said = |error: io::Error| not_started(&error);
    let (output, writer) = io::pipe().map_err(said)?;
    let mut command = command(words);
    command.stdout(writer.try_clone().map_err(said)?).stderr(writer);
    if outlives == Outlives::No {
        kill_children_with_us(&mut command);
    }
    let began = sys::clock::monotonic();
    let mut child = command.spawn().map_err(said)?;
    // It holds the writing end of the pipe.
    drop(command);
    let mut output = LastLines::of(Some(output.into()));
    let group = Pid::from_child(&child);
    let since = Instant::now();
    let early = loop {
        output.read();
        if has_ended(group) {
            break None;
        }
        if cut.load(Ordering::Relaxed) {
            break Some(ProgramEnd::Cut);
        }
        if since.elapsed() >= limit {
            break Some(ProgramEnd::Limit);
        }
        std::thread::sleep(LOOK);
    };
    if early.is_some() {
        end(&mut child, group, &mut output);
    }
    let ended = sys::clock::monotonic();
    let end = early.unwrap_or_else(|| child.wait().map_or(ProgramEnd::Signalled(0), ended_as));
    output.read();
    Ok(Carried {
        began,
        ended,
        end,
        said: output.line(),
    })
}

fn ended_as(status: ExitStatus) -> ProgramEnd {
    match status.code() {
        Some(status) => ProgramEnd::Exited(status),
        None => ProgramEnd::Signalled(status.signal().unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Outlives, ProgramEnd, carry_out, find};
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    const LONG: Duration = Duration::from_secs(60);

    fn shell(text: &str, limit: Duration, cut: bool) -> (ProgramEnd, String) {
        let words = ["/bin/sh", "-c", text].map(str::to_owned);
        let carried = carry_out(&words, Outlives::No, limit, &AtomicBool::new(cut)).expect("a shell");
        assert!(carried.ended >= carried.began);
        (carried.end, carried.said)
    }

    #[test]
    fn a_program_is_told_with_its_status_and_its_last_line() {
        let said = |text: &str| text.to_owned();
        assert_eq!(
            shell("echo one; echo two", LONG, false),
            (ProgramEnd::Exited(0), said("two"))
        );
        let failed = shell("echo no such domain >&2; exit 3", LONG, false);
        assert_eq!(failed, (ProgramEnd::Exited(3), said("no such domain")));
        assert_eq!(shell("kill -9 $$", LONG, false), (ProgramEnd::Signalled(9), said("")));
    }

    #[test]
    fn much_output_is_read_to_its_end_and_only_its_last_line_is_kept() {
        let (end, said) = shell("yes 0123456789 | head -n 200000; echo done", LONG, false);
        assert_eq!((end, said.as_str()), (ProgramEnd::Exited(0), "done"));
    }

    #[test]
    fn a_program_ends_at_its_limit_or_when_its_end_is_requested() {
        assert_eq!(
            shell("echo slow; sleep 60", Duration::from_millis(300), false),
            (ProgramEnd::Limit, "slow".to_owned())
        );
        assert_eq!(shell("sleep 60", LONG, true).0, ProgramEnd::Cut);
    }

    #[test]
    fn a_process_in_the_background_neither_holds_the_program_up_nor_ends_with_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (go, done) = (folder.path().join("go"), folder.path().join("done"));
        let text = format!(
            "(while [ ! -e {go} ]; do sleep 0.02; done; touch {done}) >/dev/null 2>&1 & echo started",
            go = go.display(),
            done = done.display()
        );
        assert_eq!(shell(&text, LONG, false), (ProgramEnd::Exited(0), "started".to_owned()));
        std::fs::write(&go, "").expect("written");
        let begin = std::time::Instant::now();
        while !done.exists() {
            assert!(begin.elapsed() < LONG, "it is gone");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_refused_before_and_at_its_start() {
        let words = ["/no/such/program".to_owned()];
        let refused = carry_out(&words, Outlives::No, LONG, &AtomicBool::new(false)).expect_err("none");
        assert!(refused.contains("no such program"), "{refused}");
        assert_eq!(find("/no/such/program").expect_err("none"), refused);
        let text = tempfile::NamedTempFile::new().expect("a file");
        let refused = find(&text.path().to_string_lossy()).expect_err("no program");
        assert!(refused.contains("not executable"), "{refused}");
        assert!(find("/etc").is_err(), "a folder");
        assert_eq!((find("sh"), find("triptime")), (Ok(()), Ok(())));
    }
}
