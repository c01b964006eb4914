//! A command that runs in the guest: the same program, with words from the host.

use super::super::message::{Ended, GuestAnswer};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::fs::{File, create_dir_all, remove_dir_all};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command as Program, ExitStatus, Stdio};

/// The running program.
const PROGRAM: &str = "/proc/self/exe";
/// Name of a command's run file.
const RUN: &str = "run.triptime";
/// Name of the file with its standard error.
const SAID: &str = "said";
/// Largest part of the end of standard error that is sent to the host.
const MOST_SAID: u64 = 32 << 10;
/// Largest part of a run file in one message, in bytes.
const PIECE: u64 = 64 << 10;

/// A running or ended command.
pub(crate) struct Command {
    folder: PathBuf,
    input: ChildStdin,
    process: OwnedFd,
}

impl Command {
    /// Starts `triptime WORDS --out …` in a new folder with these files. Calls `tell` for each line of its standard output and at its end, on a
    /// separate thread.
    ///
    /// # Errors
    /// The reason why it could not be started.
    pub(crate) fn start(
        folder: PathBuf,
        words: &[String],
        files: &[(String, String)],
        tell: impl FnMut(GuestAnswer) + Send + 'static,
    ) -> Result<Self, String> {
        let prepared = prepare(&folder, files).map_err(|error| format!("{}: {error}", folder.display()))?;
        let spawned = Program::new(PROGRAM)
            .args(words)
            .args(["--out", RUN])
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(prepared)
            .spawn();
        let mut child = spawned.map_err(|error| format!("cannot start triptime: {error}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the command has no standard input or output".to_owned());
        };
        let process = pidfd_open(Pid::from_child(&child), PidfdFlags::empty());
        let process = process.map_err(|errno| match errno {
            Errno::NOSYS => "a handle of triptime's process: pidfd_open needs Linux 5.3".to_owned(),
            _ => format!("a handle of triptime's process: {errno}"),
        })?;
        let home = folder.clone();
        let started = std::thread::Builder::new().spawn(move || attend(child, output, &home, tell));
        started.map_err(|error| format!("a thread: {error}"))?;
        Ok(Self { folder, input, process })
    }

    /// Writes a line to its standard input.
    pub(crate) fn say(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.input, "{line}")?;
        self.input.flush()
    }

    /// Asks it to end. Does nothing if it has ended.
    pub(crate) fn stop(&self) {
        let _ = pidfd_send_signal(&self.process, Signal::INT);
    }

    /// Bytes of its run file; empty after its end.
    pub(crate) fn piece(&self, from: u64) -> io::Result<Vec<u8>> {
        let mut file = File::open(self.folder.join(RUN))?;
        file.seek(SeekFrom::Start(from))?;
        let mut octets = Vec::new();
        file.take(PIECE).read_to_end(&mut octets)?;
        Ok(octets)
    }
}

impl Drop for Command {
    fn drop(&mut self) {
        let _ = pidfd_send_signal(&self.process, Signal::KILL);
        let _ = remove_dir_all(&self.folder);
    }
}

/// Makes the folder with its files; returns the file for standard error.
fn prepare(folder: &Path, files: &[(String, String)]) -> io::Result<File> {
    create_dir_all(folder)?;
    for (name, text) in files {
        let mut parts = Path::new(name).components();
        if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
            return Err(io::Error::other(format!("\"{name}\" is not a valid file name in it")));
        }
        std::fs::write(folder.join(name), text)?;
    }
    File::create(folder.join(SAID))
}

/// Passes on its output until it ends.
fn attend(mut child: Child, output: ChildStdout, folder: &Path, mut tell: impl FnMut(GuestAnswer)) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    while matches!(output.read_until(b'\n', &mut line), Ok(1..)) {
        let text = String::from_utf8_lossy(&line).trim_end_matches('\n').to_owned();
        tell(GuestAnswer::Line { text });
        line.clear();
    }
    let status = child.wait().map_or(u8::MAX, status);
    tell(GuestAnswer::Ended(Ended {
        status,
        said: said(&folder.join(SAID)).unwrap_or_else(|error| format!("its output cannot be read: {error}")),
        octets: std::fs::metadata(folder.join(RUN)).ok().map(|file| file.len()),
    }));
}

/// The status in the form of a shell.
fn status(status: ExitStatus) -> u8 {
    let number = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    number.and_then(|number| u8::try_from(number).ok()).unwrap_or(u8::MAX)
}

/// The last part of its standard error.
fn said(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MOST_SAID)))?;
    let mut octets = Vec::new();
    file.read_to_end(&mut octets)?;
    Ok(String::from_utf8_lossy(&octets).into_owned())
}

#[cfg(test)]
mod tests {
    use super::{prepare, said};

    #[test]
    fn files_stand_in_the_folder_and_nowhere_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("1");
        let file = |name: &str| [(name.to_owned(), "x = 1".to_owned())];
        prepare(&home, &file("plan.toml")).expect("made");
        assert_eq!(std::fs::read_to_string(home.join("plan.toml")).expect("read"), "x = 1");
        for name in ["../plan.toml", "/etc/plan", "a/b", "..", ""] {
            assert!(prepare(&home, &file(name)).is_err(), "{name}");
        }
    }

    #[test]
    fn of_much_that_was_said_the_end_is_told() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), format!("{}the end", "x".repeat(100_000))).expect("written");
        let said = said(file.path()).expect("read");
        assert!(said.ends_with("the end") && said.len() == 32 << 10, "{}", said.len());
    }
}
