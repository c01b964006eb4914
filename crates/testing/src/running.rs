//! Programs that do not outlive their test.

use std::io::{self, Read};
use std::ops::{Deref, DerefMut};
use std::process::{Child, Command, ExitStatus, Output};
use std::thread;

/// A started program. Dropping it kills it, so that a failed test leaves no process running.
#[derive(Debug)]
pub struct Running(Child);

impl Running {
    /// Starts a command.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(command: &mut Command) -> Self {
        match command.spawn() {
            Ok(child) => Self(child),
            Err(error) => panic!("{:?}: {error}", command.get_program()),
        }
    }

    /// Waits for its end; reads its pipes at the same time.
    ///
    /// # Errors
    /// Errors of its pipes.
    pub fn output(mut self) -> io::Result<Output> {
        let stdout = self.0.stdout.take().map(|pipe| thread::spawn(|| all(pipe)));
        let stderr = self.0.stderr.take().map_or(Ok(Vec::new()), all)?;
        let stdout = stdout.map_or(Ok(Vec::new()), |reader| reader.join().expect("no panic"))?;
        let status: ExitStatus = self.0.wait()?;
        Ok(Output { status, stdout, stderr })
    }
}

fn all(mut pipe: impl Read) -> io::Result<Vec<u8>> {
    let mut octets = Vec::new();
    pipe.read_to_end(&mut octets)?;
    Ok(octets)
}

impl Deref for Running {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may already have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::Running;
    use std::path::Path;
    use std::process::{Command, Stdio};

    #[test]
    fn who_is_dropped_is_gone() {
        let running = Running::start(Command::new("sleep").arg("60"));
        let process = format!("/proc/{}", running.id());
        assert!(Path::new(&process).exists());
        drop(running);
        assert!(!Path::new(&process).exists());
    }

    #[test]
    fn more_than_a_pipe_holds_is_taken_from_both() {
        let script = "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; exit 3";
        let mut command = Command::new("sh");
        let command = command
            .args(["-c", script])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let output = Running::start(command).output().expect("its output");
        assert_eq!(
            (output.status.code(), output.stdout.len(), output.stderr.len()),
            (Some(3), 300_000, 300_000)
        );
    }
}
