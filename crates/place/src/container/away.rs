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

/// How long a command may take to end when it is told to.
const END_PATIENCE: Duration = Duration::from_secs(20);

const LOOK: Duration = Duration::from_millis(20);

/// The runtime in the foreground, which hands our pipes to the command.
pub(super) struct Contained {
    handle: Handle,
    child: Child,
    /// Closed: the command ends.
    input: Option<ChildStdin>,
    lines: Option<Receiver<String>>,
    said: Option<JoinHandle<String>>,
    run: PathBuf,
}

impl Contained {
    /// Starts it. It may run on all of the container's CPUs, whatever the calling thread keeps to.
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
                // An error is ignored: the text that came before the pipe broke is used.
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

    /// Waits for its end, which it has been told of.
    fn wait(&mut self) -> Result<ExitStatus, PlaceError> {
        let told = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().map_err(|error| self.io(error))? {
                return Ok(status);
            }
            if told.elapsed() > END_PATIENCE {
                let said = format!(
                    "told to end, and going on {} s later: it was killed",
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

/// Starts it from a thread that keeps to these CPUs: a runtime hands on what its caller keeps to.
fn spawn(command: &mut Command, cpus: Option<&CpuList>) -> std::io::Result<Child> {
    let spawn = || {
        if let Some(cpus) = cpus {
            // An error: some of them are not ours, and the container's control group decides.
            let _ = set_affinity_of(sys::thread::number().cast_unsigned(), cpus);
        }
        command.spawn()
    };
    let spawned = std::thread::scope(|scope| scope.spawn(spawn).join());
    spawned.unwrap_or_else(|_| Err(std::io::Error::other("the thread that starts it ended")))
}

impl Away for Contained {
    fn lines(&mut self) -> Receiver<String> {
        // Taken twice, there are none: the sender is gone.
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
        // An error is of a child that somebody else has waited for: it is over, too.
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
                said: said.trim().to_owned(),
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
