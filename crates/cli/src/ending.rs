//! Reasons for a run to end early.

use crate::failure::Failure;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How a run is to take the end of the terminal that it was started from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hangup {
    /// As being told to end.
    Ends,
    /// As nothing: it has no terminal.
    Passes,
}

/// Sets `flag` on each signal that asks a run to end: from the keyboard, from a service manager, from a terminal that is gone. One that
/// was ignored when the process started (`nohup`) stays ignored.
///
/// # Errors
/// The kernel refuses a handler.
pub(crate) fn on_signals(flag: &Arc<AtomicBool>) -> Result<(), Failure> {
    on_signals_but(flag, Hangup::Ends)
}

/// The same, of a run that takes a hangup so.
///
/// # Errors
/// The kernel refuses a handler.
pub(crate) fn on_signals_but(flag: &Arc<AtomicBool>, hangup: Hangup) -> Result<(), Failure> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if signal == SIGHUP && (hangup == Hangup::Passes || is_ignored(&status, signal)) {
            continue;
        }
        signal_hook::flag::register(signal, Arc::clone(flag))
            .map_err(|error| Failure::CouldNotMeasure(format!("cannot handle signals: {error}")))?;
    }
    Ok(())
}

/// Has a file that may not grow any more (`ulimit -f`) refuse what is written, as a full disk does: by itself the kernel ends the process.
pub(crate) fn outlive_the_file_size_limit() {
    // A handler, not `SIG_IGN`: programs that are started from here begin as usual. Without one it is as the kernel has it.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// Leaves the session of the terminal, whose end is nothing to this process from now on.
///
/// # Errors
/// The kernel refuses a handler.
pub(crate) fn leave_session() -> Result<(), Failure> {
    // A handler, not `SIG_IGN`: programs that are started from here begin as usual.
    signal_hook::flag::register(SIGHUP, Arc::default())
        .map_err(|error| Failure::CouldNotMeasure(format!("cannot handle signals: {error}")))?;
    // Refused to the leader of a session, which a service manager makes of it: then it is in one of its own already.
    let _ = rustix::process::setsid();
    Ok(())
}

/// True if a signal is ignored, by the mask in the text of /proc/self/status (proc_pid_status(5)).
fn is_ignored(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::is_ignored;
    use signal_hook::consts::{SIGHUP, SIGINT};

    #[test]
    fn the_mask_counts_signals_from_one() {
        let status = "Name:\ttriptime\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000001\n";
        assert!(is_ignored(status, SIGHUP));
        assert!(!is_ignored(status, SIGINT));
        assert!(!is_ignored("", SIGHUP));
    }
}
