//! A command in a container.

use super::super::{Away, PlaceError, Returned};
use super::runtime::Handle;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use sys::thread::set_affinity_of;
use tempfile::TempPath;
use units::CpuList;

/// Time that a command may take to end after it was asked to. It closes the file of a long run, perhaps on a busy CPU.
const END_PATIENCE: Duration = Duration::from_secs(120);

const LOOK: Duration = Duration::from_millis(20);

/// The runtime in the foreground, which passes our pipes to the command.
pub(super) struct Contained {
    handle: Handle,
    child: Child,
    /// Closing it ends the command.
    input: Option<ChildStdin>,
    lines: Option<Receiver<String>>,
    said: Option<JoinHandle<String>>,
    run: PathBuf,
}

impl Contained {
    /// Starts it. It may run on all of the container's CPUs, even if the calling thread is pinned.
    pub(super) fn start(handle: Handle, run: PathBuf, cpus: Option<&CpuList>) -> Result<Self, PlaceError> {
        let mut command = handle.run();
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = spawn(&mut command, cpus).map_err(|error| PlaceError::Io {
            path: handle.program().into(),
            error,
        })?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            let lines = output.into_iter().flat_map(|output| BufReader::new(output).lines());
            for line in lines.map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        let said = std::thread::spawn(move || {
            let mut text = Vec::new();
            if let Some(mut errors) = errors {
                // A read error is ignored: the text received before it is still used.
                let _ = errors.read_to_end(&mut text);
            }
            String::from_utf8_lossy(&text).into_owned()
        });
        Ok(Self {
            handle,
            child,
            input,
            lines: Some(lines),
            said: Some(said),
            run,
        })
    }

    fn io(&self, error: std::io::Error) -> PlaceError {
        PlaceError::Io {
            path: self.handle.program().into(),
            error,
        }
    }

    /// Waits for its end, after it was asked to end.
    fn wait(&mut self) -> Result<ExitStatus, PlaceError> {
        let told = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().map_err(|error| self.io(error))? {
                return Ok(status);
            }
            if told.elapsed() > END_PATIENCE {
                let said = format!(
                    "did not end within {} s after it was asked to, and was killed",
                    END_PATIENCE.as_secs()
                );
                self.kill();
                return Err(PlaceError::Failed {
                    place: "container",
                    said,
                });
            }
            std::thread::sleep(LOOK);
        }
    }

    fn kill(&mut self) {
        self.handle.end();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts it from a thread with this affinity, because a runtime inherits the affinity of its
/// caller.
fn spawn(command: &mut Command, cpus: Option<&CpuList>) -> std::io::Result<Child> {
    let spawn = || {
        if let Some(cpus) = cpus {
            // Fails if some of the CPUs are not allowed here; then the container's control group
            // decides.
            let _ = set_affinity_of(sys::thread::number().cast_unsigned(), cpus);
        }
        command.spawn()
    };
    let spawned = std::thread::scope(|scope| scope.spawn(spawn).join());
    spawned.unwrap_or_else(|_| Err(std::io::Error::other("the thread that starts it ended")))
}

impl Away for Contained {
    fn lines(&mut self) -> Receiver<String> {
        // The second call returns a closed channel.
        self.lines.take().unwrap_or_else(|| channel().1)
    }

    fn thread_here(&self, there: i32) -> Option<i32> {
        self.handle.thread_here(there)
    }

    fn say(&mut self, line: &str) -> Result<(), PlaceError> {
        match &mut self.input {
            Some(input) => writeln!(input, "{line}").map_err(|error| self.io(error)),
            None => Ok(()),
        }
    }

    fn is_finished(&mut self) -> bool {
        // An error means that another thread has waited for the child: it has ended.
        !matches!(self.child.try_wait(), Ok(None))
    }

    fn stop(&mut self) {
        self.input = None;
    }

    fn finish(&mut self) -> Result<Returned, PlaceError> {
        self.stop();
        let status = self.wait()?;
        let said = self.said.take().map(JoinHandle::join).and_then(Result::ok);
        let said = said.unwrap_or_default();
        if !self.run.exists() {
            return Err(PlaceError::Failed {
                place: "container",
                said: match said.trim() {
                    "" => format!("ended without a run file and without a word: {status}"),
                    said => said.to_owned(),
                },
            });
        }
        Ok(Returned {
            run: TempPath::try_from_path(&self.run).map_err(|error| self.io(error))?,
            status: status
                .code()
                .and_then(|code| u8::try_from(code).ok())
                .unwrap_or(u8::MAX),
            said,
        })
    }
}

impl Drop for Contained {
    fn drop(&mut self) {
        if !self.is_finished() {
            self.kill();
        }
        self.handle.tidy();
    }
}
