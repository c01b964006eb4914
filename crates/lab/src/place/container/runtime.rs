//! The OCI runtime of this machine.

use super::super::PlaceError;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::process::{Command, Stdio};

/// Runtimes that take a bundle, in the order they are tried.
const KNOWN: [&str; 2] = ["runc", "crun"];

/// A runtime that is installed.
#[derive(Debug, Clone)]
pub(super) struct Runtime {
    program: &'static str,
    /// What it says of itself: `runc version 1.1.5`.
    version: String,
}

impl std::fmt::Display for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.version)
    }
}

impl Runtime {
    /// The first that is installed.
    pub(super) fn find() -> Result<Self, PlaceError> {
        let version = |program: &&'static str| {
            let output = Command::new(program)
                .arg("--version")
                .stdin(Stdio::null())
                .output()
                .ok()?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let first = text.lines().next()?.to_owned();
            output.status.success().then_some(Self {
                program,
                version: first,
            })
        };
        KNOWN.iter().find_map(version).ok_or_else(|| {
            PlaceError::NotAvailable(format!(
                "a container takes an OCI runtime, and none is installed: install {}",
                KNOWN.join(" or ")
            ))
        })
    }

    /// Its name.
    pub(super) fn program(&self) -> &'static str {
        self.program
    }

    /// A command of it that keeps what it knows of containers in `state`.
    pub(super) fn command(&self, state: &Path) -> Command {
        let mut command = Command::new(self.program);
        command.arg("--root").arg(state);
        command
    }
}

/// Major and minor number of the device by which idle states are held off, if this machine has it.
pub fn latency_device() -> Option<(u32, u32)> {
    let device = std::fs::metadata("/dev/cpu_dma_latency").ok()?;
    let number = device.rdev();
    device
        .file_type()
        .is_char_device()
        .then(|| (rustix::fs::major(number), rustix::fs::minor(number)))
}
