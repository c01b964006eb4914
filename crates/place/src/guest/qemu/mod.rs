//! QEMU: its command line, its process, its threads, and the same machine as a domain of libvirt.

pub(super) mod domain;
pub(super) mod line;
pub(super) mod machine;
mod tail;
pub(super) mod threads;

use super::super::PlaceError;
use std::path::PathBuf;

/// Names of the program: the second is Red Hat's, which cannot emulate.
const PROGRAMS: [&str; 2] = ["qemu-system-x86_64", "qemu-kvm"];
/// Folders to search in addition to PATH.
const MORE_PATHS: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/usr/libexec"];

/// Path of QEMU.
///
/// # Errors
/// It is not installed.
pub(super) fn program() -> Result<PathBuf, PlaceError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path)
        .chain(MORE_PATHS.map(PathBuf::from))
        .collect();
    let mut files = PROGRAMS
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    files
        .find(|file| file.is_file())
        .ok_or_else(|| PlaceError::NotAvailable(format!("{} is not installed (Debian: qemu-system-x86)", PROGRAMS[0])))
}
