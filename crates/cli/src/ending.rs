//! What ends a run early.

use crate::failure::Failure;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Sets `flag` on each signal that asks a run to end: from the keyboard, from a service manager, from a terminal that is gone. One that
/// was ignored when the process started (`nohup`) stays ignored.
///
/// # Errors
/// The kernel refuses a handler.
pub(crate) fn on_signals(flag: &Arc<AtomicBool>) -> Result<(), Failure> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if signal == SIGHUP && is_ignored(&status, signal) {
            continue;
        }
        signal_hook::flag::register(signal, Arc::clone(flag))
            .map_err(|error| Failure::CouldNotMeasure(format!("cannot handle signals: {error}")))?;
    }
    Ok(())
}

/// Whether a signal is ignored, by the mask in the text of /proc/self/status (proc_pid_status(5)).
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
