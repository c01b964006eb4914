//! A process of QEMU. It has no files on disk: its image is memory that it opens by name, and its console and channel are sockets.

use super::super::super::PlaceError;
use super::super::cable::Plugged;
use super::tail::Tail;
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use sys::thread::{kill_children_with_us, leave_open};
use units::CpuList;

/// Interval between checks for its end.
const LOOK: Duration = Duration::from_millis(20);

/// Time between the end of a process's sockets and of the process: milliseconds, or more than half a second if all CPUs are busy.
const MOMENT: Duration = Duration::from_secs(5);

/// Channel in QEMU's notation: its standard input.
pub(in super::super) const CHANNEL_WAY: &str = "socket,fd=0";
/// Console in QEMU's notation: its standard output.
pub(in super::super) const CONSOLE_WAY: &str = "socket,fd=1";

/// A file in memory that other processes can open by its path as long as this value exists.
#[derive(Debug)]
pub(in super::super) struct InMemory(File);

impl InMemory {
    /// A file with this content.
    pub(in super::super) fn new(octets: &[u8]) -> Result<Self, PlaceError> {
        let failed = |error| PlaceError::Io {
            path: PathBuf::from("the image in memory"),
            error,
        };
        let fd = memfd_create("triptime-guest", MemfdFlags::CLOEXEC).map_err(|errno| failed(errno.into()))?;
        let mut file = File::from(fd);
        file.write_all(octets).map_err(failed)?;
        Ok(Self(file))
    }

    /// Its path for other processes.
    pub(in super::super) fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }
}

/// A process of QEMU. It is killed when this value is dropped, and when this process ends in any way.
#[derive(Debug)]
pub(in super::super) struct Machine {
    /// Output of its console.
    pub(in super::super) console: Tail,
    /// Output of QEMU itself.
    pub(in super::super) said: Tail,
    process: u32,
    ended: Arc<Mutex<Option<ExitStatus>>>,
    /// Dropping it makes the keeper end the process.
    go_on: Option<Sender<()>>,
    keeper: Option<JoinHandle<()>>,
}

impl Machine {
    /// Starts it in the namespace of its network card, with its threads on `cpus`; returns our end of its channel.
    pub(in super::super) fn start(
        program: &Path,
        words: &[String],
        plugged: Option<Plugged>,
        cpus: CpuList,
    ) -> Result<(Self, UnixStream), PlaceError> {
        let failed = |error| PlaceError::Io {
            path: program.to_owned(),
            error,
        };
        let pair = || UnixStream::pair().map_err(failed);
        let ((near, channel_far), (console_near, console_far), (said_near, said_far)) = (pair()?, pair()?, pair()?);
        let mut command = Command::new(program);
        // Ctrl-C on the terminal is meant for this program only.
        command.args(words).process_group(0);
        command.stdin(Stdio::from(OwnedFd::from(channel_far)));
        command.stdout(Stdio::from(OwnedFd::from(console_far)));
        command.stderr(Stdio::from(OwnedFd::from(said_far)));
        let (console, said) = (Tail::default(), Tail::default());
        console.follow(console_near).map_err(failed)?;
        said.follow(said_near).map_err(failed)?;
        let ended = Arc::new(Mutex::new(None));
        let (go_on, stopped) = channel();
        let (started, is_started) = channel();
        let end = Arc::clone(&ended);
        // The kernel kills a child when the thread that started it ends, in any way.
        let keep = move || {
            let child = begin(command, plugged, &cpus, kill_children_with_us);
            let child = match child {
                Ok(child) => {
                    let _ = started.send(Ok(child.id()));
                    child
                }
                Err(error) => {
                    let _ = started.send(Err(error));
                    return;
                }
            };
            let status = attend(child, &stopped);
            *end.lock().unwrap_or_else(PoisonError::into_inner) = status;
        };
        let keeper = std::thread::Builder::new()
            .name("triptime-guest".to_owned())
            .spawn(keep);
        let keeper = keeper.map_err(failed)?;
        let process = is_started.recv().unwrap_or_else(|_| {
            Err(PlaceError::NotAvailable(
                "the thread that keeps QEMU ended at once".to_owned(),
            ))
        })?;
        let machine = Self {
            console,
            said,
            process,
            ended,
            go_on: Some(go_on),
            keeper: Some(keeper),
        };
        Ok((machine, near))
    }

