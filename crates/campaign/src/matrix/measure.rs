//! One measurement of a cell: this program in a child process, with the plan of the cell.

use super::result::is_complete;
use crate::CampaignError;
use ::matrix::Folder;
use run::remove;
use rustix::process::{Pid, Signal, kill_process};
use session::keeper::FolderKeeper;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::thread::kill_children_with_us;

/// Interval between checks for the end of a measurement.
const LOOK: Duration = Duration::from_millis(20);

/// Result of a measurement.
pub(super) enum Ended {
    /// Its run file is complete, whatever the verdict.
    Complete,
    /// A signal ended it early; its files are removed.
    Interrupted,
    /// It left no complete run file; with its error message.
    Failed(String),
}

/// Measures with this plan into the run file of this name in the folder, until its end or until `interrupted` is set.
///
/// # Errors
/// It could not be started, or the folder is gone.
pub(super) fn run(
    folder: &Folder,
    (plan, name): (&Path, &Path),
    options: &[String],
    interrupted: &Arc<AtomicBool>,
    keeper: &mut FolderKeeper,
) -> Result<Ended, CampaignError> {
    if interrupted.load(Ordering::Relaxed) {
        return Ok(Ended::Interrupted);
    }
    let path = || folder.now().map(|folder| folder.join(name));
    let file = &path()?;
    // Removes the file of an interrupted measurement.
    remove(file);
    let could_not = |error: std::io::Error| CampaignError::Failed(format!("cannot start a measurement: {error}"));
    let mut command = Command::new(std::env::current_exe().map_err(could_not)?);
    command
        .arg("qualify")
        .arg(plan)
        .arg("--out")
        .arg(file)
        .args(["--quiet", "--summary"])
        .args(options);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    // Ctrl-C goes to this process only, which stops the measurement.
    command.process_group(0);
    kill_children_with_us(&mut command);
    let mut child = command.spawn().map_err(could_not)?;
    let said = reader(&mut child);
    let status = wait(&mut child, interrupted, keeper).map_err(could_not)?;
    let said = said.join().unwrap_or_default();
    // The folder may have been moved in the meantime, together with the run.
    let file = &path()?;
    if is_complete(file) {
        return Ok(Ended::Complete);
    }
    remove(file);
    Ok(match interrupted.load(Ordering::Relaxed) {
        true => Ended::Interrupted,
        false => Ended::Failed(reason(&said, &status)),
    })
}

/// A thread that reads the child's output: a full pipe would block the child.
fn reader(child: &mut Child) -> std::thread::JoinHandle<String> {
    let stderr = child.stderr.take();
    std::thread::spawn(move || {
        let mut said = Vec::new();
        // Unreadable output is ignored; the exit status remains.
        let _ = stderr.map(|mut stderr| stderr.read_to_end(&mut said));
        String::from_utf8_lossy(&said).into_owned()
    })
}

fn wait(
    child: &mut Child,
    interrupted: &AtomicBool,
    keeper: &mut FolderKeeper,
) -> std::io::Result<std::process::ExitStatus> {
    let mut is_told = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if interrupted.load(Ordering::Relaxed) && !is_told {
            is_told = true;
            // ESRCH: it has just ended.
            let _ = kill_process(Pid::from_child(child), Signal::INT);
        }
        keeper.goes_on();
        std::thread::sleep(LOOK);
    }
}

/// The last message, without the program's name.
fn reason(said: &str, status: &std::process::ExitStatus) -> String {
    let last = said.lines().rev().find_map(|line| line.strip_prefix("triptime: "));
    last.map_or_else(|| format!("it ended without a message ({status})"), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::reason;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    #[test]
    fn the_reason_is_what_was_said_last() {
        let status = ExitStatus::from_raw(3 << 8);
        let said = "triptime: judged: cpu 1\ntriptime: no runtime is installed\n";
        assert_eq!(reason(said, &status), "no runtime is installed");
        assert_eq!(
            reason("", &ExitStatus::from_raw(9)),
            "it ended without a message (signal: 9 (SIGKILL))"
        );
    }
}
