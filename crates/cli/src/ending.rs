//! Signals that end a run early.

use crate::failure::Failure;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Reaction of a run to the end of the terminal that started it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hangup {
    /// Ends, as on other signals.
    Ends,
    /// Continues: it has no terminal.
    Passes,
}

/// Sets `flag` on each signal that asks a run to end: from the keyboard, a service manager, or a closed terminal. A signal that was ignored
/// when the process started (`nohup`) stays ignored.
///
/// # Errors
/// The kernel refuses a handler.
pub(crate) fn on_signals(flag: &Arc<AtomicBool>) -> Result<(), Failure> {
    on_signals_but(flag, Hangup::Ends)
}

/// Same as [`on_signals`], with this reaction to a hangup.
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

/// Turns a file at its size limit (`ulimit -f`) into a write error, as on a full disk. Without this the kernel ends the process.
pub(crate) fn outlive_the_file_size_limit() {
    // A handler, not `SIG_IGN`: programs started from here begin with the default. If the handler fails, the kernel's default stays.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// Leaves the session of the terminal, so that its end no longer affects this process.
///
/// # Errors
/// The kernel refuses a handler.
pub(crate) fn leave_session() -> Result<(), Failure> {
    // A handler, not `SIG_IGN`: programs started from here begin with the default.
    signal_hook::flag::register(SIGHUP, Arc::default())
        .map_err(|error| Failure::CouldNotMeasure(format!("cannot handle signals: {error}")))?;
    // Fails for the leader of a session: a service manager makes this process one, so it already has its own.
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