    /// Number of its process.
    pub(in super::super) fn process(&self) -> u32 {
        self.process
    }

    /// Its exit status, if it has ended.
    pub(in super::super) fn ended(&self) -> Option<ExitStatus> {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the short time between the end of its sockets and the end of its process.
    pub(in super::super) fn wait_a_moment(&self) {
        let begun = Instant::now();
        while self.ended().is_none() && begun.elapsed() < MOMENT {
            std::thread::sleep(LOOK);
        }
    }

    /// Its exit status, the output of QEMU, and the last lines of the console, as text.
    pub(in super::super) fn last_words(&self) -> String {
        const LINES: usize = 12;
        let state = match self.ended() {
            Some(status) => format!("QEMU ended ({status})"),
            None => "QEMU runs".to_owned(),
        };
        let part = |what: &str, tail: &Tail| match tail.lines(LINES) {
            lines if lines.is_empty() => format!("; {what} nothing"),
            lines => format!("; {what}:\n  {}", lines.join("\n  ")),
        };
        let said = match self.said.lines(1).is_empty() {
            true => String::new(),
            false => part("it said", &self.said),
        };
        format!("{state}{said}{}", part("the guest's console showed", &self.console))
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.go_on = None;
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
    }
}

/// Starts it from the calling thread, which permanently moves to its namespace and CPUs; `binds` ties its life to ours.
pub(in super::super) fn begin(
    mut command: Command,
    plugged: Option<Plugged>,
    cpus: &CpuList,
    binds: impl FnOnce(&mut Command),
) -> Result<Child, PlaceError> {
    if let Some(plugged) = plugged {
        plugged.namespace.enter()?;
        plugged
            .files
            .into_iter()
            .for_each(|file| leave_open(&mut command, file));
    }
    if !cpus.is_empty() {
        sys::thread::set_affinity_of(sys::thread::number().cast_unsigned(), cpus)?;
    }
    binds(&mut command);
    let path = PathBuf::from(command.get_program());
    command.spawn().map_err(|error| PlaceError::Io { path, error })
}

/// Waits until it ends, or until a stop request.
fn attend(mut child: Child, stopped: &Receiver<()>) -> Option<ExitStatus> {
    while stopped.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
    }
    let _ = child.kill();
    child.wait().ok()
}

#[cfg(test)]
mod tests {
    use super::{InMemory, Machine};
    use std::io::{Read, Write};
    use std::path::Path;
    use std::time::{Duration, Instant};
    use units::CpuList;

    fn shell(script: &str) -> (Machine, std::os::unix::net::UnixStream) {
        let words = ["-c".to_owned(), script.to_owned()];
        Machine::start(Path::new("/bin/sh"), &words, None, CpuList::from_iter([])).expect("started")
    }

    fn until(mut condition: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !condition() {
            assert!(begun.elapsed() < Duration::from_secs(30), "in time");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn what_ends_tells_its_last_words() {
        let (machine, _channel) = shell("echo Kernel panic; echo no such device >&2; exit 3");
        until(|| machine.ended().is_some() && !machine.console.text().is_empty() && !machine.said.text().is_empty());
        let words = machine.last_words();
        for wanted in ["QEMU ended", "3", "Kernel panic", "no such device"] {
            assert!(words.contains(wanted), "no {wanted} in {words}");
        }
    }

    #[test]
    fn the_channel_is_its_standard_input_and_it_dies_when_dropped() {
        let (machine, mut channel) = shell("read line; echo \"heard $line\"; printf back >&0; sleep 1000");
        channel.write_all(b"hello\n").expect("taken");
        let mut back = [0; 4];
        channel.read_exact(&mut back).expect("an answer");
        assert_eq!(&back, b"back");
        until(|| machine.console.text().contains("heard hello"));
        let process = machine.process();
        drop(machine);
        assert!(!Path::new(&format!("/proc/{process}")).exists(), "it is gone");
    }

    #[test]
    fn an_image_in_memory_is_opened_by_its_path() {
        let image = InMemory::new(b"octets").expect("made");
        assert_eq!(std::fs::read(image.path()).expect("opened"), b"octets");
    }
}
