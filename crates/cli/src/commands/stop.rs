//! `triptime stop`: ends a run with an interrupt, and waits for its answer.

use super::qualify::Lasting;
use super::status::{answer, find};
use crate::failure::{Failure, say};
use crate::verdict::write;
use probes::options::positive_duration;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use session::roster::{Found, Process, Roster, Standing, StartKind};
use std::path::Path;
use std::time::{Duration, Instant};
use units::format_ns;

/// Interval of the checks for the end of the run.
const LOOK: Duration = Duration::from_millis(100);

/// Ends a run as Ctrl-C does: everything measured is kept, closed and reported. Waits, and prints the answer
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
The exit status is 0 when the run has ended, whatever its answer.

Example: triptime stop substation")]
pub(crate) struct StopArgs {
    /// The run, by its name in `triptime status`
    name: String,
    /// How long to wait for its end
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = positive_duration)]
    wait: u64,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &StopArgs) -> Result<u8, Failure> {
    let found = find(&args.name)?;
    match found.entry.standing(found.owner) {
        Standing::Ended => say(&format_args!("{}: it has already ended", args.name)),
        Standing::WithoutAWord(why) => say(&format_args!("{}: {why}", args.name)),
        Standing::Unknown(why) => return Err(Failure::CouldNotMeasure(format!("{}: {why}", args.name))),
        Standing::Starting | Standing::Measuring | Standing::Finishing | Standing::Stuck(_) => {
            interrupt(&found)?;
            wait(&found, Duration::from_nanos(args.wait))?;
        }
    }
    if found.entry.way == StartKind::LastingUnit {
        let unit = Lasting::of(&found.entry.name);
        if unit.is_there() {
            unit.remove();
        }
    }
    told(&found)?;
    Ok(0)
}

/// Sends SIGINT to the process that wrote the file, and not to another one that has taken over its number.
fn interrupt(found: &Found) -> Result<(), Failure> {
    let process = &found.entry.process;
    let failed =
        |why: String| Failure::CouldNotMeasure(format!("{}: process {}: {why}", found.entry.name, process.pid));
    let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| failed("no such process".into()))?;
    let held = pidfd_open(pid, PidfdFlags::empty()).map_err(|errno| match errno {
        // Before Linux 5.3 a process number cannot be held, so it may pass to another process.
        Errno::NOSYS => failed(format!(
            "this kernel lacks pidfd_open (Linux 5.3): end it by `kill -INT {pid}`"
        )),
        errno => failed(errno.to_string()),
    })?;
    // Checked again: the held process is certainly the right one now.
    if found.entry.standing(found.owner).is_over() || Process::of(process.pid).as_ref() != Some(process) {
        return Ok(());
    }
    pidfd_send_signal(&held, Signal::INT).map_err(|errno| match errno {
        Errno::PERM => failed("it belongs to another user: only that user and root can end it".into()),
        errno => failed(errno.to_string()),
    })
}

/// Waits until the process is gone.
fn wait(found: &Found, at_most: Duration) -> Result<(), Failure> {
    let process = &found.entry.process;
    let begin = Instant::now();
    while Process::of(process.pid).as_ref() == Some(process) {
        if begin.elapsed() > at_most {
            return Err(Failure::CouldNotMeasure(format!(
                "{}: process {} got the signal to end {} ago and still runs; `kill -9 {}` ends it, and loses at most the open window",
                found.entry.name,
                process.pid,
                format_ns(at_most.as_nanos() as f64),
                process.pid
            )));
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// State of the ended run, and the answer of its file.
fn told(found: &Found) -> Result<(), Failure> {
    let name = &found.entry.name;
    // A run whose end its starter collected is no longer listed.
    let now = found.path.parent().and_then(|folder| Roster::at(folder).find(name));
    let end = now.and_then(|now| now.entry.end);
    let how = end.map_or_else(
        || format!("{name}: ended"),
        |end| {
            let early = if end.complete { "complete" } else { "ended early" };
            format!("{name}: {early}, status {}", end.status)
        },
    );
    let file = Path::new(&found.entry.file);
    let answer = answer(file).unwrap_or_else(|| "nothing was measured that could be reported".to_owned());
    write(&format!("{how}\n{answer}\nfile   {}\n", file.display()))
}
