//! The unit of systemd that starts a sentinel at each boot.

use crate::failure::Failure;
use sentinel::File;
use session::detach::service_text;
use std::path::Path;

/// The text of the unit.
pub(super) fn text(file: &File, path: &Path) -> Result<String, Failure> {
    let absolute = |path: &Path| {
        std::path::absolute(path).map_err(|error| Failure::CouldNotMeasure(format!("{}: {error}", path.display())))
    };
    let program =
        std::env::current_exe().map_err(|error| Failure::CouldNotMeasure(format!("this program: {error}")))?;
    let command = [program, "sentinel".into(), absolute(path)?];
    let command: Vec<String> = command.iter().map(|word| word.display().to_string()).collect();
    Ok(service_text(
        "Made by triptime sentinel --unit.",
        &format!("triptime sentinel {}", file.name),
        &[
            ("Type", "notify"),
            ("NotifyAccess", "main"),
            ("WatchdogSec", "60"),
            // Started again whatever ended it: what passes meanwhile is told as a gap.
            ("Restart", "always"),
            ("RestartSec", "5"),
            // A mistake in the file is not mended by a new start.
            ("RestartPreventExitStatus", "2"),
            ("TimeoutStopSec", "2min"),
            // The program that is told of the end goes on after it.
            ("KillMode", "process"),
            ("OOMScoreAdjust", "-900"),
            ("LimitMEMLOCK", "infinity"),
            ("StandardInput", "null"),
            ("StandardOutput", "journal"),
            ("StandardError", "journal"),
        ],
        &command,
    ))
}
