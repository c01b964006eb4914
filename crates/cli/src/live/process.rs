//! The process beside a run that serves its page: it has no real-time thread, no locked memory, and no judged CPU where others are left.

use super::ServedArgs;
use crate::failure::{Failure, say};
use rustix::process::{Pid, Signal, kill_process};
use serve::Bound;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use units::CpuList;

/// Longest wait for its end, after which it is killed.
const ENDS_WITHIN: Duration = Duration::from_secs(2);

/// Pause between two looks whether it has ended.
const LOOK: Duration = Duration::from_millis(5);

/// The process, until this is dropped. It also ends when this process is killed.
pub(crate) struct LiveProcess(Child);

impl LiveProcess {
    /// Starts it for the run in `file` on these CPUs. The socket listens already: a reader who comes before the process is ready waits.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn start(bound: &Bound, args: &ServedArgs, file: &Path, cpus: &CpuList) -> Result<Self, Failure> {
        let cannot = |error: std::io::Error| Failure::CouldNotMeasure(format!("cannot serve the live page: {error}"));
        let mut command = Command::new("/proc/self/exe");
        command.arg0("triptime").arg("serve").arg(file);
        command.arg("--of-run").arg(std::process::id().to_string());
        command.arg("--listen").arg(bound.address().word());
        command.arg("--cpus").arg(cpus.to_string());
        if let Some(token) = &args.serve_token {
            command.arg("--token").arg(token);
        }
        // Signals of the terminal reach the run alone.
        command.process_group(0);
        command.stdin(Stdio::from(bound.for_another().map_err(cannot)?));
        command.stdout(Stdio::null()).spawn().map(Self).map_err(cannot)
    }
}

impl Drop for LiveProcess {
    fn drop(&mut self) {
        let begin = Instant::now();
        // An error means that it has ended already.
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        while begin.elapsed() < ENDS_WITHIN {
            match self.0.try_wait() {
                Ok(None) => std::thread::sleep(LOOK),
                Ok(Some(_)) | Err(_) => return,
            }
        }
        say(&"the process of the live page does not end, and is killed");
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
